"""The one decision: does a new statement keep, refresh, replace or end what is known, or does a person decide?

What a person said is kept; what it means is a reading. A reading ends something only on evidence about that very thing
(`mnemic.language.comparison`), and doubt keeps both. Only the write path asks, in the transaction that commits, so that
every way of telling something is answered alike. A statement takes the place of another only for

- another value under the same declared key of the same owner,
- a correction of what was just said in the same talk,
- another value of something that its subject has one of, stated as the newer,
- a stated end whose subject or object is the known thing, or the same claim denied,
- a caller or a model that names the memory, with words that bear on it.

An allergy, illness, medicine, disability, pregnancy or instruction ends only by words on the same attribute of the same
person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple

from mnemic.language.comparison import (
    Evidence,
    How,
    Known,
    bears,
    compare,
    contests,
    corrected_text,
    differs_in_value,
    is_correction,
    is_safety,
    may_be_of_one_person,
    may_concern,
    names_it,
    outline_of,
)
from mnemic.language.statement import OUTLINED
from mnemic.language.text.time_expressions import periods_in
from mnemic.policy.proposal_check import CAPTURE_CATEGORIES
from mnemic.ports import Reads, Snapshot
from mnemic.reason_codes import (
    ALREADY_SUPERSEDED,
    ALREADY_WAITING,
    CONTRADICTION,
    KEPT_BESIDE,
    KEY_NEEDS_REVIEW,
    LOWER_TRUST,
    NEAR_DUPLICATE,
    WHICH_OF_SEVERAL,
)
from mnemic.types import Candidate, Kind, Level, Memory, Outcome, Status
from mnemic.types.memory import A_BREATH
from mnemic.types.recall_limits import cosine_in_space, read
from mnemic.write.draft import Decision, Draft, StepTimer, starts_at
from mnemic.write.prepare import fingerprint_of, normal_form

MAX_LINEAGE = 64
"""Originals that one memory may represent, and how far back its history is followed."""
MAX_REPLACED = 6
"""Memories that one statement replaces."""
SURELY, LIKELY = 2.5, 1.0
"""Logarithms of the odds from which the judge of changes bears out one who says that a statement is over: by itself,
and of words about the same thing. Of groups that it was not trained on (training/updates, further_4 and further_9) that
is so of 72 % of the ends and 50 % of what replaces, of 1.3 % of what leaves it as it is and of 1 % of what others do.
"""
MAX_WIDENING = 8
"""Factor by which more neighbours are requested if those of other kinds fill the list."""
_LONG_BEFORE = timedelta(days=180)
"""What ended longer before a known statement was made is older than that, and does not change it."""
MAX_TALK = 256
"""Memories among which the last statement of a talk is looked for."""
ONE_TALK = timedelta(hours=6)
"""Time within which two messages of a session are of one talk; a session may be as old as its user."""
LATELY = timedelta(hours=1)
"""The same without a session."""
_WORTH_A_VERSION = timedelta(hours=1)
"""An expiry that moves by less (and by less than a hundredth of the time to live) makes no new version: a statement
that is heard again every minute must not fill the history.
"""


Neighbour = tuple[Memory, float]
"""A live memory near a draft, and its cosine."""


class _Found(NamedTuple):
    memory: Memory
    evidence: Evidence


async def decide(tx: Reads, draft: Draft, memory_id: str, timer: StepTimer) -> Decision:
    """Return the decision about a draft that has no identical live memory."""
    if draft.review_reason is not None:
        against = await peers_of(tx, draft) if _is_single(draft) else []
        return await _note_decision(tx, draft, timer, pending(draft, against, memory_id, draft.review_reason))
    if draft.spec.append_only:
        return await _note_decision(tx, draft, timer, _creation(draft, memory_id))
    peers = await peers_of(tx, draft) if draft.candidate.key is not None else []
    keyed = by_key(draft, peers, memory_id)
    if keyed is not None and keyed.reason == ALREADY_SUPERSEDED:
        # An old value heard again must not reopen it: the memory that replaced it is refreshed.
        again = await _in_lineage(tx, draft, peers)
        keyed = refresh(again, draft, reason=ALREADY_SUPERSEDED) if again else keyed
    near = await nearest(tx, draft)
    if keyed is not None and keyed.outcome is not Outcome.SUPERSEDED:
        return await _note_decision(tx, draft, timer, keyed)
    decision = await _by_evidence(tx, draft, near, memory_id, keyed)
    if decision is None:
        decision = await _merge_same_words(tx, draft, near, memory_id)
    return await _note_decision(tx, draft, timer, decision or _beside(draft, near, memory_id))


async def confirm(tx: Reads, same: Memory, draft: Draft) -> Decision:
    """Return the decision about a statement that is known in these words: it is refreshed, and ends what its proposer
    says now that it replaces, as who read the same words before did not.
    """
    decision = refresh(same, draft)
    if not draft.candidate.replaces or draft.trust < same.trust:
        return decision
    named = [one for one in await _find_named(tx, draft, _valid_moment(draft)) if one.memory != same]
    decided = _superseding(draft, named, same.memory_id, decision)
    if decided is decision:
        return decision
    new = decision.memory if decision.changed else same.next_version(draft.now)
    new = replace(new, supersedes=decided.memory.supersedes, conflicts_with=decided.memory.conflicts_with)
    return replace(decided, outcome=Outcome.SUPERSEDED, memory=new, changed=True)


async def _note_decision(tx: Reads, draft: Draft, timer: StepTimer, decision: Decision) -> Decision:
    merges = decision.outcome in (Outcome.MERGED, Outcome.REFRESHED)
    kept = decision.outcome is Outcome.CREATED and decision.reason is None
    beside = (decision.reason or "").startswith(KEPT_BESIDE)
    timer.note("conflict", "none" if merges or kept else decision.reason or str(decision.outcome))
    timer.note("merge", str(decision.outcome) if merges else "none" if kept or beside else "skipped")
    return await _check_duplicates(tx, draft, decision)


def _creation(draft: Draft, memory_id: str, reason: str | None = None) -> Decision:
    return Decision(outcome=Outcome.CREATED, memory=draft.memory(memory_id), reason=reason)


def _beside(draft: Draft, near: Sequence[Neighbour], memory_id: str) -> Decision:
    """Return the draft as a new memory; its receipt names the nearest of the same person that tells otherwise of the
    same thing, if there is one: by the words alone nobody can tell which of the two holds, or whether both do.
    """
    said = Known(draft.candidate.content, draft.candidate.key)
    for memory, _ in near:
        known = Known(memory.content, memory.key)
        if _is_own(memory, draft) and not _is_of_one_message(memory, draft) and contests(known, said):
            return _creation(draft, memory_id, f"{KEPT_BESIDE}:{memory.memory_id}")
    return _creation(draft, memory_id)


# -- by key ----------------------------------------------------------------------------------------------


def _is_single(draft: Draft) -> bool:
    """Return True if the draft's key has one value at a time."""
    key = draft.candidate.key
    return key is not None and draft.policy.rule(key).on_change != "accumulate"


