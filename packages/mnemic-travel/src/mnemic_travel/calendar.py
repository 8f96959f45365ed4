"""Calendar entries (RFC 5545): events with their times, and the reservations that some senders embed in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

_FOLD = re.compile(r"\r?\n[ \t]")
_LINE = re.compile(
    r"(?<![A-Za-z0-9-])(?P<name>[A-Za-z0-9-]++)(?P<parameters>(?:;[^:;\"]*(?:\"[^\"]*\")?)*):(?P<value>.*)"
)
_ESCAPED = re.compile(r"\\([nN,;\\])")


@dataclass(frozen=True, slots=True)
class Event:
    """One event. Times are aware if the entry gives their zone."""

    summary: str = field(default="", repr=False)
    description: str = field(default="", repr=False)
    location: str = field(default="", repr=False)
    starts: datetime | None = None
    ends: datetime | None = None
    embedded: tuple[Any, ...] = field(default=(), repr=False)
    cancelled: bool = False


def events(text: str) -> list[Event]:
    """Return the events of a calendar, in order."""
    found: list[dict[str, Any]] = []
    inside = False
    for name, parameters, value in _properties(text):
        if name == "BEGIN":
            inside = value.upper() == "VEVENT" or (inside and value.upper() != "VALARM")
            if value.upper() == "VEVENT":
                found.append({"embedded": ()})
        elif name == "END":
            inside = value.upper() == "VALARM"
        elif inside and found:
            _take(found[-1], name, parameters, value)
    return [Event(**one) for one in found]


def _properties(text: str) -> Iterator[tuple[str, str, str]]:
    for line in _FOLD.sub("", text).splitlines():
        match = _LINE.match(line)
        if match:
            yield match["name"].upper(), match["parameters"], match["value"]


def _take(event: dict[str, Any], name: str, parameters: str, value: str) -> None:
    match name:
        case "SUMMARY" | "DESCRIPTION" | "LOCATION":
            event[name.lower()] = _unescaped(value)
        case "DTSTART" | "DTEND":
            event["starts" if name == "DTSTART" else "ends"] = _time(value, parameters)
        case "STATUS":
            event["cancelled"] = value.strip().upper() == "CANCELLED"
        case _ if name.startswith("X-") and "schema.org" in value:
            event["embedded"] = (*event["embedded"], _json(_unescaped(value)))


def _unescaped(value: str) -> str:
    return _ESCAPED.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _time(value: str, parameters: str) -> datetime | None:
    match = re.fullmatch(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)?(Z)?)?", value.strip())
    if match is None:
        return None
    try:
        moment = datetime(*(int(part or 0) for part in match.groups()[:6]))  # type: ignore[arg-type] # noqa: DTZ001
    except ValueError:
        return None
    if match[7]:
        return moment.replace(tzinfo=UTC)
    named = re.search(r"TZID=\"?([^;:\"]+)", parameters)
    try:
        return moment.replace(tzinfo=ZoneInfo(named[1])) if named else moment
    except (KeyError, ValueError, OSError):
        return moment


def day_of(moment: datetime | None) -> date | None:
    """Return the local date of a moment."""
    return None if moment is None else moment.date()
