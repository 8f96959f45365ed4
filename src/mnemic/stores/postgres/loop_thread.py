"""Event loop of the connections, in a separate thread; any loop and any thread may give it work.

The driver's connections belong to the loop that made them, but frameworks call a store from many: a new one for each
synchronous call, or one a thread. So each store starts a loop in a thread. Passing a call to it costs about a tenth of
a millisecond.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Hashable
from typing import Any, TypeVar

from mnemic.runtime.event_loop_thread import OneProcess

T = TypeVar("T")


class LoopThread:
    """Runs from its construction to `stop`. The thread is a daemon: a forgotten `stop` does not block process exit."""

    def __init__(self, name: str) -> None:
        self._process = OneProcess()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return the result of `coroutine`; may be called on any loop, this one included. Cancelling the caller cancels
        it.
        """
        if asyncio.get_running_loop() is self._loop:
            return await coroutine
        if self._process.left:
            coroutine.close()
        self._process.check()
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    def call(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Return the result of `coroutine`, for a thread that waits."""
        if self._process.left:
            coroutine.close()
        self._process.check()
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result()

    def stop(self) -> None:
        """End the loop and its thread; cancel running tasks. Does nothing in a forked process."""
        if self._process.left:
            return
        self.call(_cancel_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Tasks:
    """Background tasks of one loop. A task with a key is not started again before it has ended."""

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[None]] = {}

    def start(self, coroutine: Coroutine[Any, Any, None], *, key: Hashable | None = None) -> None:
        """Start it, unless a task with this key is running."""
        if key is not None and key in self._running:
            coroutine.close()
            return
        task = asyncio.create_task(coroutine)
        name = task if key is None else key
        self._running[name] = task
        task.add_done_callback(lambda _: self._running.pop(name, None))

    async def wait_until_done(self) -> None:
        """Return once nothing is running."""
        while self._running:
            await asyncio.gather(*self._running.values(), return_exceptions=True)

    async def stop(self) -> None:
        """Cancel running tasks, and wait for their end."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _cancel_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
