"""Step 6 for statements of one person about themselves: a later statement supersedes an earlier one on the same thing
at once.

The earlier one stays in the history, true until the moment that the new one names, and `mnemic undo` restores it. With
lower trust than the statement it would supersede, or against a key whose changes are reviewed, the new one waits for a
person; at shared levels, and between speakers, nothing is superseded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from math import sqrt

from mnemic.reason_codes import KEY_NEEDS_REVIEW
from mnemic.types import BETWEEN_PEOPLE, Candidate, Kind, Level, Memory, Outcome
from mnemic.write.contradictions import pending, valid_moment
from mnemic.write.draft import Decision, Draft, starts_at
from mnemic.write.fingerprint import fingerprint_of
from mnemic.write.merge import SimilarMemory, closed
from mnemic_language.changes.amended_values import amended, amended_value
from mnemic_language.changes.certain_changes import amending
from mnemic_language.changes.change_bounds import ChangeBounds, changes_nothing
from mnemic_language.changes.change_classifier import Change, bears, frame_of, framed, judge, strangers
from mnemic_language.changes.change_evidence import is_certain_or_evident
from mnemic_language.changes.change_features import apart
from mnemic_language.changes.changes_between_people import is_plain_change
from mnemic_language.changes.changes_in_paragraphs import MAX_NEAR, is_changed_by_a_clause, turning_stems
from mnemic_language.changes.statement_parts import frames_of_parts
from mnemic_language.changes.which_of_several import ended_one_of
from mnemic_language.frames.statement_frame import Frame
from mnemic_language.text.time_expressions import periods_in

IN_PART_COSINE = 0.3
"""The cosine from which the parts of a statement are judged one by one."""
MAX_PARTS = 3
"""Bound of the assumed increase of a part's cosine, beside `MAX_NEAR`."""
_ROOT_OF_MOST = sqrt(MAX_PARTS)
LATELY = timedelta(hours=1)
"""Time within which a correction without a session is about the statement before it."""
MAX_SUPERSEDED = 6
"""Number of memories that one statement replaces, the most probable first."""

ONE_TALK = timedelta(hours=6)
"""Time within which two messages of a session are of one talk; a session may be as old as its user."""

Changed = list[tuple[Memory, Change]]


def changed(draft: Draft, near: Sequence[SimilarMemory], opposed: Mapping[str, str]) -> Changed:
    """Return the memories of the same person that the draft changes, the most probable first. `opposed`: how words or a
    judge say, by memory_id, that the two contradict each other; then less is needed.
    """
    candidate = draft.candidate
    # Other kinds express changes in their data: an entity ends a relation, a structured memory a field. Shared levels
    # are written by several people, who must not replace each other's statements (decision 0026).
    if draft.scope.level != Level.USER or candidate.kind is not Kind.LONG_TERM or not near:
        return []
    new = framed(candidate.content, candidate.key, candidate.source.quote)
    compared = _worth_comparing(candidate, new, near, opposed)
    if not compared:
        return []
    moment, reach = valid_moment(draft), ChangeBounds(new, len(near))
    found: Changed = []
    for one in compared:
        memory = one.memory
        if not _same_person(memory, draft) or _of_one_statement(memory, draft) or _is_later(memory, draft, moment):
            continue
        how = opposed.get(memory.memory_id)
        # The judge has read both; its verdict outweighs a probability.
        if how is None and draft.verdicts and draft.verdicts.get(memory.memory_id) == "same":
            continue
        change = _changed(one, new, len(near), reach, opposed=how is not None)
        if how == "judged":
            change = change or Change("changed", 1.0)
        elif change is not None and not (
            _is_evident(one, new, draft, change) and _is_changed_by_a_clause(one, new, draft, len(near))
        ):
            change = None
        if change is not None:
            found.append((memory, change))
    return _in_order(found, new, draft)


