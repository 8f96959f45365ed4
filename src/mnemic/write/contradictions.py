"""Step 6, decided before step 5: contradictions are never merged.

Under one key the policy's rule decides. Without a key, memories are nominated by cosine and compared by their words.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from mnemic.ports import Reads
from mnemic.reason_codes import ALREADY_SUPERSEDED, ALREADY_WAITING, KEY_NEEDS_REVIEW
from mnemic.types import Memory, Outcome, Status
from mnemic.write.draft import Decision, Draft, starts_at
from mnemic.write.merge import SimilarMemory, closed, stated
from mnemic.write.thresholds import WriteRules
from mnemic_language.compare.word_comparison import Statement, denies, negates, opposition


def by_key(draft: Draft, known: Sequence[Memory], memory_id: str) -> Decision | None:
    """Apply the rule of the draft's key to the other values `known`; return None if values accumulate or there are
    none.

    `supersede`: the old values end when the new one begins. A value that arrives late, from before the known one,
    becomes history at once and changes nothing that is true now. Lower trust never replaces higher trust: it waits
    (`lower_trust`). `review`: any change waits (`key_needs_review`).
    """
    candidate = draft.candidate
    if candidate.key is None or not known:
        return None
    rule = draft.policy.rule(candidate.key)
    if rule.on_change == "accumulate":
        return None
    if rule.on_change == "review":
        return pending(draft, known, memory_id, KEY_NEEDS_REVIEW)
    # Review instead of refusal: the untrusted statement may be right, but a person decides.
    if any(memory.trust > draft.trust for memory in known):
        return pending(draft, known, memory_id, "lower_trust")
    moment = valid_moment(draft)
    # An import may bring an old value after a new one; it must not become the current one.
    later = [memory for memory in known if moment is not None and starts_at(memory) > moment]
    if later:
        return history(draft, later, memory_id)
    ended = tuple(closed(memory, draft.now, draft.starts_at) for memory in known)
    ids = tuple(memory.memory_id for memory in known)
    new = draft.memory(memory_id, supersedes=ids, conflicts_with=ids)
    return Decision(outcome=Outcome.SUPERSEDED, memory=new, replaced=ended)


def valid_moment(draft: Draft) -> datetime | None:
    """Return the time from which the candidate is true. Only a time that it names can precede the known value: the
    clock may have been set back. A state that began some day and has no end counts from the day on which it is stated.
    """
    candidate = draft.candidate
    if candidate.valid_to is None and candidate.occurred_at is not None:
        return candidate.occurred_at
    return candidate.valid_from or candidate.occurred_at


def history(draft: Draft, later: Sequence[Memory], memory_id: str) -> Decision:
    """Return the draft as true until the `later` memories, of which the first ends it."""
    first = min(later, key=starts_at)
    ended_at: datetime = starts_at(first)
    if draft.candidate.valid_to is not None:
        ended_at = min(ended_at, draft.candidate.valid_to)
    past = draft.memory(memory_id, status=Status.SUPERSEDED, valid_to=ended_at)
    # The later memory names it, so that its history shows the older value as well.
    linked = first.next_version(draft.now, supersedes=(*first.supersedes, memory_id))
    return Decision(outcome=Outcome.CREATED, memory=past, reason=ALREADY_SUPERSEDED, replaced=(linked,))


def contradicted(draft: Draft, near: Sequence[SimilarMemory]) -> list[tuple[Memory, str]]:
    """Return the memories that the draft contradicts, and the kind of contradiction: `negation`, `antonym` or `value`.

    Under a key whose values accumulate, another value is no contradiction. Without a key the two must be of one
    category, and close: from `nominate` on if most of their words agree, else from `conflict` on, and from `denied` on
    if a clause denies a clause; or a judge decides (`judged`). Statements of two speakers never contradict each other.
    """
    if not near:
        return []
    candidate = draft.candidate
    said = stated(candidate.content)
    if candidate.key is None and not draft.verdicts:
        far = min(draft.rules.nominate, draft.rules.conflict)
        denied = draft.rules.denied
        near = [one for one in near if one.cosine > far or (one.cosine > denied and _deny(said, one.memory.content))]
    found: list[tuple[Memory, str]] = []
    for one in near:
        # Two people may well have opposite preferences.
        if one.memory.source.speaker != candidate.source.speaker:
            continue
        if (
            candidate.key is None
            and one.memory.category != candidate.category
            and one.memory.author != draft.actor.user
        ):
            continue
        how = _opposed(draft, said, one) or (_judged(draft, one) if draft.verdicts else None)
        if how is not None and (candidate.key is None or how != "value"):
            found.append((one.memory, how))
    return found


def _judged(draft: Draft, one: SimilarMemory) -> str | None:
    """Return `judged` if a judge was asked and labels the two opposite."""
    return "judged" if (draft.verdicts or {}).get(one.memory.memory_id) == "opposite" else None


def _opposed(draft: Draft, said: Statement, one: SimilarMemory) -> str | None:
    if draft.candidate.key is not None:
        opposed = opposition(said, one.statement)
        return opposed.how if opposed else None
    return opposing(said, one.statement, one.cosine, draft.rules)


def _deny(said: Statement, content: str) -> bool:
    """Return True if one of two dissimilar statements denies the other. Most memories are not taken apart for it."""
    # The quick test reads letters as they are: it is not asked of those that have another form, if `said` denies.
    if said.denied_claims or negates(content) or (said.negations and not content.isascii()):
        return denies(said, stated(content))
    return False


def opposing(one: Statement, other: Statement, cosine: float, rules: WriteRules) -> str | None:
    """Return the way in which two statements without a key contradict each other, at this cosine: `negation`,
    `antonym`, `value`, None.
    """
    if cosine <= min(rules.nominate, rules.conflict):
        return "negation" if cosine > rules.denied and denies(one, other) else None
    opposed = opposition(one, other)
    if opposed is None:
        return None
    return opposed.how if cosine > (rules.nominate if opposed.strong else rules.conflict) else None


def pending(draft: Draft, against: Sequence[Memory], memory_id: str, reason: str) -> Decision:
    """Return the draft as a memory that waits for a person; the memory that it contradicts stays unchanged."""
    ids = tuple(memory.memory_id for memory in against)
    waiting = draft.memory(memory_id, status=Status.PENDING_REVIEW, conflicts_with=ids)
    return Decision(outcome=Outcome.PENDING_REVIEW, memory=waiting, reason=reason)


async def deduplicated(tx: Reads, draft: Draft, decision: Decision) -> Decision:
    """`decision`, unless the same person has already proposed the same for review: then that one continues to wait."""
    if decision.outcome is not Outcome.PENDING_REVIEW:
        return decision
    twin = await tx.find_pending(draft.scope, draft.fingerprint)
    # Only the proposer's own repetition is folded: two proposers are two voices for the reviewer.
    if twin is None or twin.author != draft.actor.user or twin.trust < draft.trust:
        return decision
    return replace(decision, memory=twin, changed=False, reason=ALREADY_WAITING)
