"""Threads for blocking work: one writer and a few readers, none of them on the event loop."""

from __future__ import annotations

import asyncio
import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

import apsw

from mnemic.errors import CommitUnknown, StoreBusy, StoreUnavailable
from mnemic.types import Deadline, Memory, VectorSpace
from mnemic_sqlite.database_file import BUSY_SECONDS, BusyHandler
from mnemic_sqlite.failures import immediate, typed_failures
from mnemic_sqlite.rows import WrittenRow

if TYPE_CHECKING:
    from mnemic.ports import Transaction
    from mnemic_sqlite.batch_answers import Answers, OneOfSeveral

T = TypeVar("T")


async def finished(job: Future[T]) -> T:
    """Return the job's result. A job that is cancelled before it starts never runs; one that is cancelled later is
    waited for.

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
    # A second cancellation must not abandon a transaction that is running: its caller would retry while it commits.
    while not waiting.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([waiting])
    waiting.exception()


class Readers:
    """A few threads that read, each on one of as many connections. They start with the first call.

    `ThreadPoolExecutor` answers with a separate future, which asyncio then copies into one of the loop: two locks, two
    futures and four callbacks for a read that itself takes a tenth of a millisecond. Here a call carries the loop's
    future.
    """

    def __init__(self, connect: Callable[[], apsw.Connection], *, threads: int) -> None:
        # Last in, first out: the connection used last has the warmest page cache.
        self._connections = [connect() for _ in range(threads)]
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()
        self._closed = False

    async def run(self, work: Callable[[apsw.Connection], T]) -> T:
        """Return the result of `work` on a connection inside a read transaction: all it reads is of one moment. If
        cancelled before it starts, it never runs; if later, it is waited for. Raises StoreUnavailable once closed.
        """
        loop = asyncio.get_running_loop()
        call = _Call([work], loop, loop.create_future())
        with self._lock:  # or a call could wait behind the end of the threads
            if self._closed:
                raise StoreUnavailable("closed")
            if not self._threads:
                self._start()
            self._calls.put(call)
        try:
            result: T = await call.answer
        except asyncio.CancelledError:
            if not call.withdrawn():
                await call.ended()
            raise
        return result

    def _start(self) -> None:
        for number in range(len(self._connections)):
            # Daemons: a process ends although a store was never closed. They have no reference to this object.
            given, name = (self._calls, self._connections), f"mnemic-read_{number}"
            self._threads.append(threading.Thread(target=_serve, args=given, name=name, daemon=True))
            self._threads[-1].start()
        weakref.finalize(self, self._calls.put, None).atexit = False

    def close(self) -> None:
        """Wait for the running work, then close every connection."""
        with self._lock:
            self._closed = True
        self._calls.put(None)
        for thread in self._threads:
            thread.join()
        while self._connections:
            self._connections.pop().close()


def _serve(calls: queue.SimpleQueue[_Call | None], connections: list[apsw.Connection]) -> None:
    while (call := calls.get()) is not None:
        call.run(connections)
        del call  # or its result lives on until the next one
    calls.put(None)  # for the next thread


@dataclass(slots=True)
class _Call:
    """One call of `work`, taken out of its list by the thread or a cancellation, whichever is first. `answer` is a
    future of `loop`.
    """

    work: list[Callable[[apsw.Connection], Any]]
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[Any]
    over: bool = False
    waiting: asyncio.Future[None] | None = None

    def withdrawn(self) -> bool:
        """Return True if it has not begun, and now never will."""
        try:
            self.work.pop()
        except IndexError:
            return False
        return True

    def run(self, connections: list[apsw.Connection]) -> None:
        """Run the work on this thread, and have the loop be informed."""
        try:
            work = self.work.pop()
        except IndexError:
            return
        connection = connections.pop()
        try:
            with typed_failures(connection):
                # As `reading`, which would be a generator more for each call.
                connection.execute("BEGIN")
                try:
                    settle, outcome = self.answer.set_result, work(connection)
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
        except BaseException as error:  # noqa: BLE001  (the caller gets it)
            settle, outcome = self.answer.set_exception, error
        connections.append(connection)
        # A loop that is closed has nobody left who waits.
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.settle, settle, outcome)

    async def ended(self) -> None:
        """Wait until the work is over, however often this is cancelled."""
        while not self.over:
            self.waiting = self.loop.create_future()
            # A second cancellation must not abandon work that is running: its connection is in use.
            with suppress(asyncio.CancelledError):
                await self.waiting

    def settle(self, settle: Callable[[Any], None], outcome: Any) -> None:
        """Give the outcome to the waiting caller, on the loop."""
        if not self.answer.done():
            settle(outcome)
        self.over = True
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(None)


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


MOST = 64
MAX_LOCK_SECONDS = 0.2
"""Longest time for which a group accepts further jobs: other processes wait for the same lock."""

Work: TypeAlias = "Callable[[Transaction], Awaitable[Any]]"
Changed = dict[tuple[str, str], Memory | None]
"""Memories by tenant and memory_id; None if the row was removed."""


@dataclass(slots=True)
class GroupState:
    """State left by the earlier members of a group: `changed` memories; sequence and hash of the last line of the
    audit, by tenant; the rows `written`; and the vector space, None until it is read.
    """

    changed: Changed = field(default_factory=dict)
    lines: dict[str, tuple[int, str]] = field(default_factory=dict)
    written: list[WrittenRow] = field(default_factory=list)
    space: VectorSpace | None = None


class WritableFile(Protocol):
    """Parts of the open file that a group needs."""

    @property
    def writing(self) -> apsw.Connection:
        """The connection that writes."""

    @property
    def busy(self) -> BusyHandler:
        """Time that the writing connection waits for the file's lock."""

    def alone(self, work: Work) -> Any:
        """Run `work` in a separate transaction."""

    def member(self, work: Work, fresh: GroupState) -> tuple[Any, bool]:
        """Run `work` inside the open transaction and record its changes in `fresh`; return its result, and True if it
        removed data.
        """

    def follow(self, written: Sequence[WrittenRow]) -> None:
        """Bring the search indexes up to date with committed rows."""

    def scrub(self, *, removed: bool) -> None:
        """Erase the traces of removed data after a commit."""