def _is_evident(one: SimilarMemory, new: Frame, draft: Draft, change: Change) -> bool:
    """Return True if a rule is certain of the change, or if the words of the two are evidence enough; for words said to
    another person, only if they state the change plainly.
    """
    known = frame_of(one.memory)
    if BETWEEN_PEOPLE in draft.candidate.data and not is_plain_change(known, new):
        return False
    return is_certain_or_evident(known, new, change.probability, one_talk=_in_one_talk(one.memory, draft))


def _is_changed_by_a_clause(one: SimilarMemory, new: Frame, draft: Draft, among: int) -> bool:
    """Return True if a clause of the draft changes a clause of the memory, or both are single short sentences."""
    one_talk = _in_one_talk(one.memory, draft)
    return is_changed_by_a_clause(frame_of(one.memory), new, among=among, one_talk=one_talk)


def _worth_comparing(
    candidate: Candidate, new: Frame, near: Sequence[SimilarMemory], opposed: Mapping[str, str]
) -> Sequence[SimilarMemory]:
    if candidate.key is not None and amending(new) is not None:
        return []  # it corrects the value of its key, and nothing else
    if changes_nothing(new):  # it affects the memories that it contradicts, and nothing else
        return [one for one in near if one.memory.memory_id in opposed]
    return near


def _at(pair: tuple[Memory, Change]) -> datetime:
    return pair[0].updated_at


def _is_recent(memory: Memory, draft: Draft) -> bool:
    session = draft.candidate.source.session
    if session is not None:
        # Memories from before sessions were recorded have none.
        return memory.source.session in (None, session)
    return draft.now - memory.updated_at <= LATELY


def _in_order(found: Changed, new: Frame, draft: Draft) -> Changed:
    """Return the changes, the most probable first; for an amendment only that of the latest memory, if it was said
    lately: a correction of "the last thing I said" does not concern last week.
    """
    if amending(new) is not None:
        return [pair for pair in sorted(found, key=_at)[-1:] if _is_recent(pair[0], draft)]
    return sorted(found, key=lambda pair: -pair[1].probability)[:MAX_SUPERSEDED]


def _changed(one: SimilarMemory, new: Frame, among: int, reach: ChangeBounds, *, opposed: bool) -> Change | None:
    """Return the change to a statement, or to a part of it; one opposed by words or a judge is always judged."""
    memory, cosine = one
    known = frame_of(memory)
    if opposed or reach.within(known, cosine):
        change = judge(known, new, cosine, among=among, opposed=opposed)
        if change is not None:
            return change
    # A long statement is too dissimilar as a whole from a change of one part of it (decision 0026).
    if memory.key is not None or not new.turns or cosine < IN_PART_COSINE:
        return None
    return _in_part(memory, known, new, cosine, among, reach)


def _in_part(memory: Memory, known: Frame, new: Frame, cosine: float, among: int, reach: ChangeBounds) -> Change | None:
    """Return the change to one part of a statement about several things, of which the rest remains valid. The whole is
    further than its part from a text like that part: for k parts with nothing in common, by the root of k.
    """
    # The most favourable case: if even that is out of reach, the text need not be split.
    if reach.certainly_none(min(MAX_NEAR, cosine * _ROOT_OF_MOST)):
        return None
    turning = turning_stems(new)
    if turning.isdisjoint(known.stems) and _no_attribute(known, new):
        return None
    parts = frames_of_parts(memory.content)
    # A part is short enough to resemble a paragraph by chance, so the whole decides whether they share a topic.
    if not parts or strangers(known, new):
        return None
    # The vector of k unrelated parts is about their mean, so its cosine to a text like one of them is smaller by the
    # root of k.
    nearer = min(MAX_NEAR, cosine * sqrt(min(len(parts), MAX_PARTS)))
    frames = [
        frame
        for frame in parts
        if not (frame.stems.isdisjoint(turning) and _no_attribute(frame, new))
        and frame.plain not in new.plain
        and reach.within(frame, nearer)
    ]
    if not frames or new.plain in known.plain:
        return None
    changes = (judge(frame, new, nearer, among=among) for frame in frames)
    found = next((change for change in changes if change is not None), None)
    # Asked last: it takes longer than judging the one or two parts that are left, and hardly any of them changes.
    return None if found is None or apart(known, new) else found