async def peers_of(tx: Reads, draft: Draft) -> list[Memory]:
    """Return the other live memories of the same kind under the draft's key."""
    key = draft.candidate.key
    found = await tx.find_key(draft.scope, key) if key is not None else []
    return [memory for memory in found if memory.kind is draft.candidate.kind and live(memory, draft)]


def by_key(draft: Draft, known: Sequence[Memory], memory_id: str) -> Decision | None:
    """Apply the rule of the draft's key to its other values; None if values accumulate or there are none.

    `supersede`: the old values end when the new one begins. A value that arrives late, from before the known one,
    becomes history at once and changes nothing that is true now. Lower trust never replaces higher trust: it waits.
    `review`: any change waits.
    """
    if not known or not _is_single(draft):
        return None
    if draft.policy.rule(draft.candidate.key or "").on_change == "review":
        return pending(draft, known, memory_id, KEY_NEEDS_REVIEW)
    # Review instead of refusal: the untrusted statement may be right, but a person decides.
    if any(memory.trust > draft.trust for memory in known):
        return pending(draft, known, memory_id, LOWER_TRUST)
    moment = _valid_moment(draft)
    # An import may bring an old value after a new one; it must not become the current one.
    later = [memory for memory in known if moment is not None and starts_at(memory) > moment]
    if later:
        return _history(draft, later, memory_id)
    return _replacing(draft, known, memory_id, None)


# -- by evidence -----------------------------------------------------------------------------------------


