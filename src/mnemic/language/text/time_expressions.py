"""Temporal parsing, the same for statements and questions: "two weeks ago", "last spring", "on Monday", "3 March 2025".

English, whole days of UTC, the northern hemisphere's seasons. A statement takes the exact day (`Period.day`), if there
is one; a question takes the days around it, because it only boosts memories of that time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, timedelta

from mnemic.language.text.pattern import Pattern
from mnemic.language.text.time_words import COUNTS, MONTHS, WEEKDAYS, in_english

READ = 1000
"""Number of characters of a query that are parsed; a longer text is not a question about times."""
LONGEST_SLACK = 10
_TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
_EXACT = COUNTS | dict(zip(_TEENS.split(), range(13, 21), strict=True)) | {"dozen": 12}
_VAGUE = {"couple": 2, "few": 3, "several": 4}
_NUMBER = rf"(?:a )?(\d{{1,3}}|{'|'.join([*_EXACT, *_VAGUE])})(?: of)?"
_UNIT = r"(minute|hour|day|fortnight|week|weekend|month|year|decade)s?"
_DAYS_OF = {
    "minute": 0.0, "hour": 0.0, "day": 1, "fortnight": 14, "week": 7, "weekend": 7, "month": 30.44, "year": 365.25,
    "decade": 3652.5,
}  # fmt: skip
_AROUND = {
    "minute": 0, "hour": 1, "day": 1, "fortnight": 4, "week": 4, "weekend": 3, "month": 16, "year": 122, "decade": 730,
}  # fmt: skip
"""Tolerance in days before and after "so many of them ago"."""
_COUNTED = frozenset({"day", "fortnight", "week"})
"""Units for which a number of them before today is one exact day."""
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_NEAR = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_WEEKDAY, _MONTH = "|".join(WEEKDAYS), "|".join(MONTHS[1:])
_WILL = (
    r"(?:\b(?:will|won't|shall)\b|'ll\b)[^.,;:!?]{0,60}?|"
    r"(?:\b(?:am|is|are)|'(?:m|s|re))(?: due| \w{2,20}ing\b[^.,;:!?]{0,60}?)?"
)
"""Words that make "in three weeks" a future day; "I read it in two days" gives a duration."""
_FUTURE = Pattern(
    r"\b(?:will|won't|shall|going to|next|tomorrow|upcoming|werden?|wird|je vais|on va|nous allons|voy a|vamos a|vou"
    r"|vai|zal|zullen)\b|'ll\b",
    re.IGNORECASE,
)
_OVER = Pattern(
    r"\b(?:was|were|had|did|went|saw|met|got|came|took|made|bought|ate|flew|drove|ran|left|lost|won|began|\w{2,18}ed"
    r"|broke|brought|built|burnt|caught|chose|drank|drew|fell|felt|fought|forgot|found|froze|gave|grew|heard|held|hid"
    r"|kept|knew|learnt|lent|meant|rang|rode|sang|sank|sat|sent|shook|slept|sold|spent|spoke|stole|stood|swam|swore"
    r"|taught|thought|threw|told|tore|understood|woke|wore|wrote"
    r"|war|waren|hatten?|wurden?|était|fue|fui|foi|(?:habe|hat|haben|bin|ist|sind)\b.{1,60}\b(?:ge\w{2,20}(?:t|en)"
    r"|\w{2,20}ge\w{2,20}(?:t|en)|\w{3,20}iert)|(?:j'ai|avons|avez|ont|je suis|sommes)"
    r" \w{1,20}(?:é|ée|és|ées|i|u|is|it)|(?:vi|hice|fiz|fui|fue|tuve|tive|estuve|estive|comí|comi"
    r"|bebí|bebi|\w{2,18}(?:(?<![aei]r)é|ió|(?<![aei]r)ei))"
    r"|(?:he|hemos|han|me he|nos hemos) \w{2,20}(?:ado|ido|to|cho)|(?:ho|abbiamo|sono|siamo) \w{2,20}[ts][oaie]"
    r"|(?!(?:aqu|all|ah|as)í\b)\w{2,18}í|(?:vend|perd|receb|escrev|conhec|esquec|morr|nasc)eu|\w{2,18}(?:iu|[bdgmprstvx]ou)"
    r"|parti|vendi|perdi|dormi|recebi|escrevi|conheci|esqueci|decidi|descobri"
    r"|mudei|mudou|comprei|comecei|\w{3,18}(?:ámos|aram)|(?:heb|heeft|hebben|ben)\b.{1,60}\b(?:ge\w{2,20}|ver\w{2,20}(?:d|t|en)))\b",
    re.IGNORECASE,
)


_SOON = timedelta(days=31)
_BORN = Pattern(r"\b(?:born|geboren|née?s?|nac(?:í|ió|ido|ida)|nat[oaie]|nasc(?:i|eu|ido|ida))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `begin` to `end`, both included; `day` is the exact day, None if several are possible, and `likely`
    the likeliest of these ("two months ago"), None if no day is likelier than the others ("last month").
    """

    begin: date
    end: date
    day: date | None = field(default=None, compare=False)
    likely: date | None = field(default=None, compare=False)

    @property
    def since(self) -> date:
        """Start day of something that began at this time: the likeliest, else the first."""
        return self.day or self.likely or self.begin

    def may_be_said_on(self, said_on: date) -> bool:
        """Return True if an event of this time may have been mentioned on `said_on`: during it, or within its length
        after it, ten days at most.
        """
        slack = min(LONGEST_SLACK, (self.end - self.begin).days + 1)
        return self.begin <= said_on <= self.end + timedelta(days=slack)


