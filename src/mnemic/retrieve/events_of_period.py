"""Questions for what happened at a time: "What did Ana do last month?", "What happened in October?".

No word of such a question is in its answer, and none resembles it. The answer is the statements of that time: of the
person that the question names, or of everybody. Those memories are one more list, which counts in the keyword list as
if each had all the words of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta

from mnemic.language.comparison import is_about_author
from mnemic.language.questions.time_only import (
    asked_about,
    asks_lately,
    is_about_oneself,
    is_of_asker,
    tells_what_happened,
)
from mnemic.language.text.analyse import terms
from mnemic.ports import Snapshot
from mnemic.retrieve.question import Question
from mnemic.types import Kind, Memory, Scored, Where

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