async def _by_evidence(
    tx: Reads, draft: Draft, near: Sequence[Neighbour], memory_id: str, keyed: Decision | None
) -> Decision | None:
    """Return the decision that the words of the draft give evidence for; `keyed` if they add nothing to it."""
    if draft.candidate.kind is not Kind.LONG_TERM:
        return keyed
    text, moment = _compared_words(draft), _valid_moment(draft)
    correction = await _correction(tx, draft, memory_id) if keyed is None else None
    if correction is not None:
        return correction
    found: list[_Found] = []
    foreign: list[_Found] = []
    said, judged = outline_of(text), draft.verdicts is not None
    for memory, cosine in near:
        # Of most pairs it is plain that neither has to do with the other.
        known = outline_of(memory.content, memory.key)
        if cosine <= draft.rules.conflict and not judged and not may_concern(known, said):
            continue
        if memory.source.speaker != draft.candidate.source.speaker or _is_of_one_statement(memory, draft):
            continue
        evidence = _evidence(memory, draft, text, cosine)
        if evidence is None or (evidence.how is not How.OPPOSED and _is_long_before(memory, draft)):
            continue
        if not _is_own(memory, draft):
            foreign.append(_Found(memory, evidence))
        elif not _is_later(memory, draft, moment) and not _has_key_of(memory, draft):
            found.append(_Found(memory, evidence))
    if foreign:
        reason = f"{CONTRADICTION}:{foreign[0].evidence.why}"
        return pending(draft, [one.memory for one in foreign], memory_id, reason)
    found = [*await _find_named(tx, draft, moment), *found]
    if found and not any(one.evidence.named for one in found) and len(found) > 1:
        # "The cat died", of two cats: both stay, and the receipt says why.
        return keyed or _creation(draft, memory_id, WHICH_OF_SEVERAL)
    found = list({one.memory.memory_id: one for one in found}.values())[:MAX_REPLACED]
    if found:
        return _superseding(draft, found, memory_id, keyed)
    later = [] if keyed is not None else _overtaken(draft, near)
    return _history(draft, later, memory_id) if later else keyed


def _evidence(memory: Memory, draft: Draft, text: str, cosine: float) -> Evidence | None:
    """Return the evidence that the draft replaces or ends a memory near it."""
    verdict = (draft.verdicts or {}).get(memory.memory_id)
    known = known_of(memory)
    found = compare(known, text)
    # A judge that has read both and calls them the same outweighs a change, but no denial.
    if found is not None and (found.how is How.OPPOSED or (found.how is not How.SAME and verdict != "same")):
        return found
    if verdict == "opposite" and bears(known, text):
        return Evidence(How.OPPOSED, "judged")
    # Of two authors, another value is enough for a person to look.
    alike = cosine > draft.rules.conflict and memory.key is None and draft.candidate.key is None
    if alike and not _is_own(memory, draft) and memory.category == draft.candidate.category:
        return differs_in_value(known, text)
    return None


def known_of(memory: Memory) -> Known:
    """Return a memory as a comparison takes it."""
    return _known(memory.content, memory.key, memory.category)


@lru_cache(maxsize=OUTLINED)
def _known(content: str, key: str | None, category: str | None) -> Known:
    return Known(content, key, (category or "").casefold() in _SAFETY_CATEGORIES or is_safety(content, key))


_SAFETY_CATEGORIES = frozenset({"health", "instruction", "instructions"})


async def _find_named(tx: Reads, draft: Draft, moment: datetime | None) -> list[_Found]:
    """Return the memories that a proposer says the draft replaces, if they are live, the same person's and not later,
    and the words of the draft bear on them.
    """
    found = []
    for memory_id in draft.candidate.replaces[:MAX_REPLACED]:
        memory = await tx.get(memory_id, scopes=[draft.scope])
        if memory is None or memory.status is not Status.ACTIVE or not live(memory, draft):
            continue
        if memory.kind is not Kind.LONG_TERM or not _is_own(memory, draft) or _has_key_of(memory, draft):
            continue
        if _is_of_one_statement(memory, draft) or _is_later(memory, draft, moment):
            continue
        if _bear_out(memory, draft):
            found.append(_Found(memory, Evidence(How.CHANGED, "named")))
    return found


def _bear_out(memory: Memory, draft: Draft) -> bool:
    """Return True if the words of a draft bear out what its proposer says, that it replaces or ends a memory: they
    correct a value of its text, or give evidence, or the judge of changes reads both so, perhaps in translation. Where
    it has not read them, the words have to be about the memory, and those of an end to name it.
    """
    candidate, known = draft.candidate, known_of(memory)
    said = candidate.source.quote or candidate.content
    if is_correction(said) and corrected_text(memory.content, said) == candidate.content:
        return True
    odds = draft.changes.get(memory.memory_id)
    if odds is None or memory.memory_id in draft.in_english:
        if words_bear_out(memory, candidate):
            return True
        if odds is None:
            return False
        text, said = draft.in_english[memory.memory_id]
        known = Known(text, known.key, known.safety or is_safety(text, known.key))
        about = bears(known, said)
    else:
        about = bears(known, said) or _is_labelled_alike(memory, candidate, known)
    evidence = compare(known, said)
    if evidence is not None and evidence.how is not How.SAME:
        return True
    # What nobody may forget ends by words about its own subject only.
    if known.safety:
        return about and odds > SURELY
    return odds > (LIKELY if about else SURELY)


