"""Threads for blocking work: one writer and a few readers, none of them on the event loop."""

from __future__ import annotations

import asyncio
import queue
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import apsw

from mnemic.errors import StoreUnavailable
from mnemic.stores.sqlite.database_file import typed_error


class Answers:
    """Answers to `count` jobs, by their places: the result of each, or its error. A future for each of them would take
    two locks, two futures and a turn of the loop a job.
    """

    def __init__(self, count: int) -> None:
        self._whole: Future[list[Any]] = Future()
        self._whole.set_running_or_notify_cancel()  # it cannot be cancelled as one: some of it may have started
        self._found: list[Any] = [None] * count
        if not count:
            self._whole.set_result([])
        self._left = count
        self._stopped = False
        self._lock = threading.Lock()

    async def all(self) -> list[Any]:
        """Return all answers. If cancelled, jobs that have not started never run, and one that has is waited for."""
        waiting = asyncio.wrap_future(self._whole)
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            with self._lock:
                self._stopped = True
            # A second cancellation must not abandon a transaction that is running: its caller would retry while it
            # commits.
            while not waiting.done():
                with suppress(asyncio.CancelledError):
                    await asyncio.wait([waiting])
            raise

    def begin(self, place: int) -> bool:
        """Return False for a job that must not start any more; that is its answer then."""
        with self._lock:
            begins = not self._stopped
        if not begins:
            self.note(place, asyncio.CancelledError())
        return begins

    def note(self, place: int, answer: Any) -> None:
        """Store the result or the error of a job. Called by the writing thread alone."""
        self._found[place] = answer
        self._left -= 1
        if not self._left:
            self._whole.set_result(self._found)


class OneOfSeveral:
    """Answer to one of several jobs, with as much of a `Reply` as the thread that runs it needs."""

    __slots__ = ("_place", "_several")

    def __init__(self, several: Answers, place: int) -> None:
        self._several, self._place = several, place

    def begin(self) -> bool:
        """Return False if the job must not start any more."""
        return self._several.begin(self._place)

    def set_result(self, result: Any) -> None:
        """Answer with the result of the job."""
        self._several.note(self._place, result)

    def set_exception(self, error: BaseException | None) -> None:
        """Answer with the error of the job."""
        self._several.note(self._place, error)


T = TypeVar("T")


