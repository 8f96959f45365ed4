"""Questions for a time: about the past, for the events of a period, or for the order of events.

A superseded memory does not answer a question about the present, which never finds it. A question about the past
("Where did I live in March 2026?", "What did I prefer before?") does: it finds facts true at the end of the time that
it names, or, if it only asks for an earlier state, all before the current value.

No word of "What did Ana do last month?" is in its answer, and none resembles it. The answer is the statements of that
time: of the person that the question names, or of everybody. Those memories are one more list, which counts in the
keyword list as if each had all the words of the question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from mnemic.language.comparison import is_about_author
from mnemic.language.questions.times import (
    Clause,
    Side,
    asked_about,
    asks_before,
    asks_lately,
    ends_before,
    is_about_oneself,
    is_of_asker,
    named_date,
    tells_past,
    tells_what_happened,
)
from mnemic.language.text.analyse import terms
from mnemic.ports import Snapshot
from mnemic.retrieve.diversity import Entry, repetitions
from mnemic.retrieve.policy_candidates import PINNED
from mnemic.retrieve.question import Question
from mnemic.types import Hit, Kind, Memory, Scored, Status, Where

THEN = "then"
"""Rank name of the move of facts true then."""
LIFT = 0.2
"""Raise of the score of a memory that was true then: the question is about it, however similar the others are."""


def asks_past(question: Question) -> bool:
    """Return True if the question is about a past state or event: the current value is no better an answer."""
    return tells_past(question.text) or asks_before(question.text)


def past_of(question: Question, where: Where, asked_on: date | None, clause: Clause | None = None) -> Where | None:
    """Return the filter for facts true then, none wider than `where`; None for a question about the present. `clause`
    is the event by which the question gives its time ("before Madrid").
    """
    if where.as_of is not None or Status.ACTIVE not in where.statuses:
        return None
    ended = frozenset({Status.SUPERSEDED})
    last = _last_day(question, asked_on)
    if last is not None and asked_on is not None and last < asked_on and tells_past(question.text):
        moment = datetime.combine(last + timedelta(days=1), time(), UTC) - timedelta(microseconds=1)
        # A fact that was true then and still is answers as well; messages are found by the time of their events.
        kinds = (frozenset(Kind) if where.kinds is None else where.kinds) - {Kind.EPISODIC}
        return replace(where, kinds=kinds, as_of=moment)
    if clause is not None and clause.side is Side.BEFORE and tells_past(question.text):
        return replace(where, statuses=ended)
    return replace(where, statuses=ended) if asks_before(question.text) else None


def _last_day(question: Question, asked_on: date | None) -> date | None:
    """Return the last day of the time that the question names: for a month without its year the latest one that is
    over; "before" ends on the previous day.
    """
    if question.period is not None:
        return question.period.end
    named = question.names_date
    if named is None or asked_on is None:
        return None
    years = (named.year,) if named.year is not None else (asked_on.year, asked_on.year - 1)
    bound = 0 if ends_before(question.text) else 1
    days = [replace(named, year=year).days[bound] for year in years]
    bounds = [day - timedelta(days=1 - bound) for day in days if day is not None]
    return next((day for day in bounds if day < asked_on), None)


def restore_superseded(
    entries: Sequence[Entry], memories: Mapping[str, Memory], past: Where | None = None, before: Sequence[Memory] = ()
) -> list[Entry]:
    """Return `entries`, best first, with every memory that superseded another of them afterwards: it was not true then.
    If `past` asks for one value of a key, the key's other values and their statements come after it, too; `before` are
    values that it had superseded itself.
    """
    scores = {memory_id: score for memory_id, score, _ in entries}
    for memory in memories.values():
        for older in memory.supersedes:
            if memory.memory_id in scores and older in scores and scores[older] <= scores[memory.memory_id]:
                scores[memory.memory_id] = scores[older] * 0.99
    held = None if past is None else value_at(entries, memories, past)
    if held is not None and past is not None:
        for memory_id in _told_otherwise(held, memories, past, before):
            if memory_id in scores:
                scores[memory_id] = min(scores[memory_id], scores[held.memory_id] * 0.99)
    if past is not None and past.as_of is not None:
        _put_later_last(scores, entries, memories, past.as_of)
    moved = [(memory_id, scores[memory_id], reason) for memory_id, _, reason in entries]
    return sorted(moved, key=lambda entry: (entry[2] == PINNED, entry[1]), reverse=True)


def _put_later_last(
    scores: dict[str, float], entries: Sequence[Entry], memories: Mapping[str, Memory], moment: datetime
) -> None:
    """Lower the scores of what began after the time in question, and of the messages that told it, below those of what
    was true then.
    """
    known = [memories[one] for one, _, _ in entries if one in memories]
    later = {one.memory_id for one in known if one.valid_from is not None and one.valid_from > moment}
    later |= {message for message, told in repetitions(known).items() if told in later}
    true = [scores[one.memory_id] for one in known if one.kind is not Kind.EPISODIC and one.was_true_at(moment)]
    for memory_id in later if true else ():
        scores[memory_id] = min(scores[memory_id], min(true) * 0.99)


def value_at(entries: Sequence[Entry], memories: Mapping[str, Memory], past: Where) -> Memory | None:
    """Return the best of `entries` that is a value of a key, valid at the time in question and superseded
    since.
    """
    for memory_id, _, _ in entries:
        memory = memories.get(memory_id)
        if memory is None or memory.key is None or memory.status is not Status.SUPERSEDED:
            continue
        if past.as_of is None or memory.was_true_at(past.as_of):
            return memory
    return None


def _told_otherwise(
    held: Memory, memories: Mapping[str, Memory], past: Where, before: Sequence[Memory]
) -> Iterator[str]:
    """Yield the names of the other values of the key of `held`, and of the statements that gave them."""
    others = [
        one
        for one in (*memories.values(), *before)
        if (one.key, one.scope) == (held.key, held.scope) and one.memory_id != held.memory_id and _is_other(one, past)
    ]
    yield from (one.memory_id for one in others)
    moments = {one.happened_at for one in others} | {held.valid_to}
    for one in memories.values():
        if one.key is None and one.happened_at in moments - {held.happened_at} and one.author == held.author:
            yield one.memory_id


def _is_other(memory: Memory, past: Where) -> bool:
    """Return True if the value was not true at the time in question; without one, if it is the value of today."""
    return memory.status is Status.ACTIVE if past.as_of is None else not memory.was_true_at(past.as_of)


_READ = 2_000
"""Characters of a question that are read."""
_ASKS_ORDER = re.compile(
    r"\bin (?:what|which) (?:\w{1,20} )?order\b|\bthe (?:right|correct|exact) order\b|\border (?:of events|in which)\b"
    r"|\bchronolog\w{1,20}|\btimeline\b|\bsequence of events\b|\bfrom (?:the )?(?:first|earliest|oldest) to\b"
    r"|\bover (?:time|the (?:weeks|months|years))\b"
    r"|\b(?:which|what|who)\b.{1,80}\b(?:(?:first|earlier|earliest)\b|last\s?[?.!])"
    r"|\b(?:did|was|were|had)\b.{1,80}\b(?:before or after|earlier or later|before|after) (?:I|my|we|our|the)\b",
    re.IGNORECASE,
)


def asks_order(query: str) -> bool:
    """Return True if the answer needs the order of several events."""
    return _ASKS_ORDER.search(query[:_READ]) is not None


def in_time_order(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the pinned ones unchanged, followed by the others, the earliest first."""
    pinned = (hit for hit in hits if hit.pinned)
    rest = sorted((hit for hit in hits if not hit.pinned), key=lambda hit: (_told_of(hit.memory), hit.memory.memory_id))
    return (*pinned, *rest)


