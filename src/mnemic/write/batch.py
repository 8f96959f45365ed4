"""Many writes, batch by batch: while one is settled the next is embedded, and the one after that prepared."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Coroutine, Iterable, Iterator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from mnemic.errors import MnemicError, StoreFailed
from mnemic.policy.grant import Grant, denial
from mnemic.ports import RecordStore, Snapshot, VectorPrefetch
from mnemic.ports.batched_transactions import BatchedFingerprints, BatchedTransactions
from mnemic.types import Candidate, Deadline, Scope, Vector, WriteReceipt
from mnemic.unit_of_work import commit_each
from mnemic.write.commit import blocked_receipt
from mnemic.write.decide import live
from mnemic.write.write_job import Job
from mnemic.write.write_transaction import FirstTry, is_known, settling

# As many texts as the embedder takes at a time; a larger batch would only delay progress and cancelling.
BATCH = 32
MAX_WITHOUT_VECTOR = 8
"""Maximum number of memories of one call that may continue without a vector; a larger batch is a job,
which runs again.
"""

Given = tuple[Candidate, str | None]
"""A candidate and its idempotency key."""
P = TypeVar("P")
B = TypeVar("B")
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineSteps:
    """Steps of a pipeline for one write, or for some at once: the write is begun (checked, redacted, with its
    fingerprint), gets its vector, all of them or none, is tried in one call of the store for all, where the store has
    such a call (else None comes of it), and is finished: settled, unless it is, and published. Each step raises
    MnemicError.
    """

    begin: Callable[[Candidate, str | None], Awaitable[Job]]
    embed: Callable[[Sequence[Job]], Awaitable[None]]
    settle: Callable[[Sequence[Job]], Awaitable[Sequence[FirstTry | None]]]
    finish: Callable[[Job, FirstTry | None], Awaitable[WriteReceipt]]


@dataclass(frozen=True, slots=True)
class Batch:
    """A receipt or None for each write of a batch, and the jobs of those that have none yet, by place."""

    receipts: tuple[WriteReceipt | None, ...]
    jobs: dict[int, Job]

    def block_unembedded(self, error: MnemicError) -> Batch:
        """Return the batch with the jobs that need a vector blocked by `error`."""
        left = {place: job for place, job in self.jobs.items() if job.known}
        ended = {
            place: blocked_receipt(job.draft.candidate, error.reason, job.timer)
            for place, job in self.jobs.items()
            if place not in left
        }
        return Batch(tuple([ended.get(place, receipt) for place, receipt in enumerate(self.receipts)]), left)


def note_siblings(jobs: Collection[Job]) -> None:
    """Give each job the other candidates read from its words: none is an earlier statement that it could replace. A
    value under a key is safe from all the statements of its message.
    """
    found = [(job.draft.candidate, job.draft.fingerprint) for job in jobs if job.draft.candidate.source.span]
    if not any(candidate.key is not None for candidate, _ in found):
        return
    for job in jobs:
        siblings = {fingerprint for other, fingerprint in found if _read_together(job.draft.candidate, other)}
        job.draft = replace(job.draft, read_with=frozenset(siblings))


def _read_together(candidate: Candidate, other: Candidate) -> bool:
    mine, theirs = candidate.source.span, other.source.span
    if mine is None or theirs is None or candidate.source.ref != other.source.ref or candidate.key == other.key:
        return False
    # A value under a key is safe from every statement of its message, other statements only from those that share
    # words with them.
    return other.key is not None or (mine[0] < theirs[1] and theirs[0] < mine[1])


async def find_duplicates(store: RecordStore, jobs: Collection[Job]) -> None:
    """Mark the jobs that need no vector, so that a duplicate costs no embedding. Settling looks again."""

    async def work(snapshot: Snapshot) -> list[bool]:
        if not isinstance(snapshot, BatchedFingerprints):
            return [await is_known(snapshot, job.draft) for job in jobs]
        asked: dict[Scope, list[str]] = {}
        for job in jobs:
            asked.setdefault(job.draft.scope, []).append(job.draft.fingerprint)
        found = {scope: await snapshot.find_fingerprints(scope, wanted) for scope, wanted in asked.items()}
        same = [found[job.draft.scope].get(job.draft.fingerprint) for job in jobs]
        return [one is not None and live(one, job.draft) for job, one in zip(jobs, same, strict=True)]

    for job, known in zip(jobs, await store.read(work), strict=True):
        job.known = known


async def announce_vectors(store: RecordStore, jobs: Iterable[Job]) -> None:
    """Announce the vectors of these jobs to a store with batched similarity."""
    if not isinstance(store, VectorPrefetch):
        return
    asking: dict[tuple[Scope, float], list[Vector]] = {}
    for draft in (job.draft for job in jobs if not job.known):
        if draft.vector is not None and not draft.spec.append_only and draft.review_reason is None:
            asking.setdefault((draft.scope, draft.rules.compared_from), []).append(draft.vector)
    for (scope, at_least), vectors in asking.items():
        # A single vector is compared as quickly when its candidate is settled.
        if len(vectors) > 1:
            with suppress(StoreFailed):  # harmless: missing vectors are read when the candidate is settled
                await store.expect(scope, vectors, at_least=at_least)


async def settled_at_once(
    store: RecordStore, jobs: Sequence[Job], *, deadline: Deadline | None
) -> Sequence[FirstTry | None]:
    """Return the result of each of these jobs from one batched call of the store; None if the store has no such call,
    or time is up.
    """
    if len(jobs) < 2 or not isinstance(store, BatchedTransactions) or (deadline is not None and deadline.expired):
        return [None] * len(jobs)
    scopes = [job.draft.scope for job in jobs]
    return await commit_each(store, list(map(settling, jobs)), deadline=deadline, scopes=scopes)


class Batches:
    """Writes in batches of 32. A failure blocks the writes that depend on it, and no others.

    `grouped`: the writes of a batch are settled concurrently, for a store that commits them together. Candidates
    outside the `grant` are blocked.
    """

    def __init__(self, store: RecordStore, steps: PipelineSteps, *, grouped: bool, grant: Grant | None) -> None:
        self._store, self._steps = store, steps
        self._grouped, self._grant = grouped, grant

    async def write(self, given: Sequence[Given], on_progress: Callable[[int], None] | None) -> list[WriteReceipt]:
        """Return one receipt for each, in order; `on_progress` receives the number of finished ones."""
        begun = (partial(self._prepare_batch, given[first : first + BATCH]) for first in range(0, len(given), BATCH))
        receipts: list[WriteReceipt] = []
        # `aclosing`: an error in `on_progress` must not leave a batch running in the background.
        async with aclosing(run_pipelined(begun, self._embed_batch, self._settle_batch)) as settled:
            async for done in settled:
                receipts += done
                if on_progress is not None:
                    on_progress(len(receipts))
        return receipts

    async def _prepare_batch(self, given: Sequence[Given]) -> Batch:
        begun = [await self._begin_job(candidate, key) for candidate, key in given]
        jobs = {place: one for place, one in enumerate(begun) if isinstance(one, Job)}
        note_siblings(jobs.values())
        batch = Batch(tuple([None if isinstance(one, Job) else one for one in begun]), jobs)
        try:
            if jobs:
                await find_duplicates(self._store, jobs.values())
        except MnemicError as error:
            return batch.block_unembedded(error)
        return batch

    async def _begin_job(self, candidate: Candidate, key: str | None) -> Job | WriteReceipt:
        denied = _denial_receipt(candidate, self._grant)
        if denied is not None:
            return denied
        await asyncio.sleep(0)  # let other tasks run: settled and embedded jobs have answers to give
        try:
            job = await self._steps.begin(candidate, key)
        except MnemicError as error:
            return blocked_receipt(candidate, error.reason)
        return job.blocked or job

    async def _embed_batch(self, batch: Batch) -> Batch:
        try:
            if batch.jobs:
                await self._steps.embed(list(batch.jobs.values()))
        except MnemicError as error:
            return batch.block_unembedded(error)
        return batch

    async def _settle_batch(self, batch: Batch) -> list[WriteReceipt]:
        await announce_vectors(self._store, batch.jobs.values())
        if self._grouped:
            # In one call, or concurrently, so that the store can put them into one commit; receipts are in the order of
            # the jobs.
            tried = await self._steps.settle(list(batch.jobs.values()))
            done = await asyncio.gather(*map(self._finish_job, batch.jobs.values(), tried))
        else:
            done = [await self._finish_job(job) for job in batch.jobs.values()]
        receipts = dict(zip(batch.jobs, done, strict=True))
        return [receipt or receipts[place] for place, receipt in enumerate(batch.receipts)]

    async def _finish_job(self, job: Job, first: FirstTry | None = None) -> WriteReceipt:
        try:
            return await self._steps.finish(job, first)
        except MnemicError as error:
            return blocked_receipt(job.draft.candidate, error.reason, job.timer)


async def run_pipelined(
    batches: Iterator[Callable[[], Coroutine[Any, Any, P]]],
    embed: Callable[[P], Awaitable[B]],
    settle: Callable[[B], Coroutine[Any, Any, T]],
) -> AsyncGenerator[T, None]:
    """Yield the result of `settle` for each batch, in order. While one batch is settled, the next is embedded and the
    one after that prepared, and none beyond it.

    If closed or cancelled early, it waits for the batch that is being settled: that is either finished or has not
    begun.
    """
    preparing = _next(batches)
    settling: asyncio.Task[T] | None = None
    try:
        while preparing is not None:
            prepared = await preparing
            preparing = _next(batches)
            batch = await embed(prepared)
            # Only now: the embedding of this batch ran beside the commit of the one before.
            if settling is not None:
                yield await settling
            settling = asyncio.create_task(settle(batch))
        if settling is not None:
            yield await settling
    finally:
        # A cancelled transaction either commits or rolls back; its end is awaited so that no write follows the return.
        await _end_tasks(preparing, settling)


def _next(batches: Iterator[Callable[[], Coroutine[Any, Any, P]]]) -> asyncio.Task[P] | None:
    prepare = next(batches, None)
    return None if prepare is None else asyncio.create_task(prepare())


async def _end_tasks(*tasks: asyncio.Task[Any] | None) -> None:
    running = [task for task in tasks if task is not None and not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)


def _denial_receipt(candidate: Candidate, grant: Grant | None) -> WriteReceipt | None:
    """Return the receipt of a candidate that the runtime does not allow now."""
    if grant is None:
        return None
    reason = denial(candidate, grant)
    return None if reason is None else blocked_receipt(candidate, reason)
