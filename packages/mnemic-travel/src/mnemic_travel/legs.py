"""One leg of a journey, and its form as a reservation."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from mnemic_travel.airports import Airports
from mnemic_travel.dates import Clock

CONFIRMED = "http://schema.org/ReservationConfirmed"
CANCELLED = "http://schema.org/ReservationCancelled"


@dataclass(frozen=True, slots=True)
class Stop:
    """One end of a leg, as far as known: the airport by code or the place by name, the day, the time, the terminal or
    platform.
    """

    code: str | None = None
    name: str | None = None
    day: date | None = None
    clock: Clock | None = None
    terminal: str | None = None


@dataclass(frozen=True, slots=True)
class Leg:
    """A flight or a train between two stops. `airline` of a train is its category (ICE, TGV); `line` is the line of the
    text with its number.
    """

    airline: str
    number: str
    departure: Stop = field(default_factory=Stop)
    arrival: Stop = field(default_factory=Stop)
    line: int = 0

    @property
    def known(self) -> int:
        """Number of known details, 0 to 7."""
        stops = (self.departure, self.arrival)
        places = sum(bool(stop.code or stop.name) for stop in stops)
        return (
            places
            + sum(bool(stop.clock) for stop in stops)
            + sum(bool(stop.code) for stop in stops)
            + (self.departure.day is not None)
        )

    def arriving(self, airports: Airports) -> Leg:
        """Return this leg with its day of arrival; if not given, the first that is not before departure."""
        day, leaves, arrives = self.departure.day, self.departure.clock, self.arrival.clock
        if self.arrival.day is not None or day is None or arrives is None:
            return self
        last = day + timedelta(days=arrives.days_later)
        if not arrives.days_later and leaves is not None:
            start = moment(day, leaves, zone_of(self.departure.code, airports))
            end = moment(last, arrives, zone_of(self.arrival.code, airports))
            if (start.tzinfo is None) != (end.tzinfo is None):
                start, end = start.replace(tzinfo=None), end.replace(tzinfo=None)
            last += timedelta(days=1) if end < start else timedelta(0)
        return replace(self, arrival=replace(self.arrival, day=last))


def zone_of(code: str | None, airports: Airports) -> ZoneInfo | None:
    """Return the time zone of an airport, None if unknown."""
    airport = airports.get(code) if code else None
    if airport is None or not airport.zone:
        return None
    try:
        return ZoneInfo(airport.zone)
    except (KeyError, ValueError):
        return None


def moment(day: date, clock: Clock, zone: ZoneInfo | None) -> datetime:
    """Return the moment of a time of day; without a zone it is a local time."""
    return datetime(day.year, day.month, day.day, clock.hour, clock.minute, tzinfo=zone)


def flight_reservation(leg: Leg, airports: Airports, **details: Any) -> dict[str, Any]:
    """Return the leg as a schema.org FlightReservation, without unknown fields."""
    reservation: dict[str, Any] = drop_empty(
        {
            "@type": "FlightReservation",
            **details,
            "reservationFor": {
                "@type": "Flight",
                "airline": {"@type": "Airline", "iataCode": leg.airline},
                "flightNumber": leg.number,
                "departureAirport": _airport(leg.departure, airports),
                "departureTime": _time(leg.departure, airports),
                "departureDay": leg.departure.day and leg.departure.day.isoformat(),
                "departureTerminal": leg.departure.terminal,
                "arrivalAirport": _airport(leg.arrival, airports),
                "arrivalTime": _time(leg.arrival, airports),
                "arrivalTerminal": leg.arrival.terminal,
            },
        }
    )
    return reservation


def train_reservation(leg: Leg, **details: Any) -> dict[str, Any]:
    """Return the leg as a schema.org TrainReservation, without unknown fields."""
    trip = {
        "@type": "TrainTrip",
        "trainNumber": f"{leg.airline} {leg.number}",
        "departureStation": {"@type": "TrainStation", "name": leg.departure.name},
        "departureTime": _time(leg.departure, Airports()),
        "departurePlatform": leg.departure.terminal,
        "departureDay": leg.departure.day and leg.departure.day.isoformat(),
        "arrivalStation": {"@type": "TrainStation", "name": leg.arrival.name},
        "arrivalTime": _time(leg.arrival, Airports()),
        "arrivalPlatform": leg.arrival.terminal,
    }
    reservation: dict[str, Any] = drop_empty({"@type": "TrainReservation", **details, "reservationFor": trip})
    return reservation


def _airport(stop: Stop, airports: Airports) -> dict[str, Any]:
    code = stop.code or (airports.find_code(stop.name) if stop.name else None)
    known = airports.get(code) if code else None
    named = None if stop.name == code and known else stop.name
    return {"@type": "Airport", "iataCode": code, "name": named or (known and known.name)}


def _time(stop: Stop, airports: Airports) -> str | None:
    if stop.day is None or stop.clock is None:
        return None
    code = stop.code or (airports.find_code(stop.name) if stop.name else None)
    return moment(stop.day, stop.clock, zone_of(code, airports)).isoformat()


def drop_empty(value: Any) -> Any:
    """Return JSON data without empty values: nulls, blank texts, and objects that have a type only."""
    if isinstance(value, dict):
        kept = {name: inner for name, one in value.items() if (inner := drop_empty(one)) not in (None, "", [], {})}
        return kept if set(kept) - {"@type"} else {}
    if isinstance(value, list):
        return [inner for one in value if (inner := drop_empty(one)) not in (None, "", [], {})]
    return value
