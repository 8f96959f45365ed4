"""Times that a statement gives: "since May 2026", and relative to its message "two weeks ago", "until Friday".

An expression is used that `mnemic.language.text.time_expressions` resolves to exactly one day, given the day of the
message; of a change also a longer period ("I moved last week"), represented by its first or likeliest day. "Next
Friday", said on a Wednesday, may be this week's or next week's and is ignored, and so is a statement with two times.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from mnemic.language.sentences.later_words import tells_end
from mnemic.language.text.pattern import Pattern
from mnemic.language.text.time_bounds import BOUND, beginning, ending
from mnemic.language.text.time_expressions import Period, periods_in_english
from mnemic.language.text.time_words import in_english
from mnemic.types import Candidate, Kind, Origin

_SLIP = Pattern(
    r"\b(?:typos?|misspel\w{2,4}|misspoke|mistyped|slip of the (?:pen|tongue)|tippfehler|schreibfehler|vertippt"
    r"|verschrieben|faute de frappe|coquille|errata|error (?:de tecleo|tipográfico)|refuso|errore di battitura|gralha"
    r"|erro de (?:digitação|escrita)|(?:tik|type|schrijf)fout|verschreven)\b",
    re.IGNORECASE,
)


_BEGAN = Pattern(
    r"\b(?:started|joined|became|began|moved|changed|switched|replaced|took over|upgraded|promoted"
    r"|angefangen|begonnen|commencé|entrée? (?:chez|à)|empecé|empezado"
    r"|déménagée?|mudad[oa]|mudé|mudei|trasferit[oa]|cambiad[oa]|gewechselt|iniziato|cominciato|comecei|begonnen|(?:um|aus|ein)?gezogen|verhuisd)\b",
    re.IGNORECASE,
)
"""Matches the beginning of something that lasts."""


LONGEST_STATEMENT = 400
"""Characters of a statement; a longer text tells of several things, and its times belong to none of them alone."""
_ANOTHER_DAY = timedelta(days=400)


class StatementTimes(NamedTuple):
    """Times that a statement gives; None for a time that it does not give or leaves ambiguous."""

    valid_from: datetime | None = None
    valid_to: datetime | None = None
    occurred_at: datetime | None = None


def timed(candidate: Candidate, text: str, said_at: datetime | None) -> Candidate:
    """Return `candidate` with the times that `text`, its source, gives. Times that it already has remain; for a keyed
    value the time of the message remains the time of the statement, and the day of a change is its beginning.
    """
    return candidate if said_at is None else _with(candidate, times_in(text, said_at), text)


def dated(candidate: Candidate, now: datetime) -> Candidate:
    """Return a candidate with the times that its words give, counted from `now` if it is of the present. Times that it
    already has remain; an end that its words give lies after its beginning.
    """
    said_at, quote = candidate.occurred_at, candidate.source.quote
    # Words of a message whose time is known were read with it, in its own zone.
    if candidate.kind is not Kind.LONG_TERM or (quote is not None and said_at is not None):
        return candidate
    text = quote or candidate.content
    if len(text) > LONGEST_STATEMENT:
        return candidate
    found = times_in(text, said_at or now)
    # What is imported without a time was said on an unknown day: only times that are the same from any day are known.
    old = said_at is None and candidate.source.origin is Origin.IMPORT
    if found == StatementTimes() or (old and found != times_in(text, now + _ANOTHER_DAY)):
        return candidate
    made = _with(candidate, found, text)
    if quote is None and said_at is not None:
        made = replace(made, occurred_at=said_at)
    begun = made.valid_from or made.occurred_at or now
    ends = made.valid_to is None or made.valid_to > begun
    return made if ends else replace(made, valid_to=candidate.valid_to)


def _with(candidate: Candidate, found: StatementTimes, text: str) -> Candidate:
    # A keyed value is about the present, so a day in its sentence is the beginning of the value, not its event.
    begins = found.occurred_at if candidate.key is not None and _tells_change(text) else None
    return replace(
        candidate,
        valid_from=candidate.valid_from or found.valid_from or begins,
        valid_to=candidate.valid_to or found.valid_to,
        occurred_at=found.occurred_at if found.occurred_at and candidate.key is None else candidate.occurred_at,
    )


def times_in(text: str, said_at: datetime) -> StatementTimes:
    """Return the times of `text`, written at `said_at`.

    "Since" and its synonyms set `valid_from`, unless that is in the future; "until" sets `valid_to` to the end of the
    day, unless that is in the past. A plain day sets `occurred_at`, unless it is that of a slip of the pen: "a typo
    yesterday" is the time of speaking, not the beginning of a truth. A change at a time of more days ("last week") sets
    `valid_from`. A date outside the calendar is ignored.
    """
    slip, said = _SLIP.search(text) is not None, text
    text = in_english(text)
    bounds = list(BOUND.finditer(text))
    # Two bounds may belong to two clauses, which patterns cannot tell; no time is better than a wrong one.
    if len(bounds) > 1:
        return StatementTimes()
    # In the zone of the message: a day in words is a day of the speaker.
    today = said_at.date()
    periods = list(periods_in_english(BOUND.sub(" ", text) if bounds else text, today))
    # With two days it is unknown which of them the statement is about.
    days = [period.day for period in periods if period.day is not None]
    if len(bounds) + len(days) != 1 or (slip and not bounds):
        return StatementTimes() if slip or bounds or len(periods) != 1 else _lasting(periods[0], said, today)
    try:
        return _bounded(bounds[0], today) if bounds else StatementTimes(occurred_at=_midnight(days[0]))
    # Such as 31 February, or a year beyond the calendar.
    except (ValueError, OverflowError):
        return StatementTimes()


def _lasting(period: Period, text: str, today: date) -> StatementTimes:
    """Return the beginning of the state after a change at this time, which is no single day."""
    # A week in the future is a plan; a period without a change dates an event, not the beginning of a state.
    if period.since > today or not _tells_change(text):
        return StatementTimes()
    return StatementTimes(valid_from=_midnight(period.since))


def _tells_change(text: str) -> bool:
    return tells_end(text) or _BEGAN.search(text) is not None


def _bounded(bound: re.Match[str], today: date) -> StatementTimes:
    point = bound["point"]
    if bound["until"]:
        day = ending(point, today)
        return (
            StatementTimes()
            if day is None or day < today
            # The day itself is included, so the bound is the following midnight.
            else StatementTimes(valid_to=_midnight(day + timedelta(days=1)))
        )
    day = beginning(point, today)
    return StatementTimes() if day is None or day > today else StatementTimes(valid_from=_midnight(day))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