def periods_in(text: str, today: date, *, dated: bool = True) -> Iterator[Period]:
    """Yield the times in `text`, relative to the day it was written; each part of it is read once. Days outside the
    calendar are omitted, and so are dates ("3 March 2025") unless `dated`.
    """
    return periods_in_english(in_english(text), today, dated=dated)


def periods_in_english(text: str, today: date, *, dated: bool = True) -> Iterator[Period]:
    """Yield the times of a text whose times are in English, as `periods_in`."""
    taken: list[tuple[int, int]] = []
    for pattern, reading in _READINGS:
        if reading in (_named_period, _past_day, _month) and not dated:
            continue
        for found in pattern.finditer(text):
            if any(found.start() < end and start < found.end() for start, end in taken):
                continue
            try:
                period = reading(found, today)
            except (ValueError, OverflowError):
                period = None
            taken.append(found.span())
            if period is not None:
                yield period


def period_of(query: str, asked_on: date) -> Period | None:
    """Return the time in question in `query`, relative to the day it is asked on; None if it has none, or only a future
    one. Dates are read separately (`mnemic.retrieve.question.named_date`), since a question may omit their day or year.
    """
    found = periods_in(query[:READ], asked_on, dated=False)
    return next((one for one in found if one.begin <= asked_on), None)


# -- days -------------------------------------------------------------------------------------------------------------


def _day_period(day: date) -> Period:
    return Period(day, day, day)


def _iso(found: re.Match[str], _: date) -> Period:
    return _day_period(date(int(found[1]), int(found[2]), int(found[3])))


DAY_OF_MONTH = rf"(?:(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})|({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?)"
"""Matches a day without its year: "3 May", "May 3rd"."""


def day_of_month(found: re.Match[str]) -> tuple[int, int]:
    """Return the day and the month that `DAY_OF_MONTH`, whose groups are the first of a pattern, has found."""
    day, month = (found[1], found[2]) if found[1] else (found[4], found[3])
    return int(day), MONTHS.index(month.lower())


def _named_period(found: re.Match[str], _: date) -> Period:
    day, month = day_of_month(found)
    return _day_period(date(int(found[5]), month, day))


def _past_day(found: re.Match[str], today: date) -> Period | None:
    """Return the latest day of that name if the clause is in the past. A birthday is of no year, and what is about to
    come may be meant by something that was said of it.
    """
    if _FUTURE.search(found.string) or not _OVER.search(found.string) or _BORN.search(found.string):
        return None
    day, month = day_of_month(found)
    coming = nearest_day(day, month, today, before=False)
    return None if today < coming <= today + _SOON else _day_period(nearest_day(day, month, today, before=True))


def nearest_day(day: int, month: int, today: date, *, before: bool) -> date:
    """Return the last day of that name up to today, or the next from today on. Raises ValueError for one that is in no
    calendar.
    """
    years = range(today.year, today.year - 9, -1) if before else range(today.year, today.year + 9)
    for year in years:
        with suppress(ValueError):  # 29 February
            found = date(year, month, day)
            if found == today or (found < today) == before:
                return found
    raise ValueError


def _month(found: re.Match[str], today: date) -> Period | None:
    """Return the named month or year; a month alone is the latest that has begun, None unless something is over."""
    if found[3]:
        return Period(date(int(found[3]), 1, 1), date(int(found[3]), 12, 31))
    if not found[2] and (_FUTURE.search(found.string) or not _OVER.search(found.string)):
        return None
    month, year = MONTHS.index(found[1].lower()), int(found[2] or today.year)
    if not found[2] and date(year, month, 1) > today:
        year -= 1
    begin = date(year, month, 1)
    return Period(begin, date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1))


def _near_period(found: re.Match[str], today: date) -> Period:
    return _day_period(today + timedelta(days=_NEAR[" ".join(found[0].lower().split())]))


def _days_from_now(found: re.Match[str], today: date) -> Period:
    return _day_period(today + timedelta(days=_count(found[1]) * _DAYS_OF[found[2].lower()]))