def words_bear_out(memory: Memory, candidate: Candidate) -> bool:
    """Return True if the words alone, in whatever language, bear out that a candidate replaces or ends a memory."""
    known, said = known_of(memory), candidate.source.quote or candidate.content
    about = bears(known, said) or _is_labelled_alike(memory, candidate, known)
    return about and (not candidate.ends or names_it(known, said))


def _is_labelled_alike(memory: Memory, candidate: Candidate, known: Known) -> bool:
    """Return True if the model that says so has given both the same name beside their words, when each was told ("home
    city: Lives in Trier"), and the words are not about somebody else. The name of a category says nothing.
    """
    mine, theirs = (one.context.rpartition("\n")[2].rpartition(": ")[0] for one in (candidate, memory))
    if not mine or mine != theirs or mine in CAPTURE_CATEGORIES or known.safety:
        return False
    return may_be_of_one_person(known, candidate.source.quote or candidate.content)


async def _correction(tx: Reads, draft: Draft, memory_id: str) -> Decision | None:
    """Return the decision about a statement that only corrects what was just said ("Sorry, room 5, not 3"): the last
    statement with the right value in place of the wrong one, under the words of the correction.
    """
    candidate = draft.candidate
    if candidate.key is not None or not is_correction(candidate.content):
        return None
    last = await _last_of_talk(tx, draft)
    if last is None or last.trust > draft.trust or _is_of_one_statement(last, draft):
        return None
    text = corrected_text(last.content, candidate.content)
    if text is None:
        return None
    if last.key is not None and draft.policy.rule(last.key).on_change == "review":
        return pending(draft, [last], memory_id, KEY_NEEDS_REVIEW)
    same = Candidate(content=text, key=last.key, kind=last.kind, source=candidate.source)
    fields: dict[str, Any] = {
        "content": text,
        "key": last.key,
        "context": candidate.content,
        "category": last.category,
        "fingerprint": fingerprint_of(draft.secret, draft.scope, same),
        # The correction alone resembles nothing that anybody will look for.
        "vector": last.vector or draft.vector,
    }
    if await tx.find_fingerprint(draft.scope, fields["fingerprint"]) is not None:
        return None
    return _replacing(draft, [last], memory_id, "corrected", **fields)


async def _last_of_talk(tx: Reads, draft: Draft) -> Memory | None:
    """Return the last statement of the draft's talk."""
    if draft.vector is None or draft.scope.level != Level.USER:
        return None
    said = await tx.nearest(draft.scope, draft.vector, limit=MAX_TALK, at_least=-1.0)
    talk = [memory for memory, _ in said if memory.kind is Kind.LONG_TERM and _is_in_one_talk(memory, draft)]
    own = [memory for memory in talk if _is_own(memory, draft) and live(memory, draft)]
    return max(own, key=lambda memory: (memory.updated_at, memory.memory_id), default=None)


def _superseding(draft: Draft, found: Sequence[_Found], memory_id: str, keyed: Decision | None) -> Decision:
    """Return the draft as the successor of the memories it replaces; as pending if trust or policy requires review."""
    against = [one.memory for one in found]
    reviewed = [
        memory for memory in against if memory.key is not None and draft.policy.rule(memory.key).on_change == "review"
    ]
    if keyed is not None:
        # What the key decided stands; of the rest only what needs no review ends with it.
        ended = {memory.memory_id for memory in keyed.replaced}
        more = [
            one for one in against if one.trust <= draft.trust and one not in reviewed and one.memory_id not in ended
        ]
        return _also(keyed, draft, more) if more else keyed
    # Trust first: a tool's output must not replace the user's words, whatever it claims.
    if any(memory.trust > draft.trust for memory in against):
        return pending(draft, against, memory_id, LOWER_TRUST)
    if reviewed:
        return pending(draft, against, memory_id, KEY_NEEDS_REVIEW)
    return _replacing(draft, against, memory_id, str(found[0].evidence.how))


