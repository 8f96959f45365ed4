"""A derived copy (projection) for tests, and the ways it can misbehave."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from mnemic.types import Change


class Copy:
    """Contents that a cache would have, in the order of their arrival."""

    def __init__(self, name: str = "hot") -> None:
        self.name = name
        self.down = False
        self.refused: set[str] = set()
        self.gate: asyncio.Event | None = None
        self.held: dict[str, str] = {}
        self._tenants: dict[str, str] = {}
        self.heard: list[tuple[str, int]] = []
        self.calls = 0
        self.called = asyncio.Event()
        self.closed = False

    async def apply(self, changes: Sequence[Change]) -> None:
        """Apply the changes. Raise ConnectionError if it is down or refuses one of the memories."""
        self.calls += 1
        self.called.set()
        if self.gate is not None:
            await self.gate.wait()
        if self.down or any(change.entry.memory_id in self.refused for change in changes):
            raise ConnectionError("secret text of the driver")
        for change in changes:
            self._tenants[change.entry.memory_id] = change.entry.scope.tenant
            self.heard.append((change.entry.memory_id, change.entry.version))
            self.held.pop(change.entry.memory_id, None)
            if change.shown is not None:
                self.held[change.entry.memory_id] = change.shown.content

    async def clear(self, tenant: str) -> None:
        """Remove the contents of the tenant."""
        self.held = {name: said for name, said in self.held.items() if self._tenants.get(name, tenant) != tenant}

    async def close(self) -> None:
        """Record that it was closed."""
        self.closed = True
