"""Timestamps in conversation files: ISO 8601, seconds since 1970, and the benchmarks' own spellings.

A moment without a time zone is taken as UTC.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

from mnemic.errors import InvalidInput

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_LOCOMO = re.compile(r"(\d{1,2}):(\d{2}) ?([ap])\.?m\.? on (\d{1,2}) ([A-Za-z]+),? (\d{4})", re.IGNORECASE)
_LONGMEMEVAL = re.compile(r"(\d{4})/(\d{2})/(\d{2})(?: \([A-Za-z]{3}\))? (\d{1,2}):(\d{2})")
_BEAM = re.compile(r"(?<![A-Za-z])([A-Za-z]++)[- ](\d{1,2})(?:-|, ?| )(\d{4})")
_REALTALK = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4}), (\d{1,2}):(\d{2})(?::(\d{2}))?")
_MILLISECONDS_FROM = 1e11
"""Seconds reach this in the year 5138; a larger number counts milliseconds."""


def moment(value: object, name: str) -> datetime:
    """`value` as an aware time in UTC. Raises InvalidInput (`invalid_input:<name>`)."""
    try:
        if isinstance(value, str):
            return _parse_spelled(value.strip())
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise InvalidInput(name, hint="expected a date such as 2026-03-04T09:30:00Z, or seconds since 1970")


def _month(name: str) -> int:
    """Return the number of a month from its name or the first three letters of it. Raises ValueError."""
    written = name.lower()
    found = [number for number, month in enumerate(_MONTHS, start=1) if written in (month, month[:3])]
    if not found:
        raise ValueError("month")
    return found[0]


def _parse_spelled(text: str) -> datetime:
    if parts := _LOCOMO.fullmatch(text):
        hour, minute, half, day, month, year = parts.groups()
        if not 1 <= int(hour) <= 12:
            raise ValueError("hour")
        at = int(hour) % 12 + (12 if half.lower() == "p" else 0)
        return datetime(int(year), _month(month), int(day), at, int(minute), tzinfo=UTC)
    if parts := _LONGMEMEVAL.fullmatch(text):
        return datetime(*(int(part) for part in parts.groups()), tzinfo=UTC)  # type: ignore[misc, arg-type]
    if parts := _BEAM.fullmatch(text):
        month, day, year = parts.groups()
        return datetime(int(year), _month(month), int(day), tzinfo=UTC)
    if parts := _REALTALK.fullmatch(text):
        day, number, year, hour, minute, second = (int(part or 0) for part in parts.groups())
        return datetime(year, number, day, hour, minute, second, tzinfo=UTC)
    found = datetime.fromisoformat(text)
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