def _neighbouring_period(found: re.Match[str], today: date) -> Period:
    """Return last or next Friday: exact if the nearest one is in another week (Monday to Sunday) than today, as it is
    then also that of the last or the next week.
    """
    wanted = WEEKDAYS.index(found[2].lower())
    if found[1].lower() == "next":
        day = today + timedelta(days=(wanted - today.weekday() - 1) % 7 + 1)
    else:
        day = _before(wanted, today)
    return Period(day, day, day if day.isocalendar()[:2] != today.isocalendar()[:2] else None)


def _weekday(found: re.Match[str], today: date) -> Period | None:
    """Return the last day of that name, exact if the clause is in the past; None if it is in the future."""
    if _FUTURE.search(found.string):
        return None
    day = _before(WEEKDAYS.index(found[1].lower()), today)
    return Period(day, day, day if _OVER.search(found.string) else None)


def _before(weekday: int, today: date) -> date:
    return today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)


# -- so many before now -----------------------------------------------------------------------------------------------


def _count(said: str) -> int:
    low = said.lower()
    return _EXACT.get(low) or _VAGUE.get(low) or int(low)


def _ago(found: re.Match[str], today: date) -> Period:
    unit, number = found[2].lower(), _count(found[1])
    day = today - timedelta(days=number * _DAYS_OF[unit])
    around = timedelta(days=_AROUND["fortnight" if (unit, number) == ("day", 14) else unit])
    exact = unit in _COUNTED and found[1].lower() not in _VAGUE
    return Period(day - around, min(today, day + around), day if exact else None, day)


def _halves_ago(found: re.Match[str], today: date) -> Period:
    """Return the time of "half a year ago" or "a year and a half ago"."""
    unit = (found[1] or found[3] or found[5]).lower()
    number = 0.5 if found[1] else _count(found[2] or found[4]) + 0.5
    day = today - timedelta(days=number * _DAYS_OF[unit])
    around = timedelta(days=max(1, _AROUND[unit] // 2))
    return Period(day - around, min(today, day + around), None, day)


def _past(found: re.Match[str], today: date) -> Period:
    return Period(today - timedelta(days=_count(found[1]) * _DAYS_OF[found[2].lower()]), today)


def _other_day(_: re.Match[str], today: date) -> Period:
    return Period(today - timedelta(days=10), today - timedelta(days=1))


# -- weeks, months, years, seasons ------------------------------------------------------------------------------------


def _unit(found: re.Match[str], today: date) -> Period:
    """Return the current week, month or year, or the one before it."""
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


def _since(found: re.Match[str], today: date) -> Period | None:
    """Return the time from the named month or year until today; a month without a year is the latest that has begun."""
    if found[3]:
        begin = date(int(found[3]), 1, 1)
    else:
        month, year = MONTHS.index(found[1].lower()), int(found[2] or today.year)
        begin = date(year, month, 1)
        if not found[2] and begin > today:
            begin = date(year - 1, month, 1)
    return Period(begin, today) if begin <= today else None


def _season(found: re.Match[str], today: date) -> Period:
    """Return the named season of the year, or the latest that has begun; "last" means a past one."""
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


def _pattern(text: str) -> Pattern:
    return Pattern(rf"\b(?:{text})\b".replace(" ", r"\s+"), re.IGNORECASE)


_READINGS: tuple[tuple[Pattern, Callable[[re.Match[str], date], Period | None]], ...] = (
    (_pattern(rf"half an? {_UNIT} ago|{_NUMBER} and a half {_UNIT} ago|{_NUMBER} {_UNIT} and a half ago"), _halves_ago),
    (_pattern(rf"{_NUMBER} {_UNIT} ago"), _ago),
    (_pattern(rf"(?:last|past|previous) {_NUMBER} {_UNIT}"), _past),
    (_pattern(rf"(last|this|past|previous|in|in the|during the) ({'|'.join(_SEASONS)})(?: of (\d{{4}}))?"), _season),
    (_pattern(r"(last|this|past|previous) (week|weekend|month|year|day)"), _unit),
    (_pattern(rf"(last|next) ({_WEEKDAY})"), _neighbouring_period),
    (_pattern("|".join(_NEAR)), _near_period),
    (_pattern("the other day"), _other_day),
    (Pattern(r"\b(\d{4})[-/](\d{2})[-/](\d{2})\b"), _iso),
    (_pattern(rf"{DAY_OF_MONTH},? (\d{{4}})"), _named_period),
    (_pattern(rf"on (?:the )?{DAY_OF_MONTH}(?!,? ?\d)"), _past_day),
    (_pattern(rf"in ({_MONTH})(?:,? (?:of )?((?:19|20)\d\d)|(?! \d))|in ((?:19|20)\d\d)"), _month),
    (_pattern(rf"since (?:last )?({_MONTH})(?: (\d{{4}})|(?! \d))|since ((?:19|20)\d\d)"), _since),
    (Pattern(rf"(?i)(?:{_WILL}) in {_NUMBER} (day|week)s?\b(?! ago)"), _days_from_now),
    (_pattern(rf"on ({_WEEKDAY})"), _weekday),
)
