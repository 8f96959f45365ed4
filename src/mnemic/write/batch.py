"""Many writes, batch by batch: while one is settled the next is embedded, and the one after that prepared."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from mnemic.errors import StoreFailed
from mnemic.ports import RecordStore, Snapshot, VectorPrefetch
from mnemic.ports.record_store import BatchedFingerprints
from mnemic.types import Candidate, Scope, Vector
from mnemic.write.decide import is_known, live
from mnemic.write.draft import Draft

# As many texts as the embedder takes at a time; a larger batch would only delay progress and cancelling.
BATCH = 32
MAX_WITHOUT_VECTOR = 8
"""Maximum number of memories of one call that may continue without a vector; a larger batch is a job,
which runs again.
"""

P = TypeVar("P")
B = TypeVar("B")
T = TypeVar("T")


def note_siblings(drafts: Sequence[Draft]) -> None:
    """Give each draft the other candidates read from its words: none is an earlier statement that it could replace. A
    value under a key is safe from all the statements of its message.
    """
    found = [draft for draft in drafts if draft.candidate.source.span]
    if any(draft.candidate.key is not None for draft in found):
        for draft in drafts:
            read = [one.fingerprint for one in found if _read_together(draft.candidate, one.candidate)]
            draft.read_with = frozenset(read)


def _read_together(candidate: Candidate, other: Candidate) -> bool:
    mine, theirs = candidate.source.span, other.source.span
    if mine is None or theirs is None or candidate.source.ref != other.source.ref or candidate.key == other.key:
        return False
    # A value under a key is safe from every statement of its message, other statements only from those that share
    # words with them.
    return other.key is not None or (mine[0] < theirs[1] and theirs[0] < mine[1])


async def find_duplicates(store: RecordStore, drafts: Sequence[Draft]) -> None:
    """Mark the drafts that need no vector, so that a duplicate costs no embedding. Settling looks again."""

    async def work(snapshot: Snapshot) -> list[bool]:
        if not isinstance(snapshot, BatchedFingerprints):
            return [await is_known(snapshot, draft) for draft in drafts]
        asked: dict[Scope, list[str]] = {}
        for draft in drafts:
            asked.setdefault(draft.scope, []).append(draft.fingerprint)
        found = {scope: await snapshot.find_fingerprints(scope, wanted) for scope, wanted in asked.items()}
        same = [found[draft.scope].get(draft.fingerprint) for draft in drafts]
        return [one is not None and live(one, draft) for draft, one in zip(drafts, same, strict=True)]

    for draft, known in zip(drafts, await store.read(work), strict=True):
        draft.known = known


async def announce_vectors(store: RecordStore, drafts: Iterable[Draft]) -> None:
    """Announce the vectors of these drafts to a store with batched similarity."""
    if not isinstance(store, VectorPrefetch):
        return
    asking: dict[tuple[Scope, float], list[Vector]] = {}
    for draft in drafts:
        if not draft.known and draft.vector and not draft.spec.append_only and draft.review_reason is None:
            asking.setdefault((draft.scope, draft.rules.compared_from), []).append(draft.vector)
    for (scope, at_least), vectors in asking.items():
        # A single vector is compared as quickly when its candidate is settled.
        if len(vectors) > 1:
            with suppress(StoreFailed):  # harmless: missing vectors are read when the candidate is settled
                await store.expect(scope, vectors, at_least=at_least)


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
