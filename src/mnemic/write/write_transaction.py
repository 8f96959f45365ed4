"""Second phase of a write: from a finished draft to a receipt, in one transaction that may run again from the start.

Most statements have no match: no duplicate, no value under their key, no neighbour. This module finds that out; for the
others `mnemic.write.decision`, loaded on first use, decides the outcome.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mnemic.types import Memory, Outcome, Status
from mnemic.types.identity import new_id
from mnemic.unit_of_work import Unit
from mnemic.write.commit import CommitResult, IdempotentRequest, commit, passed, replayed
from mnemic.write.draft import Decision, Draft, StepTimer

if TYPE_CHECKING:
    from mnemic.ports import Reads, Snapshot
    from mnemic.write.write_job import Job

Found = Sequence[tuple[Memory, float]]
"""Memories, each with its cosine."""
LEAST = -1.0
"""The lowest possible cosine: a bare correction shares no word with the memory it corrects."""
MAX_CORRECTION_WORDS = 6
"""Maximum length, in words, of a statement that only corrects another."""
Settled = tuple[CommitResult | None, StepTimer]
"""Result of a settled job (None if its vector is missing or of another space) and the times of its steps."""
FirstTry = Settled | BaseException
"""Result of a job, or the error that the store raised instead."""
MAX_WIDENING = 8
"""Factor by which more neighbours are requested if those of other kinds fill the list."""


async def is_known(snapshot: Snapshot, draft: Draft) -> bool:
    """Return True if an identical live memory is there already, so that the write will need no vector."""
    same = await snapshot.find_fingerprint(draft.scope, draft.fingerprint)
    return same is not None and live(same, draft)


async def decide_and_commit(
    unit: Unit, draft: Draft, request: IdempotentRequest | None, timer: StepTimer, memory_ids: tuple[str, str]
) -> CommitResult | None:
    """Decide and write; None, with nothing written, if the draft was not made for the store's present space.

    The order is that of safety: answered before, identical, key, contradiction, near-duplicate. Opposites are looked
    for before near-duplicates, because most of them look like near-duplicates. Raises IdempotencyConflict.
    """
    tx = unit.reads
    # First of all: a retry must get its receipt even if the state has changed since.
    receipt = await replayed(tx, draft, request) if request is not None else None
    if receipt is not None:
        return CommitResult(receipt, "replayed")
    same = await tx.find_fingerprint(draft.scope, draft.fingerprint)
    if same is not None and live(same, draft):
        from mnemic.write.merge import refresh

        return await commit(unit, draft, refresh(same, draft), request)
    # The store was switched to another embedding model meanwhile; the caller embeds again and retries.
    if draft.space != await tx.space():
        return None
    decision = await _decided(tx, draft, memory_ids, timer)
    if same is not None:
        # It has expired and no job has removed it yet: it ends here, and the statement starts a new one.
        ended = same.next_version(draft.now, status=Status.EXPIRED)
        decision = replace(decision, replaced=(ended, *decision.replaced))
    return await commit(unit, draft, decision, request)


async def _decided(tx: Reads, draft: Draft, memory_ids: tuple[str, str], timer: StepTimer) -> Decision:
    """Return the decision: a new memory if no stored memory is related to the draft, else that of the comparison."""
    # The usual case, without loading the modules that compare statements.
    plain = draft.review_reason is None and not draft.spec.append_only and not draft.candidate.replaces
    # Keys first: looking one up costs far less than comparing vectors.
    alone = plain and (draft.candidate.key is None or not await peers_of(tx, draft))
    found = await nearest(tx, draft) if alone else None
    if found is not None and not found:
        timer.note("conflict", "none")
        timer.note("merge", "none")
        return Decision(outcome=Outcome.CREATED, memory=draft.memory(memory_ids[0]))
    from mnemic.write.contradictions import deduplicated
    from mnemic.write.decision import decide

    return await deduplicated(tx, draft, await decide(tx, draft, found, memory_ids, timer))


async def peers_of(tx: Reads, draft: Draft) -> list[Memory]:
    """Return the other live memories of the same kind under the draft's key."""
    key = draft.candidate.key
    found = await tx.find_key(draft.scope, key) if key is not None else []
    return [memory for memory in found if memory.kind is draft.candidate.kind and live(memory, draft)]


async def nearest(tx: Reads, draft: Draft) -> Found:
    """Return the live memories of the draft's kind that are near it by cosine, under any key, each with its cosine."""
    # Without a vector there are no neighbours; `missing_vectors` compares it once the embedder answers.
    if draft.vector is None:
        return []
    limit = wanted = draft.rules.neighbours
    short = draft.candidate.key is None and len(draft.candidate.content.split()) <= MAX_CORRECTION_WORDS
    # "Sorry, I meant Zeiss" shares no word with the statement it corrects, so no cosine may exclude it.
    at_least = LEAST if short and is_bare_correction(draft.candidate.content) else draft.rules.compared_from
    while True:
        if draft.space is not None and draft.space.scale:
            from mnemic.write.calibrated_neighbours import nearest_scaled

            found = await nearest_scaled(tx, draft, draft.vector, draft.space, limit)
        else:
            found = await tx.nearest(draft.scope, draft.vector, limit=limit, at_least=at_least)
        # Kind and expiry are filtered here: a store finds neighbours by vector alone.
        same = [pair for pair in found if pair[0].kind is draft.candidate.kind and live(pair[0], draft)]
        # Recorded messages are as near as the facts captured from them: they must not take the places of memories.
        if len(same) >= wanted or len(found) < limit or limit >= wanted * MAX_WIDENING:
            return same[:wanted]
        limit *= 2


def is_bare_correction(text: str) -> bool:
    """Return True for a short statement that only corrects the one before it: "Sorry, I meant Zeiss"."""
    from mnemic_language.frames.frame_expressions import AMENDS
    from mnemic_language.text.normalise import bare

    return AMENDS.match(bare(text)) is not None


def live(memory: Memory, draft: Draft) -> bool:
    """Return True if `memory` is within its time at the moment of the draft."""
    return memory.expires_at is None or memory.expires_at > draft.now


def settling(job: Job) -> Callable[[Unit], Awaitable[Settled]]:
    """Return the work of a transaction that settles the job, which may run again from the start."""
    now = job.draft.now
    # Chosen before the transaction, so that a run from the start reuses them; a merge needs the second one.
    memory_ids = new_id(now), new_id(now)

    async def work(unit: Unit) -> Settled:
        # The transaction may run again: each try notes its steps on a copy.
        timer = job.timer.fork()
        settled = await decide_and_commit(unit, job.draft, job.request, timer, memory_ids)
        return await passed(job.gate, unit, job.draft, settled), timer

    return work
