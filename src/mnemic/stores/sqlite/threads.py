"""Where the blocking work is done: one thread that writes, a few that read, none of them the event loop's."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import apsw

T = TypeVar("T")


async def finished(job: Future[T]) -> T:
    """The job's result. Cancelled before the job has begun, it never runs; cancelled later, it is waited for.

    So a cancelled call leaves either nothing or a whole transaction, never one that is still running.
    """
    try:
        return await asyncio.wrap_future(job)
    except asyncio.CancelledError:
        if not job.cancel():
            await _ended(job)
        raise


async def _ended(job: Future[Any]) -> None:
    """Wait for a job that cannot be stopped any more, however often this is cancelled."""
    waiting = asyncio.wrap_future(job)
    while not waiting.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([waiting])
    waiting.exception()


class Readers:
    """A few reading connections, each used by one thread at a time."""

    def __init__(self, connect: Callable[[], apsw.Connection], *, threads: int) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="mnemic-read")
        self._connections: queue.LifoQueue[apsw.Connection] = queue.LifoQueue()
        for _ in range(threads):
            self._connections.put(connect())

    async def run(self, work: Callable[[apsw.Connection], T]) -> T:
        """The result of `work` on a connection inside a read transaction: all it reads is of one moment."""
        return await finished(self._threads.submit(self._with_connection, work))

    def _with_connection(self, work: Callable[[apsw.Connection], T]) -> T:
        connection = self._connections.get()
        try:
            with reading(connection):
                return work(connection)
        finally:
            self._connections.put(connection)

    def close(self) -> None:
        """Wait for what runs, then close every connection."""
        self._threads.shutdown(wait=True)
        while not self._connections.empty():
            self._connections.get().close()


@contextmanager
def reading(connection: apsw.Connection) -> Iterator[None]:
    """One moment of the file, whatever others write meanwhile."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
