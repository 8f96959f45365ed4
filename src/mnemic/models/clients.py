"""One client of a vendor for each event loop, opened at the first call and closed with its owner."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OpenModel(Generic[T]):
    """A model, and the function that closes its connections."""

    model: T
    close: Callable[[], Awaitable[object]]


class ClientPerLoop(Generic[T]):
    """One client per event loop, created by `make`: connections belong to a loop, and synchronous frameworks start a
    new loop for every turn.
    """

    def __init__(self, make: Callable[[], OpenModel[T]]) -> None:
        self._make = make
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, OpenModel[T]] = WeakKeyDictionary()
        self.closed = False

    async def get(self) -> T:
        """Return the model of this loop. Raises the errors of `make`."""
        loop = asyncio.get_running_loop()
        if loop not in self._opened:
            # The imports take a second: in a thread, so that the event loop continues.
            self._opened[loop] = await asyncio.to_thread(self._make)
        return self._opened[loop].model

    async def close(self) -> None:
        """Close this loop's client and drop the others. May be called twice."""
        self.closed = True
        opened = self._opened.pop(asyncio.get_running_loop(), None)
        self._opened.clear()
        if opened is not None:
            await opened.close()