def _replacing(
    draft: Draft, known: Sequence[Memory], memory_id: str, reason: str | None, **changes: object
) -> Decision:
    ids = tuple(memory.memory_id for memory in known)
    ended = tuple(close_memory(memory, draft.now, draft.starts_at) for memory in known)
    new = draft.memory(memory_id, supersedes=ids, conflicts_with=ids, **changes)
    return Decision(outcome=Outcome.SUPERSEDED, memory=new, reason=reason, replaced=ended)


def _also(decision: Decision, draft: Draft, more: Sequence[Memory]) -> Decision:
    ids = (*decision.memory.supersedes, *(memory.memory_id for memory in more))
    ended = (*decision.replaced, *(close_memory(memory, draft.now, draft.starts_at) for memory in more))
    return replace(decision, memory=replace(decision.memory, supersedes=ids, conflicts_with=ids), replaced=ended)


def _overtaken(draft: Draft, near: Sequence[Neighbour]) -> list[Memory]:
    """Return the memories of the same person that were said later than the draft and replace its statement: an import
    may deliver the first statement last.
    """
    candidate, said_at = draft.candidate, draft.candidate.occurred_at
    if said_at is None or draft.scope.level != Level.USER:
        return []
    known = Known(candidate.content, candidate.key, is_safety(candidate.content, candidate.key))
    found = []
    for memory, _ in near:
        if memory.occurred_at is None or memory.occurred_at <= said_at or _is_of_one_statement(memory, draft):
            continue
        # A later statement of lower trust may not close an earlier one, in any order of arrival.
        if memory.trust < draft.trust or not _is_own(memory, draft) or _has_key_of(memory, draft):
            continue
        evidence = compare(known, memory.source.quote if memory.key and memory.source.quote else memory.content)
        if evidence is not None and evidence.how is not How.SAME and evidence.named:
            found.append(memory)
    return found


def _history(draft: Draft, later: Sequence[Memory], memory_id: str) -> Decision:
    """Return the draft as true until the `later` memories, of which the first ends it."""
    first = min(later, key=starts_at)
    ended_at: datetime = starts_at(first)
    if draft.candidate.valid_to is not None:
        ended_at = min(ended_at, draft.candidate.valid_to)
    past = draft.memory(memory_id, status=Status.SUPERSEDED, valid_to=ended_at)
    # The later memory names it, so that its history shows the older value as well.
    linked = first.next_version(draft.now, supersedes=(*first.supersedes, memory_id))
    return Decision(outcome=Outcome.CREATED, memory=past, reason=ALREADY_SUPERSEDED, replaced=(linked,))


def pending(draft: Draft, against: Sequence[Memory], memory_id: str, reason: str) -> Decision:
    """Return the draft as a memory that waits for a person; the memory that it contradicts stays unchanged."""
    ids = tuple(memory.memory_id for memory in against)
    waiting = draft.memory(memory_id, status=Status.PENDING_REVIEW, conflicts_with=ids)
    return Decision(outcome=Outcome.PENDING_REVIEW, memory=waiting, reason=reason)


async def _check_duplicates(tx: Reads, draft: Draft, decision: Decision) -> Decision:
    return decision if decision.outcome is not Outcome.PENDING_REVIEW else await check_proposed(tx, draft, decision)


async def check_proposed(tx: Reads, draft: Draft, decision: Decision) -> Decision:
    """`decision`, unless the same person has already proposed the same for review: then that one continues to wait."""
    twin = await tx.find_pending(draft.scope, draft.fingerprint)
    # Only the proposer's own repetition is folded: two proposers are two voices for the reviewer.
    if twin is None or twin.author != draft.actor.user or twin.trust < draft.trust:
        return decision
    return replace(decision, memory=twin, changed=False, reason=ALREADY_WAITING)


# -- the same words --------------------------------------------------------------------------------------


async def _merge_same_words(tx: Reads, draft: Draft, near: Sequence[Neighbour], memory_id: str) -> Decision | None:
    """Return one memory for a draft and a memory in the same words (a near-duplicate): the newer wording, with the
    older version kept; None if there is none.
    """
    for memory, cosine in near:
        if cosine <= draft.rules.near_duplicate or not _is_mergeable(memory, draft):
            continue
        evidence = compare(Known(memory.content), draft.candidate.content)
        if evidence is None or evidence.how is not How.SAME:
            continue
        # The same text beside data or a time that only one of the two has is the same memory, and gains them.
        if memory.trust > draft.trust or normal_form(memory.content) == normal_form(draft.candidate.content):
            return refresh(memory, draft, reason=NEAR_DUPLICATE)
        # Heard again, a wording that was merged before is not merged a second time.
        again = await _in_lineage(tx, draft, [memory])
        if again is not None:
            return refresh(again, draft, reason=NEAR_DUPLICATE)
        return _in_newer_words(draft, memory, memory_id)
    return None