class Reply:
    """Answer of a thread to one call, as a future of the loop that waits for it.

    An executor answers with a separate future, which asyncio then copies into one of the loop: two locks, two futures
    and four callbacks for a read that itself takes a tenth of a millisecond.
    """

    __slots__ = ("_answer", "_loop", "_over", "_unbegun", "_waiting")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._answer: asyncio.Future[Any] = self._loop.create_future()
        # Taken by the thread or by a cancellation, whichever is first.
        self._unbegun = [True]
        self._over = False
        self._waiting: asyncio.Future[None] | None = None

    def begin(self) -> bool:
        """Return True to the first caller; the call must not start for any other."""
        with suppress(IndexError):
            return self._unbegun.pop()
        return False

    def set_result(self, result: Any) -> None:
        """Answer with the result of the call, on the thread that ran it."""
        # A loop that is closed has nobody left who waits.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._settle, self._answer.set_result, result)

    def set_exception(self, error: BaseException) -> None:
        """Answer with the error of the call, on the thread that ran it."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._settle, self._answer.set_exception, error)

    async def result(self) -> Any:
        """Return the result. A call that is cancelled before it starts never runs; one that is cancelled later is
        waited for.

        So a cancelled call leaves either nothing or a whole transaction, never one that is still running.
        """
        try:
            return await self._answer
        except asyncio.CancelledError:
            while not (self._over or self.begin()):
                self._waiting = self._loop.create_future()
                # A second cancellation must not abandon a transaction that is running: its caller would retry while it
                # commits.
                with suppress(asyncio.CancelledError):
                    await self._waiting
            raise

    def _settle(self, settle: Callable[[Any], None], outcome: Any) -> None:
        if not self._answer.done():
            settle(outcome)
        self._over = True
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


class Threads:
    """Threads that run jobs in turn. They start with the first, and finish what they have before the process ends."""

    def __init__(self, name: str, count: int = 1) -> None:
        self._name, self._count = name, count
        self._jobs: queue.SimpleQueue[Callable[[], object] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._end: Callable[[], object] = self._ended.set

    def submit(self, job: Callable[[], object]) -> None:
        """Run `job`, whose errors reach nobody. Raises StoreUnavailable once closed."""
        with self._lock:  # or a job could wait behind the end of the threads
            if self._ended.is_set():
                raise StoreUnavailable("closed")
            if self._end == self._ended.set:
                self._end = self._start()
            self._jobs.put(job)

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of `work`. Cancelled as `Reply.result`. Raises StoreUnavailable once closed."""
        reply = Reply()

        def job() -> None:
            if reply.begin():
                try:
                    reply.set_result(work())
                except BaseException as error:  # noqa: BLE001  (the caller gets it)
                    reply.set_exception(error)

        self.submit(job)
        result: T = await reply.result()
        return result

    def _start(self) -> Callable[[], object]:
        # Daemons, whose end is seen to here. They have no reference to this object.
        given: dict[str, Any] = {"target": _serve, "args": (self._jobs,), "daemon": True}
        threads = [threading.Thread(name=f"{self._name}_{number}", **given) for number in range(self._count)]
        for thread in threads:
            thread.start()
        return weakref.finalize(self, _end, threads, self._jobs, self._lock, self._ended)

    def close(self) -> None:
        """Wait until all jobs are done."""
        self._end()


def _serve(jobs: queue.SimpleQueue[Callable[[], object] | None]) -> None:
    while (job := jobs.get()) is not None:
        with suppress(BaseException):  # the next job must find the thread
            job()
        del job  # or its result lives on until another job comes
    jobs.put(None)  # for the next thread


def _end(threads: Sequence[threading.Thread], jobs: Any, lock: threading.Lock, ended: threading.Event) -> None:
    with lock:
        ended.set()
        jobs.put(None)
    for thread in threads:
        if thread is not threading.current_thread():  # the last reference to the owner may go with a job
            thread.join()


class Readers:
    """A few threads that read, each on one of as many connections."""

    def __init__(self, connect: Callable[[], apsw.Connection], *, threads: int) -> None:
        # Last in, first out: the connection used last has the warmest page cache.
        self._connections = [connect() for _ in range(threads)]
        self._threads = Threads("mnemic-read", threads)

    async def run(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return the result of `work` on a connection inside a read transaction: all it reads is of one moment.
        Cancelled as `Reply.result`. Raises StoreUnavailable once closed.
        """
        reply = Reply()
        self._threads.submit(partial(_read, reply, work, self._connections))
        result: T = await reply.result()
        return result

    def close(self) -> None:
        """Wait for the running work, then close every connection."""
        self._threads.close()
        while self._connections:
            self._connections.pop().close()


def _read(reply: Reply, work: Callable[[apsw.Connection], Any], connections: list[apsw.Connection]) -> None:
    if not reply.begin():
        return
    connection = connections.pop()
    settle: Callable[[Any], None] = reply.set_result
    try:
        # As `reading`, which would be a generator more for each call.
        connection.execute("BEGIN")
        try:
            outcome = work(connection)
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
    except BaseException as error:  # noqa: BLE001  (the caller gets it)
        settle, outcome = reply.set_exception, typed_error(error, connection)
    connections.append(connection)
    settle(outcome)


@contextmanager
def reading(connection: apsw.Connection) -> Iterator[None]:
    """Open a snapshot of the file, unaffected by concurrent writes."""
    # Deferred: the snapshot begins with the first statement that reads.
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