@dataclass(slots=True, eq=False)
class _Job:
    work: Work
    deadline: Deadline | None
    future: Future[Any] | OneOfSeveral
    result: Any = None
    error: BaseException | None = None

    def seconds_left(self) -> float:
        """Seconds it may wait for the lock. Raises StoreBusy if there are none left."""
        seconds = BUSY_SECONDS if self.deadline is None else self.deadline.remaining()
        if seconds <= 0:
            raise StoreBusy
        return seconds

    def answer(self) -> None:
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class GroupCommit:
    """Queue of transactions for the thread of `writer`, first in, first out."""

    def __init__(self, owner: WritableFile, writer: ThreadPoolExecutor) -> None:
        self._owner = owner
        self._writer = writer
        self._waiting: deque[_Job] = deque()

    def submit(self, work: Work, deadline: Deadline | None) -> Future[Any]:
        """Return the result of `work`, once it is committed. If cancelled before it starts, it never runs. Raises
        StoreUnavailable if the thread has ended, as it does with the process.
        """
        future: Future[Any] = Future()
        self._waiting.append(_Job(work, deadline, future))
        # One run per job, although a run may execute many: the later ones find an empty queue and return at once.
        try:
            self._writer.submit(self._run)
        except RuntimeError:
            raise StoreUnavailable("closed") from None
        return future

    def submit_all(self, works: Sequence[Work], deadline: Deadline | None) -> Answers:
        """Return the answers to several jobs, each a separate transaction, in one hop to the thread and back."""
        from mnemic_sqlite.batch_answers import Answers, OneOfSeveral

        several = Answers(len(works))
        self._waiting.extend([_Job(work, deadline, OneOfSeveral(several, n)) for n, work in enumerate(works)])
        try:
            self._writer.submit(self._run_all)
        except RuntimeError:
            raise StoreUnavailable("closed") from None
        return several

    def _run_all(self) -> None:
        """Run group after group until no job waits: several jobs have one run."""
        while self._waiting:
            self._run()

    def _run(self) -> None:
        """Run the first waiting job together with those queued after it; it may have been taken by an earlier group
        already.
        """
        first = self._next()
        if first is None:
            return
        # Nobody else waits, so a savepoint would only add cost.
        if not self._waiting:
            self._alone(first)
            return
        group: list[_Job] = []
        try:
            with typed_failures():
                self._owner.busy.wait(first.seconds_left())
                # Group commit: one lock, one sync for all members, which is most of what a small write costs.
                removed = self._together(first, group)
        except BaseException as error:  # noqa: BLE001  (the caller gets it)
            if group:
                self._apart(group, error)
            else:
                first.future.set_exception(error)
            return
        for job in group:
            job.answer()
        # After the answers: emptying the log must not delay callers whose commit is done.
        self._owner.scrub(removed=removed)

    def _next(self) -> _Job | None:
        while self._waiting:
            job = self._waiting.popleft()
            if job.future.set_running_or_notify_cancel():
                return job
        return None

    def _together(self, first: _Job, group: list[_Job]) -> bool:
        """Run the first job and the waiting ones until the group is full; return True if any of them removed data."""
        fresh = GroupState()
        removed = False
        until = time.monotonic() + MAX_LOCK_SECONDS
        with immediate(self._owner.writing):
            job: _Job | None = first
            while job is not None:
                group.append(job)
                removed |= self._member(job, fresh)
                full = len(group) >= MOST or time.monotonic() > until
                job = None if full else self._next()
        self._owner.follow(fresh.written)
        return removed

    def _member(self, job: _Job, fresh: GroupState) -> bool:
        connection = self._owner.writing
        # A member that fails is undone alone; the others commit.
        connection.execute("SAVEPOINT member")
        removed = False
        try:
            job.seconds_left()
            job.result, removed = self._owner.member(job.work, fresh)
        except apsw.Error:
            raise
        except Exception as error:  # noqa: BLE001  (the same)
            job.error = error
            connection.execute("ROLLBACK TO member")
        connection.execute("RELEASE member")
        return removed

    def _apart(self, group: list[_Job], error: BaseException) -> None:
        """Roll back the shared transaction. A commit in doubt is reported to all; otherwise each job runs alone."""
        for job in group:
            job.result = job.error = None
            # Running them again could write twice: whether the commit reached the disk is not known.
            if isinstance(error, CommitUnknown):
                job.error = CommitUnknown(hint=error.hint)
                job.answer()
            else:
                self._alone(job)

    def _alone(self, job: _Job) -> None:
        try:
            with typed_failures(self._owner.writing):
                self._owner.busy.wait(job.seconds_left())
                job.result = self._owner.alone(job.work)
        except BaseException as error:  # noqa: BLE001  (the caller gets it)
            job.error = error
        job.answer()
