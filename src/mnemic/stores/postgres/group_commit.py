"""Group commit: writes to one scope that would wait for each other share a transaction, its locks and its commit."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from mnemic.errors import CommitUnknown, StoreBusy, StoreUnavailable, VersionConflict
from mnemic.ports import Transaction
from mnemic.stores.postgres.connections import Connections, Session, as_mnemic_error
from mnemic.stores.postgres.loop_thread import LoopThread, Tasks
from mnemic.stores.postgres.rows import LruMapping
from mnemic.stores.postgres.transaction import GroupState, Look, PostgresTransaction
from mnemic.stores.store_verbs import Driven, drive
from mnemic.types import Deadline, Scope

T = TypeVar("T")

Work: TypeAlias = "Callable[[Transaction], Awaitable[Any]]"

MOST = 64
"""Maximum members of a group: it is undone as a whole, so a failure costs all of them a second run."""
MAX_MARKS = 10_000
"""Maximum scopes for which the mark is remembered that their writes share."""
MAX_LOCK_SECONDS = 0.5
"""Longest time for which a group accepts further writes; writers of that scope in other processes wait."""


@dataclass(slots=True, eq=False)
class _Job:
    work: Work
    deadline: Deadline | None
    future: asyncio.Future[Any]
    result: Any = None
    error: Exception | None = None

    def answer(self) -> None:
        """Give the caller its result, unless it was cancelled meanwhile."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class GroupCommit:
    """Queues of writes by scope, first in, first out, on the loop of `thread`.

    A write that is alone in its scope runs in a separate transaction. Writes that arrive meanwhile would wait for its
    lock; they run together, one after the other in one transaction. No savepoint separates them: if one
    fails after a change, all are undone and each runs in a separate one.
    """

    def __init__(
        self,
        connections: Connections,
        thread: LoopThread,
        transaction: Callable[[Session, GroupState], PostgresTransaction],
    ) -> None:
        self._connections, self._thread = connections, thread
        self._transaction = transaction
        self._waiting: dict[Scope, deque[_Job]] = {}
        self._running = Tasks()
        self._asked_marks: LruMapping[Scope, str] = LruMapping(MAX_MARKS)

    async def run(self, work: Callable[[Transaction], Awaitable[T]], deadline: Deadline | None, scope: Scope) -> T:
        """Return the result of `work`, which first touches `scope`, once it is committed. May be called on any loop."""
        return await self._thread.run(self._submit(work, deadline, scope))

    async def run_each(
        self, works: Sequence[Callable[[Transaction], Awaitable[T]]], deadline: Deadline | None, scopes: Sequence[Scope]
    ) -> list[T | BaseException]:
        """Return the result or the error of each of `works`, which first touches its one of `scopes`. May be called on
        any loop.
        """
        return await self._thread.run(self._submit_each(works, deadline, scopes))

    async def run_alone(self, work: Callable[[Transaction], Awaitable[T]], deadline: Deadline | None) -> T:
        """Return the result of `work`, once it is committed in a separate transaction."""

        async def whole(session: Session) -> T:
            transaction = self._transaction(session, GroupState(asked_marks=self._asked_marks))
            try:
                result = await drive(work, transaction)
                await drive(lambda _: transaction.finish(), None)
                return result
            finally:
                transaction.end()

        return await self._connections.write(whole, deadline)

    async def stop(self) -> None:
        """Cancel running groups. Called on the loop of `thread`."""
        await self._running.stop()

    async def _submit(self, work: Callable[[Transaction], Awaitable[T]], deadline: Deadline | None, scope: Scope) -> T:
        # No lock: all of this runs on one loop, so no write can join between this check and the entry of the scope.
        if scope in self._waiting:
            job = _Job(work, deadline, asyncio.get_running_loop().create_future())
            self._waiting[scope].append(job)
            result: T = await job.future
            return result
        self._waiting[scope] = deque()
        try:
            return await self.run_alone(work, deadline)
        finally:
            if self._waiting[scope]:
                self._running.start(self._drain_scope(scope))
            else:
                del self._waiting[scope]

    async def _submit_each(
        self, works: Sequence[Callable[[Transaction], Awaitable[T]]], deadline: Deadline | None, scopes: Sequence[Scope]
    ) -> list[T | BaseException]:
        loop = asyncio.get_running_loop()
        jobs = [_Job(work, deadline, loop.create_future()) for work in works]
        for job, scope in zip(jobs, scopes, strict=True):
            if scope not in self._waiting:
                self._waiting[scope] = deque()
                self._running.start(self._drain_scope(scope))
            self._waiting[scope].append(job)
        ended: list[T | BaseException] = await asyncio.gather(*(job.future for job in jobs), return_exceptions=True)
        return ended

    async def _drain_scope(self, scope: Scope) -> None:
        """Run the writes that wait for `scope`, until there are none."""
        queue = self._waiting[scope]
        try:
            while (first := _next(queue)) is not None:
                if queue:
                    await self._together(first, queue)
                else:
                    await self._separately(first)
        finally:
            del self._waiting[scope]
            # Callers are left only if the store was closed; they would otherwise wait forever.
            for job in queue:
                job.error = StoreUnavailable("closed")
                job.answer()

    async def _separately(self, job: _Job) -> None:
        job.result = job.error = None
        try:
            job.result = await self.run_alone(job.work, job.deadline)
        except Exception as error:  # noqa: BLE001 - the caller gets it
            job.error = error
        job.answer()

    async def _together(self, first: _Job, queue: deque[_Job]) -> None:
        group = [first]

        async def whole(session: Session) -> None:
            common = GroupState(grouped=True, asked_marks=self._asked_marks)
            until = time.monotonic() + MAX_LOCK_SECONDS
            for jobs in _waves(group, queue, until):
                left = await self._wave(jobs, until, session, common)
                if left:
                    del group[-len(left) :]
                    queue.extendleft(reversed(left))
            await drive(lambda _: self._transaction(session, common).finish(), None)

        try:
            await self._connections.write(whole)
        # To try each alone now would wait for the same server again, or, with the outcome unknown, write twice.
        except (StoreBusy, StoreUnavailable, CommitUnknown) as error:
            for job in group:
                # One copy for each caller: a shared exception would collect the tracebacks of all of them.
                job.error = copy(error)
        except Exception:  # noqa: BLE001 - nothing is stored, and its cause meets it again alone
            for job in group:
                await self._separately(job)
            return
        for job in group:
            job.answer()

    async def _wave(self, jobs: Sequence[_Job], until: float, session: Session, common: GroupState) -> Sequence[_Job]:
        """Run members one after the other, and return those for which there was no time. What each looks for first is
        looked for at once.
        """
        transactions = [self._transaction(session, common) for _ in jobs]
        members = [Driven(job.work, transaction) for job, transaction in zip(jobs, transactions, strict=True)]
        try:
            looks = [first for member in members if isinstance(first := member.begin(), Look)]
            if len(looks) > 1:
                scope = looks[0].scope
                wanted = [look.fingerprint for look in looks if look.scope == scope]
                await drive(lambda transaction: transaction.look(scope, wanted), transactions[0])
            for place, (job, transaction, member) in enumerate(zip(jobs, transactions, members, strict=True)):
                if place and time.monotonic() >= until:
                    return jobs[place:]
                await self._member(job, transaction, member, session, common)
            return ()
        finally:
            for transaction, member in zip(transactions, members, strict=True):
                member.close()
                transaction.end()

    async def _member(
        self, job: _Job, transaction: PostgresTransaction, member: Driven[Any], session: Session, common: GroupState
    ) -> None:
        """Run one member. Raises its error if the others cannot continue without it."""
        job.result = job.error = None
        if job.deadline is not None and job.deadline.remaining() <= 0:
            job.error = StoreBusy()
            return
        try:
            job.result = await member.finish()
        except Exception as error:
            job.error = error
            # Without a savepoint the changes of one member cannot be undone alone, and a failed statement aborts the
            # transaction for all. A member that has changed nothing fails alone.
            if transaction.wrote or session.failure is not None or common.spoiled:
                raise
        else:
            transaction.pass_on()
        if session.failure is not None:
            raise as_mnemic_error(session.failure)
        if common.spoiled:
            raise VersionConflict


def _next(queue: deque[_Job]) -> _Job | None:
    while queue:
        job = queue.popleft()
        if not job.future.done():
            return job
    return None


def _waves(group: list[_Job], queue: deque[_Job], until: float) -> Iterator[list[_Job]]:
    """Yield the members so far, of an attempt that begins again, with those that wait, and then those that have come
    meanwhile, until the group is full or the time is up.
    """
    wave = list(group)
    while True:
        while len(group) < MOST and (job := _next(queue)) is not None:
            group.append(job)
            wave.append(job)
        if not wave:
            return
        yield wave
        if time.monotonic() >= until:
            return
        wave = []