def _no_attribute(frame: Frame, new: Frame) -> bool:
    """Return True if the two state no attribute in common; those of the earlier are not computed if `new` has none."""
    return not new.attributes or new.attributes.isdisjoint(frame.attributes)


def named(draft: Draft, near: Sequence[SimilarMemory]) -> Changed:
    """Those of the memories a proposer named that the draft may take the place of: the same person's, not later, and by
    their frames not about something else.
    """
    candidate, moment = draft.candidate, valid_moment(draft)
    if not near or candidate.kind is not Kind.LONG_TERM:
        return []
    new = framed(candidate.content, candidate.key, candidate.source.quote)
    beside = framed(candidate.context) if candidate.context else None
    how = "ended" if new.cues & {"end", "weak_end"} else "changed"
    return [
        (one.memory, Change(how, 1.0))
        for one in near
        if own(one.memory, draft)
        and one.memory.kind is Kind.LONG_TERM
        and not _of_one_statement(one.memory, draft)
        and not _is_later(one.memory, draft, moment)
        and _bears(one, new, beside)
    ][:MAX_SUPERSEDED]


def _is_later(memory: Memory, draft: Draft, moment: datetime | None) -> bool:
    """Return True if a memory is about a later time than the draft. One made before the draft in the same session is
    not, even if the draft is about an earlier day: "We have two children", "Our third was born on Monday".
    """
    session = draft.candidate.source.session
    if moment is None or (session is not None and session == memory.source.session):
        return False
    if starts_at(memory) <= moment:
        return False
    # Of a memory without a date only its place in the order is known, and a statement with a date came after it.
    undated = memory.occurred_at is None and memory.valid_from is None
    return not (undated and _names_time(draft.candidate.content, draft.now.date()))


def _names_time(text: str, today: date) -> bool:
    return next(periods_in(text, today), None) is not None


def overtaken(draft: Draft, near: Sequence[SimilarMemory]) -> list[Memory]:
    """Return the memories of the same person that were said later than the draft and change its statement: an import
    may deliver the first statement last.
    """
    candidate, said = draft.candidate, draft.candidate.occurred_at
    if said is None or draft.scope.level != Level.USER or candidate.kind is not Kind.LONG_TERM:
        return []
    later = [
        one
        for one in near
        if one.memory.occurred_at is not None
        and one.memory.occurred_at > said
        # A later statement of lower trust may not close an earlier one, in any order of arrival.
        and one.memory.trust >= draft.trust
        and _same_person(one.memory, draft)
        and not _of_one_statement(one.memory, draft)
    ]
    if not later:
        return []
    known = framed(candidate.content, candidate.key, candidate.source.quote)
    return [one.memory for one in later if _overtakes(known, one, draft, len(near))]


def _overtakes(known: Frame, later: SimilarMemory, draft: Draft, among: int) -> bool:
    """Return True if the memory changes what the draft states."""
    new, one_talk = frame_of(later.memory), _in_one_talk(later.memory, draft)
    change = judge(known, new, later.cosine, among=among)
    if change is None or not is_certain_or_evident(known, new, change.probability, one_talk=one_talk):
        return False
    return is_changed_by_a_clause(known, new, among=among, one_talk=one_talk)


def _bears(one: SimilarMemory, new: Frame, beside: Frame | None) -> bool:
    """Return True if the new statement, or its neighbour in the message, may be about a memory or about that memory's
    neighbour.
    """
    known, context = frame_of(one.memory), one.memory.context
    if bears(known, new, one.cosine) or (context and bears(framed(context), new, 0.0)):
        return True
    return beside is not None and not apart(known, new) and (beside.plain == known.plain or bears(known, beside, 0.0))


