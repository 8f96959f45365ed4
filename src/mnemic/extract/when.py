"""Times that a statement tells relative to its message: "since last March", "two weeks ago", "until Friday".

Only what has one reading is resolved, to whole days of UTC, by the day the message was sent. "On Friday" may be either
Friday; "next Friday", said on a Wednesday, may be this week's or the next one's; "last week" is no day: they are left
alone, and so is a statement that names two times.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from mnemic.text.english import COUNTS, MONTHS, WEEKDAYS
from mnemic.text.pattern import Pattern
from mnemic.types import Candidate

_WEEKDAY, _MONTH = "|".join(WEEKDAYS), "|".join(MONTHS[1:])
_NUMBER = rf"(\d{{1,3}}|{'|'.join(COUNTS)})"
_WILL = (
    r"(?:\b(?:will|won't|shall)\b|'ll\b)[^.,;:!?]{0,60}?|"
    r"(?:\b(?:am|is|are)|'(?:m|s|re))(?: due| \w{2,20}ing\b[^.,;:!?]{0,60}?)?"
)
"""What makes "in three weeks" a day to come; "I read it in two days" tells how long it took."""

Reading = Callable[[re.Match[str], date], date | None]


class Times(NamedTuple):
    """What a statement tells of its time; None where it tells nothing or leaves it open."""

    valid_from: datetime | None = None
    valid_to: datetime | None = None
    occurred_at: datetime | None = None


def timed(candidate: Candidate, text: str, said_at: datetime | None) -> Candidate:
    """`candidate` with the times that `text`, the words it was taken from, tells. Those it has already stay; under a
    key the time of the message stays that of the telling.
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
    """The times of `text`, said at `said_at`.

    "Since" and its like give `valid_from`, if that is not in the future; "until" a day gives `valid_to`, the end of
    that day, if it is not in the past. A day by itself gives `occurred_at`. What lies out of the calendar is no time.
    """
    bounds = list(_BOUND.finditer(text))
    if len(bounds) > 1:
        return Times()
    rest = _BOUND.sub(" ", text)
    days = [(found, reading) for pattern, reading in _POINTS for found in pattern.finditer(rest)]
    if len(bounds) + len(days) != 1:
        return Times()
    today = said_at.astimezone(UTC).date()
    try:
        return _bounded(bounds[0], today) if bounds else _happened(*days[0], today)
    except (ValueError, OverflowError):
        return Times()


def _happened(found: re.Match[str], reading: Reading, today: date) -> Times:
    day = reading(found, today)
    return Times() if day is None else Times(occurred_at=_midnight(day))


def _bounded(bound: re.Match[str], today: date) -> Times:
    point = bound["point"]
    if bound["until"]:
        day = _day(point, today) or _coming(point, today)
        return Times() if day is None or day < today else Times(valid_to=_midnight(day + timedelta(days=1)))
    day = _start(point, today)
    return Times() if day is None or day > today else Times(valid_from=_midnight(day))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)


# -- days -------------------------------------------------------------------------------------------------------------


def _day(text: str, today: date) -> date | None:
    """The one day that a point in time is, or None."""
    for pattern, reading in _POINTS:
        found = pattern.search(text)
        if found:
            return reading(found, today)
    return None


def _iso(found: re.Match[str], _: date) -> date:
    return date(int(found[1]), int(found[2]), int(found[3]))


def _named(found: re.Match[str], _: date) -> date:
    day, month = (found[1], found[2]) if found[1] else (found[4], found[3])
    return date(int(found[5]), MONTHS.index(month.lower()), int(day))


def _near(found: re.Match[str], today: date) -> date:
    return today + timedelta(days=_NEAR[" ".join(found[0].lower().split())])


def _ago(found: re.Match[str], today: date) -> date:
    return today - _counted(found)


def _ahead(found: re.Match[str], today: date) -> date:
    return today + _counted(found)


def _counted(found: re.Match[str]) -> timedelta:
    """So many days or weeks: "two weeks", "3 days"."""
    count = COUNTS.get(found[1].lower()) or int(found[1])
    return timedelta(days=count * (7 if found[2].lower().startswith("week") else 1))


def _weekday(found: re.Match[str], today: date) -> date | None:
    """Last or next Friday, where the nearest one lies in another week (Monday to Sunday) than today: then it is that of
    the last or the next week too.
    """
    wanted = WEEKDAYS.index(found[2].lower())
    if found[1].lower() == "next":
        day = today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1)
    else:
        day = today - timedelta(days=(today.weekday() - wanted - 1) % 7 + 1)
    return day if day.isocalendar()[:2] != today.isocalendar()[:2] else None


_NEAR = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "this morning": 0,
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_POINTS: tuple[tuple[Pattern, Reading], ...] = (
    (Pattern(r"\b(\d{4})-(\d{2})-(\d{2})\b"), _iso),
    (
        Pattern(
            rf"(?i)\b(?:(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})|({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?),?"
            r" (\d{4})\b"
        ),
        _named,
    ),
    (Pattern(rf"(?i)\b(?:{'|'.join(_NEAR)})\b".replace(" ", r"\s+")), _near),
    (Pattern(rf"(?i)\b{_NUMBER} (days?|weeks?) ago\b"), _ago),
    (Pattern(rf"(?i)(?:{_WILL}) in {_NUMBER} (days?|weeks?)\b(?! ago)"), _ahead),
    (Pattern(rf"(?i)\b(last|next) ({_WEEKDAY})\b"), _weekday),
)

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
    """The first day of what "since" names: the latest one of that name that has begun."""
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
    """The day that "until Friday" means: the next of that name, today included."""
    low = point.lower()
    return today + timedelta(days=(WEEKDAYS.index(low) - today.weekday()) % 7) if low in WEEKDAYS else None
