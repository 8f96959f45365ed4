"""Beginnings and ends in a statement, in the parser's English: "since last March", "until Friday"."""

from __future__ import annotations

import re
from datetime import date, timedelta

from mnemic.language.text.pattern import Pattern
from mnemic.language.text.time_expressions import DAY_OF_MONTH, day_of_month, nearest_day, periods_in
from mnemic.language.text.time_words import MONTHS, WEEKDAYS

_WEEKDAY, _MONTH = "|".join(WEEKDAYS), "|".join(MONTHS[1:])

BOUND = Pattern(
    rf"""(?ix)\b
    (?:(?P<since>since|as\ of|starting(?:\ from|\ on)?|ever\ since)|(?P<until>until|till))\s+
    (?P<point>
        \d{{4}}[-/]\d{{2}}[-/]\d{{2}}
        | (?:the\ )?(?:\d{{1,2}}(?:st|nd|rd|th)?(?:\ of)?\ (?:{_MONTH})|(?:{_MONTH})\ \d{{1,2}}(?:st|nd|rd|th)?)
          (?:,?\ \d{{4}})?
        | (?:last\ |the\ (?:end|beginning)\ of\ |early\ |late\ )?(?:{_MONTH})(?:,?\ \d{{4}})?
        | (?:last|next)\ (?:{_WEEKDAY}|week|month|year)
        | {_WEEKDAY} | yesterday | today | tomorrow | (?:19|20)\d{{2}}
    )\b(?!\ ?\d)"""
)


_DAY_OF_MONTH = Pattern(rf"(?i)(?:the )?{DAY_OF_MONTH}")


def beginning(point: str, today: date) -> date | None:
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
    if words[0] in MONTHS and len(words) == 2 and len(words[1]) == 4 and words[1].isdigit():
        return date(int(words[1]), MONTHS.index(words[0]), 1)
    if words[0] in MONTHS and len(words) == 1:
        month = MONTHS.index(words[0])
        return date(today.year if month <= today.month else today.year - 1, month, 1)
    return _day(point, today, before=True)


def _last_began(unit: str, today: date) -> date:
    if unit == "week":
        return today - timedelta(days=today.weekday() + 7)
    if unit == "year":
        return date(today.year - 1, 1, 1)
    return (today.replace(day=1) - timedelta(days=1)).replace(day=1)


def _month_before(month: int, today: date) -> date:
    return date(today.year if month < today.month else today.year - 1, month, 1)


def coming(point: str, today: date) -> date | None:
    """Return the day that "until Friday" means: the next of that name, including today."""
    low = point.lower()
    return today + timedelta(days=(WEEKDAYS.index(low) - today.weekday()) % 7) if low in WEEKDAYS else None


def _day(text: str, today: date, *, before: bool) -> date | None:
    """Return the day of a point in time if it is a single one, or None. Without a year it is the last one of that name
    `before` today, or the next.
    """
    if (named := _DAY_OF_MONTH.fullmatch(text)) is not None:
        return nearest_day(*day_of_month(named), today, before=before)
    return next((period.day for period in periods_in(text, today) if period.day is not None), None)


def ending(point: str, today: date) -> date | None:
    """Return the last day that "until" names, or None."""
    return _day(point, today, before=False) or coming(point, today)
