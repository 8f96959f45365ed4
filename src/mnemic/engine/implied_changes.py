"""Changes to known memories that a message implies without stating them: "so we're finally unpacked in Sheffield".

Alone such a sentence has too little content to be stored. Next to the memory that it changes it is the newer truth, and
is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from mnemic.dispatch.gateway import MemoryGateway
from mnemic.engine.ended_values import ended_values, naming_ended
from mnemic.errors import EmbedderFailed, RunStopped, SpaceMismatch
from mnemic.extract import Extraction, is_users_own
from mnemic.extract.operations import source_of
from mnemic.extract.statement_dates import timed
from mnemic.policy.proposal_check import check_candidate
from mnemic.reason_codes import NOT_DURABLE, NOT_UNDERSTOOD, OPINION, QUOTED, THIRD_PARTY, TRANSIENT
from mnemic.types import BETWEEN_PEOPLE, Actor, Candidate, Deadline, Kind, Level, Memory, Message, Where
from mnemic.types.cosine_scaling import read
from mnemic_language.changes.agreement import agree, is_faint
from mnemic_language.changes.amended_values import amended_value
from mnemic_language.changes.certain_changes import amending, amends, recovers
from mnemic_language.changes.change_classifier import frame_of, framed, judge
from mnemic_language.changes.change_evidence import KEPT_FROM, evidence
from mnemic_language.changes.change_features import takes_back
from mnemic_language.changes.changes_between_people import is_plain_change
from mnemic_language.changes.changes_in_one_conversation import corrects_slip
from mnemic_language.compare.frequencies import another_frequency, tells_frequency
from mnemic_language.ended_facts.denials import is_bare_denial
from mnemic_language.ended_facts.implicit_endings import tells_change
from mnemic_language.ended_facts.left_jobs import leaves_work
from mnemic_language.frames.statement_frame import Frame
from mnemic_language.sentences.clauses import sentences
from mnemic_language.sentences.disputes import without_dispute
from mnemic_language.sentences.exclusion_rules import said_plainly
from mnemic_language.sentences.general_knowledge_messages import speaks_of_self
from mnemic_language.sentences.social_remarks import is_company

DOUBTFUL = frozenset({NOT_UNDERSTOOD, NOT_DURABLE, OPINION, TRANSIENT, THIRD_PARTY, QUOTED})
"""Reasons for leaving out a sentence that a memory changed by it may outweigh."""
_CORRECTS = frozenset({"correct", "weak_correct"})
NEAR = 8
"""The nearest memories that a sentence may change."""
CROWD = 24
"""Number of the nearest that are counted: among so many one easily resembles a sentence by chance, so the bar is
higher.
"""
MOST = 6
"""Maximum number of sentences considered in one message."""
LONGEST = 400
SHORTEST_WORDS, SHORTEST_STEMS = 3, 2
"""Minimum words of a sentence, or of its content words ("Rex died"), for it to change a memory."""
SHORTEST_FAINT = 8
"""Words of a message with an "actually" that corrects the statement before it even if the two share no word."""
RECENT = 6
"""Number of the latest statements of a session to which a correction that names its topic may refer."""
CORRECTION_WORDS = 20
"""Maximum length, in words, of a message that only corrects the one before it."""


async def with_changes(
    gateway: MemoryGateway, actor: Actor, message: Message, found: Extraction, *, deadline: Deadline
) -> Extraction:
    """`found` with the left-out sentences that change a known memory of the actor's; with `unknown` where they could
    not be embedded. Raises StoreFailed.
    """
    if not gateway.policy.allows_keyless or not is_users_own(message):
        return found
    # A short correction concerns the last statement and would mean nothing on its own.
    correction = await _correction(gateway, actor, message, found)
    if correction:
        return replace(found, candidates=correction, skipped=())
    found = await _with_ended(gateway, actor, found)
    doubtful = _doubtful(message, found)
    # No word hints at a change, so no embedding is needed; that is the usual case.
    if not doubtful:
        return found
    try:
        vectors = await gateway.searcher.embedder.embed([text for text, _ in doubtful], deadline=deadline)
        changed: list[tuple[str, tuple[int, int], tuple[str, ...]]] = []
        for (text, span), vector in zip(doubtful, vectors, strict=True):
            ended = await ended_values(gateway, actor, text)
            if ended or await _changes(gateway, actor, message, text, vector, plainly=found.between_people):
                changed.append((text, span, ended))
    # Best effort: the message itself is still captured, and the report names the failed look-up.
    except (EmbedderFailed, SpaceMismatch) as failure:
        return replace(found, unknown=failure.reason)
    marks = {BETWEEN_PEOPLE: True} if found.between_people else {}
    made = [
        one
        for text, span, ended in changed
        if (one := sentence_candidate(gateway, message, text, span, replaces=ended, data=marks)) is not None
    ]
    kept = [span for _, span, _ in changed]
    skipped = tuple(one for one in found.skipped if not any(_within(span, one.span) for span in kept))
    return replace(found, candidates=(*found.candidates, *made), skipped=skipped)


async def _correction(
    gateway: MemoryGateway, actor: Actor, message: Message, found: Extraction
) -> tuple[Candidate, ...]:
    """Return the whole of a short message that corrects its author's last statement in the session, as the replacement
    of that statement, and the values that it corrects of those which were read of the same words.
    """
    text = message.content.strip()
    if message.session is None or len(text.split()) > CORRECTION_WORDS or any(one.key for one in found.candidates):
        return ()
    new = framed(" ".join(part for start, end in sentences(text) if not is_company(part := text[start:end])))
    amends_it = amending(new) is not None
    if not amends_it and not (new.cues & {"takes_back", *_CORRECTS} and corrects_slip(new)):
        return ()
    where = Where(
        scopes=actor.scopes([Level.USER]), kinds=frozenset({Kind.LONG_TERM}), live_at=gateway.clock.now(),
        hidden_keys=await gateway.hidden_keys(actor),
    )  # fmt: skip
    latest = [
        one
        for one in await gateway.searcher.store.newest(where, limit=RECENT)
        if one.source.session == message.session and one.author in (None, actor.user)
    ]
    # One that names its topic may be about something mentioned a little earlier.
    for last in latest if new.undisputed.theme else latest[:1]:
        known = frame_of(last)
        if found.between_people and known.stems.isdisjoint(new.stems):
            continue
        if _concerns(known, new) and (takes_back(known, new) or amends(known, new)):
            return _replacing(gateway, message, last, latest, new)
    return ()


def _replacing(
    gateway: MemoryGateway, message: Message, last: Memory, latest: Sequence[Memory], new: Frame
) -> tuple[Candidate, ...]:
    """Return the candidates that take the place of a statement and of the values that were read of its words."""
    span = (0, len(message.content))
    said = last.context if last.key is not None else last.content
    together = [one for one in latest if one is last or said in (one.content, one.context)]
    values = [
        (one, value)
        for one in together
        if one.key is not None and (value := amended_value(one.content, one.source.quote, new)) is not None
    ]
    made = [
        sentence_candidate(
            gateway, message, value, span, content=value, key=one.key, category=one.category, context=message.content
        )
        for one, value in values
    ]
    whole = next((one for one in together if one.key is None), None)
    if whole is not None or not made:
        old = whole or last
        text = message.content.strip()
        made.append(sentence_candidate(gateway, message, text, span, context=old.content, replaces=(old.memory_id,)))
    return tuple(one for one in made if one is not None)


def _concerns(known: Frame, new: Frame) -> bool:
    """Return True unless only a faint word in a longer message connects it with a statement ("it wasn't actually from
    there").
    """
    return not is_faint(new) or len(new.tokens) <= SHORTEST_FAINT or not known.stems.isdisjoint(new.stems)


def _doubtful(message: Message, found: Extraction) -> list[tuple[str, tuple[int, int]]]:
    """Return the left-out sentences in which a word states a change."""
    doubtful = []
    for one in found.skipped:
        if one.reason not in DOUBTFUL or one.span is None or one.key is not None:
            continue
        for start, end in _whole_corrections(message.content, *one.span):
            text = message.content[start:end]
            if one.reason == QUOTED and not said_plainly(text):
                continue
            new = framed(text)
            if len(text) > LONGEST or is_company(text):
                continue
            if _hints(new) and (len(text.split()) >= SHORTEST_WORDS or len(new.stems) >= SHORTEST_STEMS):
                doubtful.append((text, (start, end)))
    return doubtful[:MOST]


def _hints(new: Frame) -> bool:
    """Return True if a sentence may change any earlier statement."""
    if new.turns or new.bears_child or is_bare_denial(new):
        return True
    return recovers(new) or tells_change(new) or leaves_work(new) or tells_frequency(new)


def _whole_corrections(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the sentences between two places; one that only denies something is joined with the next, which has the
    correction.
    """
    found: list[tuple[int, int]] = []
    for first, last in sentences(text[start:end]):
        before = found[-1] if found else None
        if before is not None and framed(text[before[0] : before[1]]).cues & _CORRECTS:
            found[-1] = before[0], start + last
        else:
            found.append((start + first, start + last))
    return found


async def _with_ended(gateway: MemoryGateway, actor: Actor, found: Extraction) -> Extraction:
    """Return `found` with the values that its candidates end without naming them."""
    named = [(one, await naming_ended(gateway, actor, one)) for one in found.candidates]
    if all(one.replaces == names for one, names in named):
        return found
    return replace(found, candidates=tuple(replace(one, replaces=names) for one, names in named))


async def _changes(
    gateway: MemoryGateway, actor: Actor, message: Message, text: str, vector: bytes, *, plainly: bool
) -> bool:
    """Return True if a sentence changes a known memory; `plainly`: only if the change is plain, as between people."""
    searcher = gateway.searcher
    where = Where(
        scopes=actor.scopes([Level.USER]), kinds=frozenset({Kind.LONG_TERM}), live_at=gateway.clock.now(),
        hidden_keys=await gateway.hidden_keys(actor),
    )  # fmt: skip
    space = searcher.embedder.space
    near = await searcher.store.nearest(where, vector, limit=CROWD, space=space)
    known = await searcher.store.get_many([one.memory_id for one in near], scopes=where.scopes)
    new = framed(text)
    # A longer remark that does not mention its speaker is about the world.
    plain = not is_faint(new) and (len(new.tokens) <= SHORTEST_FAINT or speaks_of_self(text))
    for place, one in enumerate(near):
        memory = known.get(one.memory_id)
        if memory is None or memory.author not in (None, actor.user):
            continue
        old = frame_of(memory)
        if plainly and not is_plain_change(old, new):
            continue
        # Of more distant ones, those that name the same thing.
        if place >= NEAR and old.called_stems.isdisjoint(new.called_stems):
            continue
        change = judge(old, new, read(space, one.score), among=len(near))
        # Rules that are certain by themselves need no further agreement.
        if change is not None and (plain or change.probability >= 1 or agree(old, new)):
            one_talk = message.session is not None and message.session == memory.source.session
            if another_frequency(old, new) or takes_back(old, new):
                return True
            if evidence(old, new, change.probability, one_talk=one_talk) >= KEPT_FROM:
                return True
    return False


def sentence_candidate(
    gateway: MemoryGateway, message: Message, text: str, span: tuple[int, int], **given: Any
) -> Candidate | None:
    """Return a sentence of a message as a candidate, with the fields `given`; None if it may not be stored."""
    stated = without_dispute(text)
    fields: dict[str, Any] = {
        "content": stated[0].upper() + stated[1:],
        "category": "fact",
        "confidence": 0.7,
        "source": source_of(message, quote=message.content[slice(*span)], span=span),
        "occurred_at": message.sent_at,
    }
    made = Candidate(**fields | given)
    try:
        return check_candidate(timed(made, text, message.sent_at), gateway.policy, gateway.budget)
    except RunStopped:
        return None


def _within(span: tuple[int, int], whole: tuple[int, int] | None) -> bool:
    return whole is not None and whole[0] <= span[0] and span[1] <= whole[1]
