"""Dates and times in a text, with their offsets: in digits, and with months in words.

A date may lack its year; `resolved` infers it from the day on which the text was sent, since a confirmation is about
the future. 03/04/2017 is read with the day first, unless only the other order is a date or the text writes times with
am and pm.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from mnemic.language.text.pattern import Pattern
from mnemic_travel.months import month_named

_LATE = timedelta(days=7)
"""Maximum delay of a confirmation after the journey began."""

_MONTH = "(?P<month>[^\\W\\d_]{3,12})\\.?"
_DAY_FIRST = (
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|er|º|°)?[\s\-/]{{0,2}}(?:de |of |d')?{_MONTH}"
    rf"(?:,?[\s\-/]{{0,2}}(?:de |of )?(?P<year>(?:19|20)\d\d|\d\d(?![\d:.]|-\w)))?"
)
_MONTH_FIRST = rf"{_MONTH}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:.])(?:,?\s(?P<year>(?:19|20)\d\d))?"
_NUMBERS = [
    r"(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})",
    r"(?P<day>\d{1,2})(?P<sep>[./-])(?P<month>\d{1,2})(?P=sep)(?P<year>(?:19|20)\d\d|\d\d)(?![\d:.])",
    r"(?P<year>(?:19|20)\d\d)\s?[年년]\s?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日일]",
    r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.(?!\d)",
]
# No date inside a word, a path, a version or a longer number. "T" may follow if a time follows it (ISO 8601).
_PATTERNS = [
    Pattern(rf"(?<![\w.:/-]){pattern}(?![^\WT]|T(?!\d))", re.IGNORECASE)
    for pattern in (*_NUMBERS, _DAY_FIRST, _MONTH_FIRST)
]

# A point separates hours from minutes only before "Uhr", "h", "am" or "pm", because "10.30" alone may be a price.
# Weights, distances and amounts that look like a time are excluded by their unit.
_TIME = Pattern(
    r"(?<![\d.:,/-])(?P<hour>[01]?\d|2[0-3])(?::|h|\.(?=\d\d\s?(?:Uhr|h\b|[ap]\.?m\b)))(?P<minute>[0-5]\d)(?::[0-5]\d)?"
    r"(?:\s?(?P<half>[ap])\.?\s?m\b\.?)?(?![\d:]|\s?(?:hrs?\s)?(?:kg|km|eur|usd))|"
    r"(?<![\d.:,/-])(?P<hour12>1[0-2]|0?[1-9])\s?(?P<half12>[ap])\.?m\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"(?:\.|\s|de\s){1,4}([^\W\d_]{3,12})\b")
_LATER = Pattern(r"\s{0,2}\(?\+\s?(?P<days>[12])(?:\s?(?:day|tag|jour|d[ií]a|giorno)s?)?\b\)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Date:
    """A date as written; `year` is None if it is not given."""

    day: int
    month: int
    year: int | None = None

    def resolve_date(self, sent_on: date | None) -> date | None:
        """Return the date: in its given year, else the next such day from `sent_on` on."""
        years = [self.year] if self.year else [] if sent_on is None else [sent_on.year, sent_on.year + 1]
        for year in years:
            try:
                meant = date(year, self.month, self.day)
            except ValueError:
                continue
            if self.year or sent_on is None or meant >= sent_on - _LATE:
                return meant
        return None


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day, and the number of days after the date next to it."""

    hour: int
    minute: int
    days_later: int = 0

    def __str__(self) -> str:
        return f"{self.hour:02}:{self.minute:02}"


def find_dates(text: str, *, american: bool = False) -> Iterator[tuple[int, int, Date]]:
    """Yield start, end and value of every date in `text`, in order, without overlaps."""
    end = -1
    # Longest first at one start: of "5 May 2017" the whole date wins over "5 May".
    matches = sorted(
        (match for pattern in _PATTERNS for match in pattern.finditer(text)),
        key=lambda match: (match.start(), -len(match.group())),
    )
    for match in matches:
        taken = match.start() < end or _is_weekday(match, text)
        found = None if taken else _date(match, american)
        if found is not None:
            # A month in words may have taken a following word for its year's place: the end is that of the match.
            yield match.start(), match.end(), found
            end = match.end()


def _is_weekday(match: re.Match[str], text: str) -> bool:
    """Return True if an apparent month is the weekday of a date that follows: "MAR 6 giugno 2017"."""
    if (
        match.groupdict().get("year") is not None
        or not match["month"][0].isalpha()
        or match.start("month") > match.start("day")
    ):
        return False
    follows = _WORD.match(text, match.end())
    return follows is not None and month_named(follows[1]) is not None


def _date(match: re.Match[str], american: bool) -> Date | None:
    parts = match.groupdict()
    written, day = parts["month"], int(parts["day"])
    month = int(written) if written.isdigit() else month_named(written)
    if month is None:
        return None
    if written.isdigit() and parts.get("sep") in ("/", "-") and (month > 12 or (american and day <= 12)):
        day, month = month, day
    year = None if parts.get("year") is None else int(parts["year"])
    if year is not None and year < 100:
        year += 2000
    return Date(day, month, year) if 1 <= day <= 31 and 1 <= month <= 12 else None


def find_times(text: str) -> Iterator[tuple[int, int, Clock]]:
    """Yield start, end and value of every time of day in `text`; a following "+1" adds a day."""
    for match in _TIME.finditer(text):
        parts = match.groupdict()
        hour, minute = int(parts["hour"] or parts["hour12"]), int(parts["minute"] or 0)
        half = (parts["half"] or parts["half12"] or "").lower()
        if half and hour > 12:
            continue
        if half:
            hour = hour % 12 + (12 if half == "p" else 0)
        later = _LATER.match(text, match.end())
        yield (
            match.start(),
            later.end() if later else match.end(),
            Clock(hour, minute, int(later["days"]) if later else 0),
        )


def is_american(text: str) -> bool:
    """Return True if the text writes times with am and pm and dates with slashes, as in the United States."""
    return re.search(r"\d\s?[ap]\.?m\b", text, re.IGNORECASE) is not None
