"""Times that a statement gives relative to its message: "since last March", "two weeks ago", "until Friday".

Only an expression that `mnemic_language.text.times` resolves to exactly one day, given the day of the message, is used.
"Next Friday", said on a Wednesday, may be this week's or next week's, and "last week" is not a day: such expressions
are ignored, and so is a statement with two days.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from mnemic.types import Candidate
from mnemic_language.text.english import MONTHS, WEEKDAYS
from mnemic_language.text.pattern import Pattern
from mnemic_language.text.time_words import in_english
from mnemic_language.text.times import periods_in

_WEEKDAY, _MONTH = "|".join(WEEKDAYS), "|".join(MONTHS[1:])
_SLIP = Pattern(
    r"\b(?:typos?|misspel\w{2,4}|misspoke|mistyped|slip of the (?:pen|tongue)|tippfehler|schreibfehler|vertippt"
    r"|verschrieben|faute de frappe|coquille|errata|error (?:de tecleo|tipográfico)|refuso|errore di battitura|gralha"
    r"|erro de (?:digitação|escrita)|(?:tik|type|schrijf)fout|verschreven)\b",
    re.IGNORECASE,
)


class Times(NamedTuple):
    """Times that a statement gives; None for a time that it does not give or leaves ambiguous."""

    valid_from: datetime | None = None
    valid_to: datetime | None = None
    occurred_at: datetime | None = None


def timed(candidate: Candidate, text: str, said_at: datetime | None) -> Candidate:
    """Return `candidate` with the times that `text`, its source, gives. Times that it already has are kept; for a keyed
    value the time of the message remains the time of the statement.
    """
    if said_at is None:
        return candidate
    found = times_in(text, said_at)
    return replace(
        candidate,
        valid_from=candidate.valid_from or found.valid_from,
        valid_to=candidate.valid_to or found.valid_to,
        occurred_at=found.occurred_at if found.occurred_at and candidate.key is None else candidate.occurred_at,
    )


def times_in(text: str, said_at: datetime) -> Times:
    """Return the times of `text`, written at `said_at`.

    "Since" and its synonyms set `valid_from`, unless that is in the future; "until" sets `valid_to` to the end of the
    day, unless that is in the past. A plain day sets `occurred_at`, unless it is that of a slip of the pen: "a typo
    yesterday" tells when something was said, not since when it is true. A date outside the calendar is ignored.
    """
    slip = _SLIP.search(text) is not None
    text = in_english(text)
    bounds = list(_BOUND.finditer(text))
    if len(bounds) > 1:
        return Times()
    today = said_at.astimezone(UTC).date()
    days = [period.day for period in periods_in(_BOUND.sub(" ", text), today) if period.day is not None]
    if len(bounds) + len(days) != 1 or (slip and not bounds):
        return Times()
    try:
        return _bounded(bounds[0], today) if bounds else Times(occurred_at=_midnight(days[0]))
    except (ValueError, OverflowError):
        return Times()


def _bounded(bound: re.Match[str], today: date) -> Times:
    point = bound["point"]
    if bound["until"]:
        day = _day(point, today) or _coming(point, today)
        return Times() if day is None or day < today else Times(valid_to=_midnight(day + timedelta(days=1)))
    day = _start(point, today)
    return Times() if day is None or day > today else Times(valid_from=_midnight(day))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


def _day(text: str, today: date) -> date | None:
    """Return the one day that a point in time is, or None."""
    return next((period.day for period in periods_in(text, today) if period.day is not None), None)


# -- beginnings and ends ----------------------------------------------------------------------------------------------

_BOUND = Pattern(
    rf"""(?ix)\b
    (?:(?P<since>since|as\ of|starting(?:\ from|\ on)?|ever\ since)|(?P<until>until|till))\s+
    (?P<point>
        \d{{4}}-\d{{2}}-\d{{2}}
        | (?:\d{{1,2}}(?:st|nd|rd|th)?(?:\ of)?\ (?:{_MONTH})|(?:{_MONTH})\ \d{{1,2}}(?:st|nd|rd|th)?),?\ \d{{4}}
        | (?:last\ |the\ (?:end|beginning)\ of\ |early\ |late\ )?(?:{_MONTH})(?:,?\ \d{{4}})?
        | (?:last|next)\ (?:{_WEEKDAY}|week|month|year)
        | {_WEEKDAY} | yesterday | today | tomorrow | (?:19|20)\d{{2}}
    )\b(?!\ ?\d)"""
)


def _start(point: str, today: date) -> date | None:
    """Return the first day of the period that "since" names: the latest one of that name that has begun."""
    low = " ".join(point.lower().replace(",", "").split())
    words = low.split()
    if re.fullmatch(r"\d{4}", low):
        return date(int(low), 1, 1)
    if words[-1] in ("week", "month", "year"):
        return _last_began(words[-1], today) if words[0] == "last" else None
    if words[-1] in WEEKDAYS:
        return None if words[0] == "next" else today - timedelta(days=(today.weekday() - WEEKDAYS.index(words[-1])) % 7)
    if words[0] == "last" and words[-1] in MONTHS:
        return _month_before(MONTHS.index(words[-1]), today)
    if words[0] in MONTHS and len(words) == 2:
        return date(int(words[1]), MONTHS.index(words[0]), 1)
    if words[0] in MONTHS and len(words) == 1:
        month = MONTHS.index(words[0])
        return date(today.year if month <= today.month else today.year - 1, month, 1)
    return _day(point, today)


def _last_began(unit: str, today: date) -> date:
    if unit == "week":
        return today - timedelta(days=today.weekday() + 7)
    if unit == "year":
        return date(today.year - 1, 1, 1)
    return (today.replace(day=1) - timedelta(days=1)).replace(day=1)


def _month_before(month: int, today: date) -> date:
    return date(today.year if month < today.month else today.year - 1, month, 1)


def _coming(point: str, today: date) -> date | None:
    """Return the day that "until Friday" means: the next of that name, today included."""
    low = point.lower()
    return today + timedelta(days=(WEEKDAYS.index(low) - today.weekday()) % 7) if low in WEEKDAYS else None
