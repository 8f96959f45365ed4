"""One event loop in a separate thread, through which synchronous callers reach asynchronous code. After a fork, which
copies neither threads nor locks, a call is refused: waiting for them would block forever.
"""

from __future__ import annotations

import asyncio
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import partial
from threading import Lock, Thread, get_ident
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

from mnemic.errors import StoreUnavailable

_LOOKED_AT_AGAIN = 1.0
"""Seconds after which a loop that was asked for something is looked at again: one that ends answers nothing."""


class OneProcess:
    """The process in which something was opened."""

    def __init__(self) -> None:
        self._process = os.getpid()

    @property
    def left(self) -> bool:
        """True in a process that was forked off since."""
        return os.getpid() != self._process

    def check(self) -> None:
        """Raise StoreUnavailable (`store_unavailable:forked`) in a process that was forked off since."""
        if os.getpid() != self._process:
            raise StoreUnavailable(
                "forked", hint="it was opened before the process forked: open a new one in the child"
            )


P = ParamSpec("P")
T = TypeVar("T")
OwnerT = TypeVar("OwnerT", bound="PortalOwner")


class Portal:
    """Calls coroutine functions on its loop and waits for them. Threads may share one portal.

    A call runs in the context (`contextvars`) of its caller. Interrupting a waiting caller cancels its call.
    """

    def __init__(self) -> None:
        self._closed = False
        self._process = OneProcess()
        self._lock = Lock()
        ready: Future[None] = Future()
        # A daemon: a program that forgets to close its portal must still be able to exit.
        self._thread = Thread(target=self._serve, args=(ready,), name="mnemic-portal", daemon=True)
        self._thread.start()
        ready.result()

    def call(self, function: Callable[P, Awaitable[T]], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function(*args, **kwargs)` to its end on the loop; its result, or its exception.

        Raises StoreUnavailable (`store_unavailable:forked`) in a process that was forked off after the portal was made,
        for its thread stayed with the parent. Raises RuntimeError on a closed portal, and on the portal's own loop,
        which cannot wait for itself; `concurrent.futures.CancelledError` if the call was cancelled.
        """
        self._process.check()
        # Waiting here would block the loop that has to produce the answer.
        if get_ident() == self._thread.ident:
            raise RuntimeError("a portal cannot be called from its own loop")
        answer: Future[T] = Future()
        try:
            with self._lock:
                if self._closed:
                    raise RuntimeError("closed: this memory, or its portal, was closed before the call")
                self._loop.call_soon_threadsafe(self._begin, partial(function, *args, **kwargs), answer)
            return answer.result()
        finally:
            # Reached with an interrupt as well (Ctrl-C): cancelling the answer cancels the task on the loop.
            answer.cancel()
            del answer  # break the cycle: an exception references this frame, and the answer the exception

    def iterate(self, source: AsyncIterator[T]) -> Iterator[T]:
        """Yield the items of an asynchronous iterator, one at a time."""
        # A new object as the end: the iterator may yield None, and StopIteration cannot cross a coroutine.
        end: Any = object()

        async def following() -> T:
            return await anext(source, end)

        while (item := self.call(following)) is not end:
            yield item

    @property
    def forked(self) -> bool:
        """True in a process that was forked off after the portal was made."""
        return self._process.left

    @property
    def closed(self) -> bool:
        """True once `close` was called."""
        return self._closed

    def close(self) -> None:
        """Wait for calls in progress, stop loop and thread. Idempotent; does nothing in a forked process."""
        if self.forked:
            self._closed = True
            return
        with self._lock:
            if not self._closed:
                self._closed = True
                self._loop.call_soon_threadsafe(self._stop.set)
        if get_ident() != self._thread.ident:  # a finalizer may run on the loop
            self._thread.join()

    def _serve(self, ready: Future[None]) -> None:
        try:
            asyncio.run(self._until_stopped(ready))
        except BaseException as error:
            # Before `ready` the maker of the portal waits and gets the error; after it nobody does.
            if ready.done():
                raise
            ready.set_exception(error)

    async def _until_stopped(self, ready: Future[None]) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        # The group ends when all calls have: `close` therefore waits for those in progress.
        async with asyncio.TaskGroup() as self._calls:
            ready.set_result(None)
            await self._stop.wait()

    def _begin(self, run: Callable[[], Awaitable[T]], answer: Future[T]) -> None:
        task = self._calls.create_task(_set_answer(run, answer))

        def withdrawn(one: Future[T]) -> None:
            if one.cancelled() and not task.done():
                self._loop.call_soon_threadsafe(task.cancel)

        answer.add_done_callback(withdrawn)


async def _set_answer(run: Callable[[], Awaitable[T]], answer: Future[T]) -> None:
    """Set the result or exception of `run` as the answer; nothing of it reaches the other calls."""
    with suppress(InvalidStateError):  # withdrawn meanwhile
        try:
            answer.set_result(await run())
        except asyncio.CancelledError:
            answer.cancel()
        except BaseException as error:  # noqa: BLE001 - it belongs to the caller, which waits on another thread
            answer.set_exception(error)


async def run_on(loop: asyncio.AbstractEventLoop, function: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run `function()` to its end on `loop`, which may be another thread's; return if that loop has ended or ends."""
    if loop is asyncio.get_running_loop():
        await function()
    elif loop.is_running():
        done = asyncio.wrap_future(asyncio.run_coroutine_threadsafe(function(), loop))
        while loop.is_running() and not done.done():
            await asyncio.wait([done], timeout=_LOOKED_AT_AGAIN)
        if done.done():
            done.result()


class PortalOwner(ABC):
    """An asynchronous object with a portal for synchronous callers. Use it in `with`, or call `close`."""

    _portal: Portal

    @abstractmethod
    async def _release(self) -> None:
        """Release the resources tied to the portal; called once, on its loop."""

    def close(self) -> None:
        """Release all resources, including the background thread. May be called twice."""
        if not self._portal.closed and not self._portal.forked:
            self._portal.call(self._release)
        self._portal.close()

    def __enter__(self: OwnerT) -> OwnerT:  # jedi, which completes in IPython and vim, does not read `Self`
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
