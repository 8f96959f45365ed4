"""The thread of a reranker: one piece of work at a time, each checked against the deadline of the search."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from mnemic.errors import RerankerFailed
from mnemic.types import Deadline

T = TypeVar("T")

LONGEST_WAIT = 3.0
"""Seconds that a search without a deadline waits, the same as for a server."""


class OneThread:
    """Runs the work of a model in a separate thread, at most `wait` seconds for a call. Raises RerankerFailed:
    `:timeout` past the deadline, `:unavailable` once it is closed.
    """

    def __init__(self, wait: float | None = None) -> None:
        self._wait = LONGEST_WAIT if wait is None else wait
        self._closed = False
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="mnemic-rerank")

    def until(self, deadline: Deadline | None) -> float:
        """Return the time of the loop by which a call that begins now has to end."""
        if self._process != os.getpid():  # a forked child has no worker thread: waiting for it would never end
            self._start()
        left = self._wait if deadline is None else min(self._wait, deadline.remaining())
        return asyncio.get_running_loop().time() + left

    async def run(self, work: Callable[[], T], until: float) -> T:
        """Return the result of `work`. A run that has begun cannot be stopped, so it should be short."""
        seconds = until - asyncio.get_running_loop().time()
        if seconds <= 0:
            raise RerankerFailed("timeout")
        if self._closed:
            raise RerankerFailed("unavailable")
        try:
            future = self._worker.submit(work)
        except RuntimeError:  # the interpreter is shutting down
            raise RerankerFailed("unavailable") from None
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
        except TimeoutError:
            raise RerankerFailed("timeout") from None
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and not task.cancelling():
                raise RerankerFailed("unavailable") from None  # `close` cancelled the work, nobody the caller
            raise

    def close(self) -> None:
        """Accept no more work. May be called twice."""
        self._closed = True
        self._worker.shutdown(wait=False, cancel_futures=True)
