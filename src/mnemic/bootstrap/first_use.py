"""A backend that is loaded, and opened where it opens, with its first verb."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any


class AtFirstUse:
    """Any port all of whose methods are coroutines: `make` is asked for it when the first of them is called."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None
        self._open = False

    async def open(self) -> None:
        """Open what is made, now or when it is."""
        self._open = True
        if self._made is not None:
            await self._made.open()

    async def close(self) -> None:
        """Release what was made."""
        self._open = False
        if self._made is not None:
            await self._made.close()

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("_"):
            raise AttributeError(name)

        async def verb(*given: Any, **named: Any) -> Any:
            return await getattr(await self._ready(), name)(*given, **named)

        return verb

    async def _ready(self) -> Any:
        if self._made is None:
            made = self._make()
            if self._open:
                await made.open()
            first = self._made or made  # another call may have been faster
            if first is not made:
                await made.close()
            self._made = first
        return self._made
