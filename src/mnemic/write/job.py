"""One write on its way through the pipeline, and what a store is asked about some of them at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass

from mnemic.errors import StoreFailed
from mnemic.ports import Expecting, RecordStore, Snapshot
from mnemic.types import Scope, Vector, WriteReceipt
from mnemic.write.commit import Request, blocked_receipt
from mnemic.write.draft import Draft, Laps
from mnemic.write.gate import Gate
from mnemic.write.lookup import is_known


@dataclass(slots=True)
class Job:
    """One write on its way."""

    draft: Draft
    request: Request | None
    laps: Laps
    gate: Gate | None = None
    known: bool = False

    @property
    def blocked(self) -> WriteReceipt | None:
        """The receipt of a write that policy ended before anything was stored."""
        if self.draft.blocked is None:
            return None
        return blocked_receipt(self.draft.candidate, self.draft.blocked, self.laps)


async def look(store: RecordStore, jobs: Collection[Job]) -> None:
    """Mark the jobs that need no vector, so that a duplicate costs no embedding. Settling looks again."""

    async def work(moment: Snapshot) -> list[bool]:
        return [await is_known(moment, job.draft) for job in jobs]

    # One question needs no moment of its own.
    answers = await (work(store) if len(jobs) == 1 else store.read(work))
    for job, known in zip(jobs, answers, strict=True):
        job.known = known


async def announce(store: RecordStore, jobs: Iterable[Job]) -> None:
    """Tell a store that can make use of it which vectors these jobs will ask it about."""
    if not isinstance(store, Expecting):
        return
    asking: dict[tuple[Scope, float], list[Vector]] = {}
    for draft in (job.draft for job in jobs if not job.known):
        if draft.vector is not None and not draft.spec.append_only and draft.review_reason is None:
            asking.setdefault((draft.scope, draft.rules.compared_from), []).append(draft.vector)
    for (scope, at_least), vectors in asking.items():
        if len(vectors) > 1:
            with suppress(StoreFailed):  # nothing is lost by it; what the store lacks, settling says
                await store.expect(scope, vectors, at_least=at_least)