def _is_mergeable(memory: Memory, draft: Draft) -> bool:
    """Return True for the same key, category and speaker, the same data and the same times, as far as both have some.
    A refusal to merge loses nothing.
    """
    candidate = draft.candidate
    times = (
        (memory.valid_from, candidate.valid_from),
        (memory.valid_to, candidate.valid_to),
        (_event(memory.occurred_at, memory.source.quote), _event(candidate.occurred_at, candidate.source.quote)),
    )
    return (
        memory.key == candidate.key
        and memory.category == candidate.category
        and memory.source.speaker == candidate.source.speaker
        and all(one == other for one, other in times if one is not None and other is not None)
        and (not memory.data or not candidate.data or memory.data == candidate.data)
    )


def _event(occurred_at: datetime | None, quote: str | None) -> datetime | None:
    """Return the time of an event; of words from a conversation, their time is that of speaking."""
    return occurred_at if quote is None else None


def _in_newer_words(draft: Draft, old: Memory, memory_id: str) -> Decision:
    end = _later(old.expires_at, draft.confirming(old.created_at)) if draft.slides else old.expires_at
    candidate = draft.candidate
    # What a source of lower trust said beside the words does not come to bear the higher trust.
    both: dict[str, Any] = (
        {}
        if draft.trust > old.trust
        else {
            "occurred_at": old.occurred_at or candidate.occurred_at,
            "valid_from": old.valid_from or candidate.valid_from,
            "valid_to": candidate.valid_to or old.valid_to,
            "confidence": max(old.confidence, candidate.confidence),
            "data": {**old.data, **candidate.data},
        }
    )
    merged = draft.memory(memory_id, expires_at=_end_within(draft, old, end), supersedes=(old.memory_id,), **both)
    ended = close_memory(old, draft.now, starts_at(merged))
    return Decision(outcome=Outcome.MERGED, memory=merged, replaced=(ended,))


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    """Return the later of two ends; None is never, which is later than any."""
    return None if one is None or other is None else max(one, other)


def refresh(known: Memory, draft: Draft, *, reason: str | None = None) -> Decision:
    """`known`, confirmed by the draft: the higher confidence and trust, the later expiry, the data of both.

    A refresh never lowers anything. It makes a new version only if something changes that a reader could see; the audit
    log records it in any case. Lower trust confirms without changing anything.
    """
    # A source of lower trust must not raise the confidence or lifetime of a better one's statement, or it could keep a
    # memory alive.
    changes = {} if draft.trust < known.trust else _gained_fields(known, draft)
    memory = known.next_version(draft.now, **changes) if changes else known
    return Decision(outcome=Outcome.REFRESHED, memory=memory, reason=reason, changed=bool(changes))


def _gained_fields(known: Memory, draft: Draft) -> dict[str, Any]:
    candidate = draft.candidate
    gained: dict[str, Any] = {}
    if candidate.confidence > known.confidence:
        gained["confidence"] = candidate.confidence
    if draft.trust > known.trust:
        # Together: trust is that of the channel, so it must never belong to another source than the one shown, nor to
        # what only that one said beside the words.
        gained |= {"trust": draft.trust, "source": candidate.source, "fingerprint": draft.fingerprint}
        gained |= _beside_words(candidate)
    end = _end_within(draft, known, draft.confirming(known.created_at) if _extends(known, draft) else known.expires_at)
    if end != known.expires_at:
        gained["expires_at"] = end
    if _adds_labels(known, candidate):
        own = candidate.category is not None and candidate.category not in CAPTURE_CATEGORIES
        gained |= {"context": known.context or candidate.context, "vector": draft.vector or known.vector}
        gained |= {"category": candidate.category} if own else {}
    data = {**known.data, **candidate.data}
    if draft.trust <= known.trust and data != dict(known.data):
        gained["data"] = data
    return gained


def _adds_labels(known: Memory, candidate: Candidate) -> bool:
    """Return True if the same words of the same message were read again, with a context or a category of the operator's
    own that they lacked.
    """
    mine, theirs = candidate.source, known.source
    if mine.quote is None or mine.quote != theirs.quote or candidate.occurred_at != known.occurred_at:
        return False
    own = candidate.category not in CAPTURE_CATEGORIES and candidate.category not in (None, known.category)
    return own or bool(candidate.context and not known.context)


