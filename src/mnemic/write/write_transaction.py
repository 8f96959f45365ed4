"""Second phase of a write: from a finished draft to a receipt, in one transaction that may run again from the start."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.types import Status
from mnemic.types.identity import new_id
from mnemic.unit_of_work import Unit
from mnemic.write.commit import CommitResult, IdempotentRequest, commit, find_answered, pass_gate
from mnemic.write.decide import decide, live, refresh
from mnemic.write.draft import Draft, StepTimer

if TYPE_CHECKING:
    from mnemic.ports import Snapshot
    from mnemic.write.write_job import Job

Settled = tuple[CommitResult | None, StepTimer]
"""Result of a settled job (None if its vector is missing or of another space) and the times of its steps."""
FirstTry = Settled | BaseException
"""Result of a job, or the error that the store raised instead."""


async def is_known(snapshot: Snapshot, draft: Draft) -> bool:
    """Return True if an identical live memory is there already, so that the write will need no vector."""
    same = await snapshot.find_fingerprint(draft.scope, draft.fingerprint)
    return same is not None and live(same, draft)


async def decide_and_commit(
    unit: Unit, draft: Draft, request: IdempotentRequest | None, timer: StepTimer, memory_id: str
) -> CommitResult | None:
    """Decide and write; None, with nothing written, if the draft was not made for the store's present space.

    The order is that of safety: answered before, identical, then the decision. Raises IdempotencyConflict.
    """
    tx = unit.reads
    # First of all: a retry must get its receipt even if the state has changed since.
    receipt = await find_answered(tx, draft, request) if request is not None else None
    if receipt is not None:
        return CommitResult(receipt, "replayed")
    same = await tx.find_fingerprint(draft.scope, draft.fingerprint)
    if same is not None and live(same, draft):
        return await commit(unit, draft, refresh(same, draft), request)
    # The store was switched to another embedding model meanwhile; the caller embeds again and retries.
    if draft.space != await tx.space():
        return None
    decision = await decide(tx, draft, memory_id, timer)
    if same is not None:
        # It has expired and no job has removed it yet: it ends here, and the statement starts a new one.
        ended = same.next_version(draft.now, status=Status.EXPIRED)
        decision = replace(decision, replaced=(ended, *decision.replaced))
    return await commit(unit, draft, decision, request)


def settling(job: Job) -> Callable[[Unit], Awaitable[Settled]]:
    """Return the work of a transaction that settles the job, which may run again from the start."""
    now = job.draft.now
    # Chosen before the transaction, so that a run from the start reuses it.
    memory_id = new_id(now)

    async def work(unit: Unit) -> Settled:
        # The transaction may run again: each try notes its steps on a copy.
        timer = job.timer.fork()
        settled = await decide_and_commit(unit, job.draft, job.request, timer, memory_id)
        return await pass_gate(job.gate, unit, job.draft, settled), timer

    return work
