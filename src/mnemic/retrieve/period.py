"""The time that a query tells by the day it is asked on: "two weeks ago", "last spring", "over the past month".

English, whole days, the northern hemisphere's seasons. What is read only lifts what was told then; nothing is cut off,
so a loose reading costs little: "a month ago" is half a month around that day.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from mnemic.text.english import COUNTS, WEEKDAYS
from mnemic.text.pattern import Pattern

_COUNTS = COUNTS | {"couple": 2, "few": 3}
_NUMBER = rf"(?:a )?(\d{{1,3}}|{'|'.join(_COUNTS)})(?: of)?"
_UNIT = r"(day|week|weekend|month|year)s?"
_DAYS_OF = {"day": 1, "week": 7, "weekend": 7, "month": 30.44, "year": 365.25}
_AROUND = {"day": 1, "week": 4, "weekend": 3, "month": 16, "year": 122}
"""How many days before and after "so many of them ago" is still meant."""
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
READ = 1000
"""Characters of a query that are read for what it asks: what is longer is a text, whose times are its own."""
LONGEST_SLACK = 10


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `begin` to `end`, both included."""

    begin: date
    end: date

    def told_on(self, said_on: date) -> bool:
        """Return True if something of this time may have been told on `said_on`: in it, or as long after as it lasted,
        ten days at most.
        """
        slack = min(LONGEST_SLACK, (self.end - self.begin).days + 1)
        return self.begin <= said_on <= self.end + timedelta(days=slack)


def period_of(query: str, asked_on: date) -> Period | None:
    """The time that `query` tells, by the day it is asked on; None where it tells none, or one out of the calendar."""
    for pattern, reading in _READINGS:
        found = pattern.search(query, 0, READ)
        if found:
            try:
                return reading(found, asked_on)
            except (ValueError, OverflowError):
                return None
    return None


def _ago(found: re.Match[str], today: date) -> Period:
    unit = found[2].lower()
    day = today - timedelta(days=_count(found[1]) * _DAYS_OF[unit])
    around = timedelta(days=_AROUND[unit])
    return Period(day - around, min(today, day + around))


def _past(found: re.Match[str], today: date) -> Period:
    return Period(today - timedelta(days=_count(found[1]) * _DAYS_OF[found[2].lower()]), today)


def _count(said: str) -> int:
    return _COUNTS.get(said.lower()) or int(said)


def _unit(found: re.Match[str], today: date) -> Period:
    """The week, month or year that is, or the one before it."""
    unit = found[2].lower()
    if unit in ("week", "weekend"):
        begin, length = today - timedelta(days=today.weekday()), timedelta(days=6)
        begin -= timedelta(days=7) if found[1].lower() != "this" else timedelta()
        return Period(begin + timedelta(days=4 if unit == "weekend" else 0), begin + length)
    if unit == "day":
        return Period(today - timedelta(days=1), today)
    begin = today.replace(day=1) if unit == "month" else date(today.year, 1, 1)
    if found[1].lower() == "this":
        return Period(begin, today)
    end = begin - timedelta(days=1)
    return Period(end.replace(day=1) if unit == "month" else date(end.year, 1, 1), end)


def _season(found: re.Match[str], today: date) -> Period:
    """The season of the year that is named, or the latest that has begun; "last" one that is over."""
    month = _SEASONS[found[2].lower()]
    year = int(found[3]) if found[3] else today.year
    begin = date(year, month, 1)
    end = _end_of_season(begin)
    if not found[3]:
        over = (found[1] or "").lower() in ("last", "past", "previous")
        while begin > today or (over and end >= today):
            begin = date(begin.year - 1, month, 1)
            end = _end_of_season(begin)
    return Period(begin, end)


def _end_of_season(begin: date) -> date:
    after = date(begin.year + (begin.month + 3 > 12), (begin.month + 2) % 12 + 1, 1)
    return after - timedelta(days=1)


def _weekday(found: re.Match[str], today: date) -> Period:
    back = (today.weekday() - WEEKDAYS.index(found[1].lower()) - 1) % 7 + 1
    return Period(today - timedelta(days=back), today - timedelta(days=back))


def _near(found: re.Match[str], today: date) -> Period:
    day = today - timedelta(days=2 if "before" in found[0].lower() else 1)
    return Period(day, day)


def _pattern(text: str) -> Pattern:
    return Pattern(rf"\b{text}\b".replace(" ", r"\s+"), re.IGNORECASE)


_READINGS: tuple[tuple[Pattern, Callable[[re.Match[str], date], Period]], ...] = (
    (_pattern(rf"{_NUMBER} {_UNIT} ago"), _ago),
    (_pattern(rf"(?:last|past|previous) {_NUMBER} {_UNIT}"), _past),
    (_pattern(rf"(last|this|past|previous|in|in the|during the) ({'|'.join(_SEASONS)})(?: of (\d{{4}}))?"), _season),
    (_pattern(r"(last|this|past|previous) (week|weekend|month|year|day)"), _unit),
    (_pattern(rf"last ({'|'.join(WEEKDAYS)})"), _weekday),
    (_pattern(r"(?:the day before )?(?:yesterday|last night)"), _near),
)