def _beside_words(candidate: Candidate) -> dict[str, Any]:
    """Return what a candidate says beside its words."""
    return {
        "context": candidate.context,
        "category": candidate.category,
        "data": candidate.data,
        "occurred_at": candidate.occurred_at,
        "valid_from": candidate.valid_from,
        "valid_to": candidate.valid_to,
    }


def _extends(known: Memory, draft: Draft) -> bool:
    if known.expires_at is None or not draft.slides:
        return False
    end = draft.confirming(known.created_at)
    # The rule of the kind has no end any more: the memory is stored without one.
    if end is None:
        return True
    gained = end - known.expires_at
    # The hundredth makes memories of an hour or less precise, for which `_WORTH_A_VERSION` would be their whole life.
    return gained > timedelta() and gained >= min(_WORTH_A_VERSION, (end - draft.now) / 100)


def _end_within(draft: Draft, known: Memory, end: datetime | None) -> datetime | None:
    """Return the end of `known`, restated by the draft: `end` within the policy in force. If that has passed, because
    the policy was not yet in force at the first statement, the restatement counts as the first one.
    """
    end = draft.keeping(replace(known, expires_at=end))
    return draft.expires_at if end is not None and end <= draft.now else end


async def _in_lineage(tx: Reads, draft: Draft, memories: Sequence[Memory]) -> Memory | None:
    """Return the memory of `memories` that superseded one with the draft's fingerprint."""
    for memory in memories:
        waiting, seen = list(memory.supersedes), 0
        # Breadth first: a duplicate is most likely among the nearest originals.
        while waiting and seen < MAX_LINEAGE:
            older = await tx.get(waiting.pop(0), scopes=[draft.scope])
            if older is not None:
                if older.fingerprint == draft.fingerprint:
                    return memory
                seen += 1
                waiting += older.supersedes
    return None


# -- neighbours ------------------------------------------------------------------------------------------


async def nearest(tx: Reads, draft: Draft) -> list[Neighbour]:
    """Return the live memories of the draft's kind that are near it by cosine, under any key."""
    # Without a vector there are no neighbours.
    if draft.vector is None:
        return []
    scaled = draft.space is not None and bool(draft.space.scale)
    at_least = draft.rules.compared_from
    if scaled and draft.space is not None:
        at_least = cosine_in_space(draft.space, at_least)
    limit, wanted, kind = draft.rules.neighbours, draft.rules.neighbours, draft.candidate.kind
    while True:
        found = await tx.nearest(draft.scope, draft.vector, limit=limit, at_least=at_least)
        # Kind and expiry are filtered here: a store finds neighbours by vector alone.
        same = [
            (memory, cosine)
            for memory, cosine in found
            if memory.kind is kind and (memory.expires_at is None or memory.expires_at > draft.now)
        ]
        if scaled and draft.space is not None:
            same = [(memory, read(draft.space, cosine)) for memory, cosine in same]
        # Recorded messages are as near as the facts captured from them: they must not take the places of memories.
        if len(same) >= wanted or len(found) < limit or limit >= wanted * MAX_WIDENING:
            return same[:wanted]
        limit *= 2


async def is_known(snapshot: Snapshot, draft: Draft) -> bool:
    """Return True if an identical live memory is there already, so that the write will need no vector."""
    same = await snapshot.find_fingerprint(draft.scope, draft.fingerprint)
    return same is not None and is_repeated(same, draft)


def is_repeated(same: Memory, draft: Draft) -> bool:
    """Return True if a live memory in the draft's words says all that the draft does."""
    return live(same, draft) and not draft.candidate.replaces and not _adds_labels(same, draft.candidate)


def live(memory: Memory, draft: Draft) -> bool:
    """Return True if `memory` is within its time at the moment of the draft."""
    return memory.expires_at is None or memory.expires_at > draft.now


def _compared_words(draft: Draft) -> str:
    """Return the words that are compared: of a value under a key those that it was read from."""
    candidate = draft.candidate
    return candidate.source.quote if candidate.key is not None and candidate.source.quote else candidate.content


def _is_own(memory: Memory, draft: Draft) -> bool:
    """Return True if the same person said both, at their own level. Shared levels are written by several people, who
    must not replace each other's statements.
    """
    return (
        draft.scope.level == Level.USER
        and memory.author in (None, draft.actor.user)
        and memory.source.speaker == draft.candidate.source.speaker
    )


