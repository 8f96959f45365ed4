"""Times as texts (ISO 8601) that can be compared: as moments if both have an offset, else by the wall clock."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import total_ordering
from typing import NamedTuple


@total_ordering
class Comparable(NamedTuple):
    """A time in its form for comparison; `local` if its text has no offset."""

    text: str
    local: bool

    def __lt__(self, other: tuple[object, ...]) -> bool:
        return self.text < str(other[0])


def comparable(text: object, *, local: bool = False) -> Comparable:
    """Return `text` in a comparable form; with `local` without its offset. A text that is not a time is unchanged."""
    try:
        moment = datetime.fromisoformat(str(text).strip().upper())
        if moment.tzinfo is None or local:
            return Comparable(moment.replace(tzinfo=None).isoformat(), True)
        return Comparable(moment.astimezone(UTC).replace(tzinfo=None).isoformat(), False)
    except (ValueError, OverflowError):
        return Comparable(str(text), True)