def _told_of(memory: Memory) -> datetime:
    """Return the time of a memory's event: the date in its words, else when it happened or was said."""
    if memory.occurred_at is None and (named := named_date(memory.content[:_READ])) is not None:
        first, _ = named.days
        if first is not None:
            return datetime.combine(first, time(), UTC)
    return memory.happened_at


PERIOD = "period"
"""Name of the list among the ranks."""
FULL_WORD = 4.0
"""BM25 points for each word of the question: the most that relevance reads (`mnemic.retrieve.message_relevance`)."""

LATELY = timedelta(days=30)


def asks_for_events(question: Question) -> bool:
    """Return True if the question gives a time that has begun, and asks only for the events of that time."""
    return _days(question) is not None and asked_about(question.text) is not None


async def by_period(snapshot: Snapshot, where: Where, question: Question) -> Sequence[Scored]:
    """Return the statements of the time, by or about those that the question names, the newest first, each with the
    same score.
    """
    days, about = _days(question), asked_about(question.text)
    if days is None or about is None:
        return ()
    begin, end = (datetime.combine(day, time(), UTC) for day in (days[0], days[1] + timedelta(days=1)))
    within = replace(
        where,
        happened_from=max(begin, where.happened_from or begin),
        happened_to=min(end, where.happened_to or end),
    )
    stated = await snapshot.recent(within, limit=question.depth)
    memories = await snapshot.get_many([one.memory_id for one in stated], scopes=where.scopes)
    score = FULL_WORD * max(1, question.words)
    chosen = (one.memory_id for one in stated if one.memory_id in memories)
    return [Scored(one, score) for one in chosen if _answers(memories[one], question, about)]


def _answers(memory: Memory, question: Question, about: frozenset[str]) -> bool:
    """Return True if the memory is about an event, and is by or about everybody that the question names."""
    if not tells_what_happened(memory.content) or memory.content.rstrip().endswith("?"):
        return False
    if is_of_asker(question.text) and not _is_own(memory):
        return False
    speaker = memory.source.speaker
    said_by = frozenset(terms(speaker)) if speaker else frozenset[str]()
    if question.speakers and speaker in question.speakers:
        return about <= said_by | frozenset(terms(memory.content))
    return about <= frozenset(terms(memory.content))


def _is_own(memory: Memory) -> bool:
    """Return True if the user speaks about themselves."""
    if memory.kind is not Kind.LONG_TERM:
        return memory.source.speaker in (None, "", "user")
    return is_about_author(memory.content) or is_about_oneself(memory.content)


def _days(question: Question) -> tuple[date, date] | None:
    """Return the first and last day of the time that the question names, of a month without its year the latest that
    has begun; None without a time.
    """
    if question.period is not None:
        return question.period.begin, question.period.end
    named, asked_on = question.names_date, question.asked_on
    if asked_on is None:
        return None
    if named is None:
        return (asked_on - LATELY, asked_on) if asks_lately(question.text) else None
    years = (named.year,) if named.year is not None else (asked_on.year, asked_on.year - 1)
    for year in years:
        first, last = replace(named, year=year).days
        if first is not None and last is not None and first <= asked_on:
            return first, last
    return None
