"""Effects of a draft on memories that are near it, have its key, or have the same meaning."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.ports import Reads
from mnemic.reason_codes import ALREADY_SUPERSEDED, CONTRADICTION, NEAR_DUPLICATE, WHICH_OF_SEVERAL
from mnemic.types import Memory, Outcome, Status
from mnemic.write.contradictions import by_key, contradicted, history, pending
from mnemic.write.draft import Decision, Draft, StepTimer
from mnemic.write.merge import SimilarMemory, merge, refresh
from mnemic.write.split_statement import with_rests
from mnemic.write.supersede import Changed, also, changed, named, overtaken, own, superseding, which_of_several
from mnemic.write.write_transaction import Found, live, nearest, peers_of

MAX_LINEAGE = 64
"""Maximum number of originals that one memory may represent. A statement beyond that is stored separately, so that
merging cannot snowball.
"""


async def decide(
    tx: Reads, draft: Draft, near_by: Found | None, memory_ids: tuple[str, str], timer: StepTimer
) -> Decision:
    """Return the decision about a draft that has neighbours or a rule of its key. `near_by` are its neighbours, if
    known.
    """
    return await with_rests(tx, draft, await _decided(tx, draft, near_by, memory_ids, timer))


async def _decided(
    tx: Reads, draft: Draft, near_by: Found | None, memory_ids: tuple[str, str], timer: StepTimer
) -> Decision:
    memory_id = memory_ids[0]
    peers = await peers_of(tx, draft)
    # Rules of the key and the kind come before any comparison of words: an operator's rule must not depend on a
    # similarity.
    decision = await _by_rules(tx, draft, peers, memory_id)
    if decision is not None and decision.outcome is Outcome.SUPERSEDED:
        around = await _around(tx, draft, near_by)
        decision = also(decision, draft, [*await _named(tx, draft, around), *changed(draft, around, {})])
    if decision is not None:
        timer.note("conflict", decision.reason or str(decision.outcome))
        timer.note("merge", "skipped")
        return decision
    around = await _around(tx, draft, near_by)
    near = _near(draft, around, peers)
    named = await _named(tx, draft, around)
    decision, found = _compared(draft, around, near, named, memory_id)
    timer.note("conflict", found)
    # Only a draft that contradicts nothing may be merged: opposites are near-duplicates by their vectors.
    if decision is None and found == "none":
        decision = await _merged(tx, draft, near, memory_ids)
        timer.note("merge", str(decision.outcome) if decision else "none")
    else:
        timer.note("merge", "skipped")
    return decision or Decision(outcome=Outcome.CREATED, memory=draft.memory(memory_id))


def _compared(
    draft: Draft, around: Sequence[SimilarMemory], near: Sequence[SimilarMemory], named: Changed, memory_id: str
) -> tuple[Decision | None, str]:
    """Decide which memories the draft contradicts or replaces, with a note for the receipt. Statements that words show
    to be opposites are never merged; one whose frame shows another subject is stored separately.
    """
    # Opposites first: by their vectors they look like near-duplicates (all-MiniLM-L6-v2: a third above 0.92).
    opposed = contradicted(draft, near)
    # Another person's statement is never replaced; the contradiction goes to review.
    foreign = [(memory, how) for memory, how in opposed if not own(memory, draft)]
    if foreign:
        reason = f"{CONTRADICTION}:{foreign[0][1]}"
        return pending(draft, [memory for memory, _ in foreign], memory_id, reason), reason
    everything = around if draft.candidate.key is None else _with_peers(around, near)
    found = changed(draft, everything, {memory.memory_id: how for memory, how in opposed})
    # A model or judge that names superseded memories has read all of them.
    if found and not named and (several := which_of_several(draft, found, everything)):
        return pending(draft, several, memory_id, WHICH_OF_SEVERAL), WHICH_OF_SEVERAL
    known = {memory.memory_id for memory, _ in named}
    found = [*named, *(one for one in found if one[0].memory_id not in known)]
    if found:
        decision = superseding(draft, found, memory_id)
        return decision, decision.reason or str(decision.outcome)
    later = overtaken(draft, around)
    if later:
        return history(draft, later, memory_id), ALREADY_SUPERSEDED
    return None, "kept_apart" if opposed else "none"


async def _named(tx: Reads, draft: Draft, around: Sequence[SimilarMemory]) -> Changed:
    """Return the memories that the candidate claims to replace, if they are live, the same person's, not later than the
    candidate, and about the same thing.
    """
    cosines = {one.memory.memory_id: one.cosine for one in around}
    found = [await tx.get(memory_id, scopes=[draft.scope]) for memory_id in draft.candidate.replaces]
    active = [
        memory for memory in found if memory is not None and memory.status is Status.ACTIVE and live(memory, draft)
    ]
    return named(draft, [SimilarMemory(memory, cosines.get(memory.memory_id, 0.0)) for memory in active])


async def _by_rules(tx: Reads, draft: Draft, peers: Sequence[Memory], memory_id: str) -> Decision | None:
    """Decide by kind, origin and key, before any text is compared."""
    if draft.review_reason is not None:
        return pending(draft, peers if _single(draft) else (), memory_id, draft.review_reason)
    if draft.spec.append_only:
        return Decision(outcome=Outcome.CREATED, memory=draft.memory(memory_id))
    decision = by_key(draft, peers, memory_id)
    if decision is not None and decision.reason == ALREADY_SUPERSEDED:
        again = await _in_lineage(tx, draft, peers)
        # An old value heard again must not reopen it: the memory that replaced it is refreshed.
        return refresh(again, draft, reason=ALREADY_SUPERSEDED) if again else decision
    return decision


async def _merged(
    tx: Reads, draft: Draft, near: Sequence[SimilarMemory], memory_ids: tuple[str, str]
) -> Decision | None:
    decision = merge(draft, near, *memory_ids)
    if decision is None or decision.outcome is not Outcome.MERGED:
        return decision
    # Heard again, a statement that was merged before is not merged a second time.
    again = await _in_lineage(tx, draft, [one.memory for one in near])
    if again is not None:
        return refresh(again, draft, reason=NEAR_DUPLICATE)
    # The lineage grows with every merge, and so would the memory's text.
    merged = sum([len(await _lineage(tx, draft, memory)) for memory in decision.replaced])
    return decision if merged < MAX_LINEAGE else None


async def _in_lineage(tx: Reads, draft: Draft, memories: Sequence[Memory]) -> Memory | None:
    """Return the memory of `memories` that superseded one with the draft's fingerprint."""
    for memory in memories:
        if any(older.fingerprint == draft.fingerprint for older in await _lineage(tx, draft, memory)):
            return memory
    return None