def _has_key_of(memory: Memory, draft: Draft) -> bool:
    return draft.candidate.key is not None and draft.candidate.key == memory.key


def _is_in_one_talk(memory: Memory, draft: Draft) -> bool:
    """Return True if a memory was said shortly before the draft, in the same session."""
    mine, theirs = draft.candidate.source.session, memory.source.session
    apart = abs((draft.candidate.occurred_at or draft.now) - (memory.occurred_at or memory.created_at))
    return mine == theirs and apart <= (LATELY if mine is None else ONE_TALK)


def _is_of_one_statement(memory: Memory, draft: Draft) -> bool:
    """Return True if one is a value under a key that was read from the words of the other: they have the same meaning,
    and neither is an earlier statement that the other could replace.
    """
    if memory.fingerprint in draft.read_with:
        return True
    mine, theirs = draft.candidate.source, memory.source
    if mine.ref is None or (mine.ref, mine.session) != (theirs.ref, theirs.session):
        return False
    keyed = memory.key is not None or draft.candidate.key is not None
    if not keyed or mine.span is None or theirs.span is None:
        return False
    return mine.span[0] < theirs.span[1] and theirs.span[0] < mine.span[1]


def _is_of_one_message(memory: Memory, draft: Draft) -> bool:
    """Return True if both were read from one message: two dogs of one breath are two dogs."""
    mine, theirs = draft.candidate.source, memory.source
    if mine.span is None or theirs.span is None or (mine.ref, mine.session) != (theirs.ref, theirs.session):
        return False
    return mine.ref is not None or draft.now - memory.created_at < A_BREATH


def _valid_moment(draft: Draft) -> datetime | None:
    """Return the time from which the candidate is true. Only a time that it names can precede the known value: the
    clock may have been set back. A state that began some day and has no end counts from the day on which it is stated.
    """
    candidate = draft.candidate
    if candidate.valid_to is None and candidate.occurred_at is not None:
        return candidate.occurred_at
    # What is stated without a time is stated now, whatever beginning its words give.
    return draft.given.valid_from or candidate.occurred_at


def _is_later(memory: Memory, draft: Draft, moment: datetime | None) -> bool:
    """Return True if a memory is about a later time than the draft. One made before the draft in the same session is
    not, even if the draft is about an earlier day: "We have two children", "Our third was born on Monday".
    """
    said, known_said, today = draft.candidate.occurred_at, memory.occurred_at, draft.now.date()
    read_earlier = draft.candidate.source.quote and memory.source.quote and said and known_said and said < known_said
    # Both are of the time at which they were said, whichever was read first, unless their words name another.
    if read_earlier and not any(_names_time(text, today) for text in (draft.candidate.content, memory.content)):
        return True
    session = draft.candidate.source.session
    if moment is None or (session is not None and session == memory.source.session):
        return False
    if starts_at(memory) <= moment:
        return False
    # Of a memory without a date only its place in the order is known, and a statement with a date came after it.
    undated = memory.occurred_at is None and memory.valid_from is None
    return not (undated and _names_time(draft.candidate.content, today))


def _is_long_before(memory: Memory, draft: Draft) -> bool:
    """Return True if the draft tells of a time long before what is known began: "I moved to York in 2001"."""
    known_from = (starts_at(memory) - _LONG_BEFORE).date()
    times = list(periods_in(draft.candidate.content, (draft.candidate.occurred_at or draft.now).date()))
    return bool(times) and all(time.end < known_from for time in times)


def _names_time(text: str, today: date) -> bool:
    return next(periods_in(text, today), None) is not None


def close_memory(memory: Memory, now: datetime, ended_at: datetime) -> Memory:
    """Return `memory` superseded: it was true until `ended_at`, or until its own earlier end, never before it began."""
    return memory.next_version(now, **superseded_fields(memory, ended_at))


def superseded_fields(memory: Memory, ended_at: datetime) -> dict[str, Any]:
    """Return the changes in `memory` when another takes its place at `ended_at`."""
    # A replacement may begin before the memory does: "I moved last week", two days after the old address was stated.
    ended_at = max(ended_at, starts_at(memory))
    # Something that had ended already did not last until its replacement.
    ended_at = min(ended_at, memory.valid_to) if memory.valid_to is not None else ended_at
    return {"status": Status.SUPERSEDED, "valid_to": ended_at}