def which_of_several(draft: Draft, found: Changed, near: Sequence[SimilarMemory]) -> list[Memory]:
    """Return the memories of which the draft ends one without naming it ("The cat died", of two cats); empty if it is
    specific.
    """
    if not all(change.how == "ended" for _, change in found):
        return []
    candidate = draft.candidate
    known = [one.memory for one in near if _same_person(one.memory, draft) and not _of_one_statement(one.memory, draft)]
    new = framed(candidate.content, candidate.key, candidate.source.quote)
    meant = [known[place] for place in ended_one_of(new, [frame_of(memory).text for memory in known])]
    ids = {memory.memory_id for memory in meant}
    return meant if all(memory.memory_id in ids for memory, _ in found) else []


def own(memory: Memory, draft: Draft) -> bool:
    """Return True if the same person made both statements, at their own level, and no key separates them."""
    return draft.scope.level == Level.USER and _same_person(memory, draft)


def _same_person(memory: Memory, draft: Draft) -> bool:
    candidate = draft.candidate
    return (
        memory.author in (None, draft.actor.user)
        and memory.source.speaker == candidate.source.speaker
        and not (candidate.key is not None and candidate.key == memory.key)
    )


def _in_one_talk(memory: Memory, draft: Draft) -> bool:
    """Return True if a memory was said shortly before the draft, in the same session."""
    mine, theirs = draft.candidate.source.session, memory.source.session
    if mine is None or mine != theirs:
        return False
    return abs((draft.candidate.occurred_at or draft.now) - (memory.occurred_at or memory.created_at)) <= ONE_TALK


def _of_one_statement(memory: Memory, draft: Draft) -> bool:
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


def superseding(draft: Draft, found: Changed, memory_id: str) -> Decision:
    """Return the draft as the successor of the memories it changes; as pending if trust or policy requires review."""
    against = [memory for memory, _ in found]
    # Trust first: a tool's output must not replace the user's words, whatever it claims.
    if any(memory.trust > draft.trust for memory in against):
        return pending(draft, against, memory_id, "lower_trust")
    if any(memory.key is not None and draft.policy.rule(memory.key).on_change == "review" for memory in against):
        return pending(draft, against, memory_id, KEY_NEEDS_REVIEW)
    ids = tuple(memory.memory_id for memory in against)
    ended = tuple(closed(memory, draft.now, draft.starts_at) for memory in against)
    new = draft.memory(memory_id, supersedes=ids, conflicts_with=ids, **_amended(draft, against))
    return Decision(outcome=Outcome.SUPERSEDED, memory=new, reason=found[0][1].how, replaced=ended)


def _amended(draft: Draft, against: Sequence[Memory]) -> dict[str, object]:
    """Return the changed fields of the memory of a correction in a few words: it repeats the corrected statement with
    the right value, and has that statement's vector, which is nearer than the correction's. A value under a key keeps
    its key.
    """
    candidate = draft.candidate
    if len(against) != 1 or candidate.key is not None:
        return {}
    known, new = against[0], framed(candidate.content, None, candidate.source.quote)
    text = amended(known.content, new) if known.key is None else amended_value(known.content, known.source.quote, new)
    if text is None:
        return {}
    same = Candidate(content=text, key=known.key, source=candidate.source)
    return {
        "content": text,
        "key": known.key,
        "context": candidate.content,
        "category": known.category,
        "fingerprint": fingerprint_of(draft.secret, draft.scope, same),
        "vector": known.vector or draft.vector,
    }


def also(decision: Decision, draft: Draft, found: Changed) -> Decision:
    """Return a decision by key that also closes the memories that the draft changes elsewhere."""
    closing = [
        memory
        for memory, _ in found
        if memory.trust <= draft.trust
        and (memory.key is None or draft.policy.rule(memory.key).on_change != "review")
        and memory.memory_id not in {one.memory_id for one in decision.replaced}
    ]
    if decision.outcome is not Outcome.SUPERSEDED or not closing:
        return decision
    ids = (*decision.memory.supersedes, *(memory.memory_id for memory in closing))
    ended = (*decision.replaced, *(closed(memory, draft.now, draft.starts_at) for memory in closing))
    return replace(decision, memory=replace(decision.memory, supersedes=ids, conflicts_with=ids), replaced=ended)
