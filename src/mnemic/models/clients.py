"""One client for each event loop, opened at the first call and closed with its loop or its owner."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from mnemic.runtime.event_loop_thread import OneProcess, run_on

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OpenModel(Generic[T]):
    """A model, and the function that closes its connections."""

    model: T
    close: Callable[[], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class _OnLoop(Generic[T]):
    """The model of one loop. `until`: it is suspended until the loop or the owner closes it."""

    model: T
    until: AsyncGenerator[None, None]

    async def close(self) -> None:
        await self.until.aclose()


class ClientPerLoop(Generic[T]):
    """One client per event loop, created by `make`: connections belong to a loop, and synchronous frameworks start a
    new loop for every turn.
    """

    def __init__(self, make: Callable[[], OpenModel[T]]) -> None:
        self._make = make
        self._opened: WeakKeyDictionary[asyncio.AbstractEventLoop, _OnLoop[T]] = WeakKeyDictionary()
        self._process = OneProcess()
        self.closed = False

    async def get(self) -> T:
        """Return the model of this loop. Raises the errors of `make`."""
        loop = asyncio.get_running_loop()
        if loop not in self._opened:
            # The imports take a second: in a thread, so that the event loop continues.
            made = await asyncio.to_thread(self._make)
            if loop in self._opened:  # another call was faster
                await made.close()
            else:
                until = self._until_closed(loop, made)
                await anext(until)
                self._opened[loop] = _OnLoop(made.model, until)
        return self._opened[loop].model

    async def close(self) -> None:
        """Close the clients of all loops that run; those of loops that have ended are closed. May be called twice."""
        self.closed = True
        for loop, opened in [] if self._process.left else list(self._opened.items()):
            await run_on(loop, opened.close)
        self._opened.clear()

    async def _until_closed(self, loop: asyncio.AbstractEventLoop, made: OpenModel[T]) -> AsyncGenerator[None, None]:
        """Close the client when this generator is closed: `asyncio.run` closes those of its loop before it ends the
        loop, and connections cannot be closed after that.
        """
        try:
            yield
        finally:
            self._opened.pop(loop, None)
            await made.close()
