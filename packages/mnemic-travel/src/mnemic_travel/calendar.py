"""Calendar entries (RFC 5545), read by `icalendar`: events with their times, and the reservations that some senders
embed in them.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from icalendar import Component

DEEPEST = 8
"""Components in one another that are read; a calendar needs three (calendar, event, alarm)."""
_LINE_END = re.compile(r"\r\n?|\n")
_WITHOUT_SECONDS = re.compile(r"((?:DTSTART|DTEND)\b[^:\n]{0,200}:\d{8}T\d{4})(Z?)", re.IGNORECASE)

_ESCAPED = re.compile(r"\\([nN,;\\])")


@dataclass(frozen=True, slots=True)
class Event:
    """One event. Times are aware if the entry gives their zone; one of whole days has a `day` and no times."""

    summary: str = field(default="", repr=False)
    description: str = field(default="", repr=False)
    location: str = field(default="", repr=False)
    day: date | None = None
    starts: datetime | None = None
    ends: datetime | None = None
    embedded: tuple[Any, ...] = field(default=(), repr=False)
    cancelled: bool = False


def events(text: str) -> list[Event]:
    """Return the events of a calendar, in order; of one that is cut off, those that have begun."""
    from icalendar import Calendar  # takes longer to import than all of this package, and few documents are calendars

    try:
        with warnings.catch_warnings():
            # The library reads "/vendor.example/Europe/Berlin" as Europe/Berlin, and warns that it guesses.
            warnings.simplefilter("ignore", UserWarning)
            calendars = Calendar.from_ical("\r\n".join(_complete_calendar(text)), multiple=True)
    except ValueError:
        return []
    return [_event(one) for calendar in calendars for one in calendar.walk("VEVENT")]


def _complete_calendar(text: str) -> Iterator[str]:
    """Yield the lines of a calendar with the ENDs that it lacks, which the library requires, without those of nothing
    and without the text around it. Mails bring calendars that are cut off.
    """
    begun: list[str] = []
    for line in _LINE_END.split(text):
        word, _, name = line.strip().upper().partition(":")
        if word == "BEGIN":
            if name == "VEVENT" and name in begun:
                yield from _ends(begun, begun.index(name))
            if len(begun) >= DEEPEST:
                continue
            begun.append(name)
        elif word == "END":
            if name in begun:
                yield from _ends(begun, len(begun) - 1 - begun[::-1].index(name))
            continue
        if begun:
            missing = _WITHOUT_SECONDS.fullmatch(line)
            yield f"{missing[1]}00{missing[2]}" if missing else line
    yield from _ends(begun, 0)


def _ends(begun: list[str], place: int) -> Iterator[str]:
    """Yield the END of each component from `place` on, the innermost first, which are then no longer `begun`."""
    while len(begun) > place:
        yield f"END:{begun.pop()}"


def _event(entry: Component) -> Event:
    starts, ends, lasts = (_time(entry, name) for name in ("DTSTART", "DTEND", "DURATION"))
    if ends is None and isinstance(starts, datetime) and isinstance(lasts, timedelta):
        ends = starts + lasts
    return Event(
        summary=_text(entry, "SUMMARY"),
        description=_text(entry, "DESCRIPTION"),
        location=_text(entry, "LOCATION"),
        day=_day(starts),
        starts=starts if isinstance(starts, datetime) else None,
        ends=ends if isinstance(ends, datetime) else None,
        embedded=tuple(
            _json(str(value))
            for name, value in entry.property_items(recursive=False)
            if name.startswith("X-") and "schema.org" in str(value)
        ),
        cancelled=_text(entry, "STATUS").strip().upper() == "CANCELLED",
    )


def _day(starts: object) -> date | None:
    if isinstance(starts, datetime):
        return starts.date()
    return starts if isinstance(starts, date) else None


def _time(entry: Component, name: str) -> object:
    """Return the date, time or duration of a property; None for none, or a malformed one."""
    value = _first(entry, name)
    try:
        return value if value is None else value.dt
    except (AttributeError, ValueError):
        return None


def _text(entry: Component, name: str) -> str:
    return str(_first(entry, name) or "")


def _first(entry: Component, name: str) -> Any:
    """Return the first value of a property, which some senders give twice."""
    given = entry.get(name)
    return given[0] if isinstance(given, list) else given


def _json(text: str) -> Any:
    """Return the JSON of an extension, which some senders escape as the text of a calendar and others do not."""
    unescaped = _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], text)
    for form in (text, unescaped):
        with suppress(ValueError, RecursionError):
            return json.loads(form)
    return None
