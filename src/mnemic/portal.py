"""One event loop in a thread of its own, through which synchronous callers reach asynchronous code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeVar

from anyio.from_thread import BlockingPortal, start_blocking_portal

P = ParamSpec("P")
T = TypeVar("T")


class Portal:
    """Calls coroutine functions on its loop and waits for them. Threads may share one portal."""

    def __init__(self) -> None:
        self._closed = False
        self._stack = ExitStack()
        self._portal: BlockingPortal = self._stack.enter_context(start_blocking_portal("asyncio"))

    def call(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function(*args, **kwargs)` to its end on the loop; its result, or its exception."""

        async def run() -> T:
            return await function(*args, **kwargs)

        return self._portal.call(run)

    def iterate(self, source: AsyncIterator[T]) -> Iterator[T]:
        """The items of an asynchronous iterator, one at a time."""
        end: Any = object()

        async def following() -> T:
            return await anext(source, end)

        while (item := self._portal.call(following)) is not end:
            yield item

    @property
    def closed(self) -> bool:
        """True once `close` was called."""
        return self._closed

    def close(self) -> None:
        """Stop the loop and its thread. May be called twice."""
        self._closed = True
        self._stack.close()


class PortalOwner(ABC):
    """Something asynchronous with a portal of its own for synchronous callers. Use it in `with`, or call `close`."""

    _portal: Portal

    @abstractmethod
    async def _release(self) -> None:
        """Let go of what is held beside the portal; called on its loop, once."""

    def close(self) -> None:
        """Release what is held, the background thread with it. May be called twice."""
        if not self._portal.closed:
            self._portal.call(self._release)
            self._portal.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
