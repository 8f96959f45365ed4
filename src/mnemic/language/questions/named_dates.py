"""Year, month or day named in a query."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta

from mnemic.language.text.months import named_month
from mnemic.language.text.pattern import plain_letters

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH = re.compile(rf"\b({'|'.join(MONTHS)})\b", re.IGNORECASE)
_YEAR = re.compile(r"\b((?:19|20)\d\d)\b")


@dataclass(frozen=True, slots=True)
class NamedDate:
    """A year, a month or a day in a query; its missing parts are None."""

    year: int | None
    month: int | None = None
    day: int | None = None

    @property
    def days(self) -> tuple[date | None, date | None]:
        """Its first and last day; None, None if it has no year, or is in no calendar."""
        if self.year is None:
            return None, None
        try:
            first = date(self.year, self.month or 1, self.day or 1)
        except ValueError:
            return None, None
        if self.day:
            return first, first
        months = 1 if self.month else 12
        return first, (first + timedelta(days=31 * months)).replace(day=1) - timedelta(days=1)

    def may_be_said_on(self, said_on: date) -> bool:
        """Return True if a message of `said_on` may concern this date.

        A day is mentioned from the day before it until ten days after it, a month within itself and the first ten days
        of the next, a year within itself.
        """
        if self.month is None:
            return said_on.year == self.year
        years = [self.year] if self.year else [said_on.year, said_on.year - 1]
        return any(self._may_be_said_in(year, said_on) for year in years)

    def _may_be_said_in(self, year: int, said_on: date) -> bool:
        try:
            first = date(year, self.month or 1, self.day or 1)
        except ValueError:
            return False
        if self.day:
            return first - timedelta(days=1) <= said_on <= first + timedelta(days=10)
        return first <= said_on <= (first + timedelta(days=31)).replace(day=10)


def named_date(query: str) -> NamedDate | None:
    """Return the first month (with its day and year) or year that `query` names; "may" in lower case is the verb."""
    query = plain_letters(query)
    month = next((found for found in _MONTH.finditer(query) if found.group(1) != "may"), None)
    year = _YEAR.search(query)
    if month is None:
        return _named_abroad(query, int(year.group(1)) if year else None)
    name = month.group(1)
    day = re.search(
        rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {name}\b|\b{name},? (\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)",
        query,
        re.IGNORECASE,
    )
    return NamedDate(
        year=int(year.group(1)) if year else None,
        month=MONTHS.index(name.lower()) + 1,
        day=int(day.group(1) or day.group(2)) if day else None,
    )


def _named_abroad(query: str, year: int | None) -> NamedDate | None:
    """Return the month that `query` names in another language than English, or only the year."""
    found = named_month(query)
    if found is None:
        return NamedDate(year) if year else None
    return NamedDate(year, *found)
