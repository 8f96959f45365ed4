"""A backend that is loaded, and opened if it can be, on its first call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any


class AtFirstUse:
    """Any port with coroutines as its only methods, created by `make` on the first call of one of them."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._made: Any = None
        self._open = False

    async def open(self) -> None:
        """Open the port, now or once it is created."""
        self._open = True
        if self._made is not None:
            await self._made.open()

    async def close(self) -> None:
        """Release the port, if it was created."""
        self._open = False
        if self._made is not None:
            await self._made.close()

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        # Private names are asked for by copy and pickle, and must not create the backend.
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