async def _lineage(tx: Reads, draft: Draft, memory: Memory) -> list[Memory]:
    """Return the memories that `memory` superseded, and those that these had superseded, the nearest first, up to
    `MAX_LINEAGE`.
    """
    found: list[Memory] = []
    waiting = list(memory.supersedes)
    # Breadth first: a duplicate is most likely among the nearest originals.
    while waiting and len(found) < MAX_LINEAGE:
        older = await tx.get(waiting.pop(0), scopes=[draft.scope])
        if older is not None:
            found.append(older)
            waiting += older.supersedes
    return found


async def _around(tx: Reads, draft: Draft, near_by: Found | None) -> list[SimilarMemory]:
    """Live memories of the draft's kind that are near it by cosine, under any key."""
    found = await nearest(tx, draft) if near_by is None else near_by
    return [tuple.__new__(SimilarMemory, pair) for pair in found]  # as the class itself, in a third of the time


def _near(draft: Draft, around: Sequence[SimilarMemory], peers: Sequence[Memory]) -> list[SimilarMemory]:
    """Those of the draft's key, which may contradict it or be merged with it; under a key all of that key."""
    key = draft.candidate.key
    # A value under the same key counts however different its wording is.
    return _with_peers([one for one in around if one.memory.key == key], [SimilarMemory(one, 0.0) for one in peers])


def _with_peers(around: Sequence[SimilarMemory], peers: Sequence[SimilarMemory]) -> list[SimilarMemory]:
    """Those around a draft and after them its peers that are not among them."""
    seen = {one.memory.memory_id for one in around} if peers else ()
    return [*around, *(one for one in peers if one.memory.memory_id not in seen)]


def _single(draft: Draft) -> bool:
    key = draft.candidate.key
    return key is not None and draft.policy.rule(key).on_change != "accumulate"
