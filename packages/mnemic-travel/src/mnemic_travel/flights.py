"""Flights in the sentences of a text: what stands between one flight number and the next belongs to that flight."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from functools import cache
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import airportsdata

from mnemic_travel.schema_org import CANCELLED, CONFIRMED, normalise

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_MONTH = rf"(?P<month>(?:{'|'.join(_MONTHS)})[a-z]{{0,6}})\.?"
_YEAR = r"(?:,? (?P<year>20\d\d))?"
_NUMBER = re.compile(r"\b(?P<airline>[A-Z][A-Z\d]|\d[A-Z])\s?(?P<number>\d{1,4})\b(?![:/-])")
_CODE = re.compile(r"(?:(?P<preposition>from|to) )?(?<!\w)\(?(?P<code>[A-Z]{3})\)?(?!\w| \d)")
_CITY = r"[A-Z][\w'.-]{1,30}(?: [A-Z][\w'.-]{1,30}){0,3}"
_NAMED = re.compile(rf"(?P<name>{_CITY}) \((?P<code>[A-Z]{{3}})\)")
_BARE_NAME = re.compile(rf"\b(?P<preposition>from|to) (?P<name>{_CITY})")
_TIME = re.compile(
    r"(?<![\d:.])(?P<hour>\d{1,2})(?::(?P<minute>[0-5]\d))?\s?(?P<half>[ap]m\b)?(?![\d:])", re.IGNORECASE
)
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?P<year>20\d\d)-(?P<month>\d\d)-(?P<day>\d\d)\b",
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? {_MONTH}{_YEAR}(?!\w)",
        rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:]){_YEAR}",
    )
]
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_BOOKING = re.compile(
    r"\b(?i:booking|reservation|confirmation|record locator|pnr)(?: (?i:code|number|reference|no\.?))?(?: is|:)? ?"
    r"(?P<value>[A-Z\d]{5,8})\b"
)
_PEOPLE = re.compile(
    r"\b(?i:passengers?|travell?ers?):? (?P<names>[A-Z][\w'.-]{1,30}(?:,? (?:and )?[A-Z][\w'.-]{1,30}){1,20})"
)
_TITLE = re.compile(r"^(?:mr|mrs|ms|miss|dr)\.? ", re.IGNORECASE)
_TERMINAL = re.compile(r"\bterminal (?P<value>[A-Z]?\d{1,2}[A-Z]?|[A-Z])\b", re.IGNORECASE)
_SEAT = re.compile(r"\bseat (?P<value>\d{1,2}[A-K])\b", re.IGNORECASE)
_CANCELLED = re.compile(r"\b(?:has been|was|is) cancell?ed\b", re.IGNORECASE)
MAX_FLIGHTS = 50


@cache
def _airports() -> Mapping[str, Mapping[str, Any]]:
    return airportsdata.load("IATA")


@dataclass(slots=True)
class _Stop:
    """One end of a flight, as far as the text gives it."""

    code: str | None = None
    name: str | None = None
    at: time | None = None

    def resolve_moment(self, day: date | None) -> datetime | None:
        if day is None or self.at is None:
            return None
        zone = _airports().get(self.code or "", {}).get("tz")
        return datetime.combine(day, self.at, ZoneInfo(zone) if zone else None)

    def describe(self) -> dict[str, Any]:
        name = self.name or _airports().get(self.code or "", {}).get("name")
        return {"@type": "Airport", "iataCode": self.code, "name": name}


@dataclass(slots=True)
class _Flight:
    """One flight, as far as the text gives it."""

    airline: str
    number: str
    leaves: _Stop = field(default_factory=_Stop)
    arrives: _Stop = field(default_factory=_Stop)
    day: date | None = None


def flights_in(text: str, *, sent_on: date | None) -> list[dict[str, Any]]:
    """Return the flights of `text` as reservations, one for each passenger. A number counts as a flight's if a place
    and a day or time stand with it; what the text does not give is left out.
    """
    booking, people = _BOOKING.search(text), _PEOPLE.search(text)
    whole = {
        "reservationNumber": booking["value"] if booking else None,
        "reservationStatus": CANCELLED if _CANCELLED.search(text) else CONFIRMED,
    }
    found = []
    for flight, part in _read_flights(text, sent_on):
        for person in _names(people["names"]) if people else [None]:
            under = {"@type": "Person", "name": person} if person else None
            found.append(normalise({**whole, **_describe(flight, part), "underName": under}))
    return found


def _names(names: str) -> Iterator[str]:
    return (_TITLE.sub("", name.strip()) for name in re.split(r", (?:and )?| and ", names))


def _read_flights(text: str, sent_on: date | None) -> Iterator[tuple[_Flight, str]]:
    numbers = [match for match in _NUMBER.finditer(text) if match["airline"] not in ("AM", "PM")][:MAX_FLIGHTS]
    ends = [*(match.start() for match in numbers), len(text)]
    heading = _day_in(text[: ends[0]], sent_on)
    for match, (start, end) in zip(numbers, pairwise(ends), strict=True):
        part = text[start:end]
        leaves, arrives = _stops(part[match.end() - start :])
        flight = _Flight(match["airline"], match["number"], leaves, arrives, _day_in(part, sent_on) or heading)
        has_place = any(stop.code or stop.name for stop in (leaves, arrives))
        if has_place and (flight.day or leaves.at):
            yield flight, part


def _stops(text: str) -> tuple[_Stop, _Stop]:
    """Return both ends: by the words before their places, else in the order of the text."""
    leaves, arrives = _Stop(), _Stop()
    named = {match["code"]: match["name"] for match in _NAMED.finditer(text)}
    places = [(match["preposition"], match["code"], named.get(match["code"])) for match in _CODE.finditer(text)]
    places = [place for place in places if place[1] in _airports() and (not named or place[1] in named)]
    bare = [(match["preposition"], None, match["name"]) for match in _BARE_NAME.finditer(text)]
    known = {preposition for preposition, *_ in places}
    places += (
        [] if len(places) > 1 else [place for place in bare if place[2] not in _airports() and place[0] not in known]
    )
    for preposition, code, name in places[:2]:
        taken = leaves.code or leaves.name
        stop = arrives if preposition == "to" or (taken and preposition is None) else leaves
        stop.code, stop.name = code, name
    times = [found for match in _TIME.finditer(text) if (found := _time_of(match)) is not None]
    for stop, at in zip((leaves, arrives), times, strict=False):
        stop.at = at
    return leaves, arrives


def _time_of(match: re.Match[str]) -> time | None:
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if not half and match["minute"] is None:
        return None
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return time(hour, int(match["minute"] or 0)) if hour < 24 else None


def _day_in(text: str, sent_on: date | None) -> date | None:
    """Return the first date of a text: without a year the next such day, a weekday the next one after `sent_on`."""
    for pattern in _DATES:
        for match in pattern.finditer(text):
            month = match["month"].lower()
            number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
            years = [int(match["year"])] if match["year"] else [sent_on.year, sent_on.year + 1] if sent_on else []
            for year in years:
                try:
                    day = date(year, number, int(match["day"]))
                except ValueError:
                    continue
                if match["year"] or sent_on is None or day >= sent_on - timedelta(days=7):
                    return day
    weekday = _WEEKDAY.search(text)
    if weekday is None or sent_on is None:
        return None
    return sent_on + timedelta(days=(_WEEKDAYS.index(weekday[0].lower()) - sent_on.weekday() - 1) % 7 + 1)


def _describe(flight: _Flight, part: str) -> dict[str, Any]:
    leaves = flight.leaves.resolve_moment(flight.day)
    arrives = flight.arrives.resolve_moment(flight.day)
    if leaves and arrives and leaves.tzinfo and arrives.tzinfo and arrives < leaves:
        arrives = flight.arrives.resolve_moment(flight.day + timedelta(days=1)) if flight.day else None
    terminal, seat = _TERMINAL.search(part), _SEAT.search(part)
    return {
        "@type": "FlightReservation",
        "airplaneSeat": seat["value"] if seat else None,
        "reservationFor": {
            "@type": "Flight",
            "airline": {"@type": "Airline", "iataCode": flight.airline},
            "flightNumber": flight.number,
            "departureAirport": flight.leaves.describe(),
            "departureDay": flight.day.isoformat() if flight.day else None,
            "departureTime": leaves.isoformat() if leaves else None,
            "departureTerminal": terminal["value"] if terminal else None,
            "arrivalAirport": flight.arrives.describe(),
            "arrivalTime": arrives.isoformat() if arrives else None,
        },
    }
