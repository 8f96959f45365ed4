"""Reservations of a document."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

from mnemic_travel.airports import Airports
from mnemic_travel.boarding_pass import boardings
from mnemic_travel.booking import booking_codes
from mnemic_travel.calendar import Event, events
from mnemic_travel.dates import Clock
from mnemic_travel.document import Document
from mnemic_travel.flights import flight_legs, train_legs
from mnemic_travel.gds import gds_legs, gds_passengers
from mnemic_travel.labels import BY_AIR, BY_RAIL
from mnemic_travel.labels import CANCELLED as CANCELLED_WORDS
from mnemic_travel.legs import CANCELLED, CONFIRMED, flight_reservation, moment, train_reservation, zone_of
from mnemic_travel.markup import marked_up, text_of
from mnemic_travel.passengers import labelled_passengers
from mnemic_travel.schema_org import normal, reservations_in
from mnemic_travel.stays import stay_in

NOWHERE = Airports()


def reservations(document: Document, *, airports: Airports = NOWHERE) -> list[dict[str, Any]]:
    """Return the reservations of a document in their normal spelling (`schema_org.RESERVATIONS`), from its most certain
    part that has any: embedded data, then calendar entries, then text.

    Nothing is invented: a field that the document does not give is left out. With a table of `airports` names become
    codes and local times get their zone.
    """
    return _embedded_reservations(document) or _calendar(document, airports) or _texts(document, airports)


def _embedded_reservations(document: Document) -> list[dict[str, Any]]:
    found = [one for html in document.html for one in reservations_in(marked_up(html))]
    for calendar in document.calendars:
        for event in events(calendar):
            for value in event.embedded:
                found += reservations_in(value if isinstance(value, list) else [value] if value else [])
    return found


def _calendar(document: Document, airports: Airports) -> list[dict[str, Any]]:
    return [
        one
        for calendar in document.calendars
        for event in events(calendar)
        for one in _of_event(event, document.sent_on, airports)
    ]


def _of_event(event: Event, sent_on: date | None, airports: Airports) -> Iterator[dict[str, Any]]:
    """Yield the flight of a calendar event: number and airports from its text, times from the event itself."""
    text = f"{event.summary}\n{event.location}\n{event.description}"
    day = event.day or sent_on
    for leg in flight_legs(text, sent_on=day, airports=airports, certain=True)[:1]:
        flight = flight_reservation(leg, airports, **_details(text.splitlines(), event.cancelled))
        ends = {
            "departureTime": _local(event.starts, leg.departure.code, airports),
            "arrivalTime": _local(event.ends, leg.arrival.code, airports),
        }
        flight["reservationFor"] |= {name: value for name, value in ends.items() if value}
        if event.starts is not None:
            flight["reservationFor"].pop("departureDay", None)
        elif event.day is not None:
            flight["reservationFor"]["departureDay"] = event.day.isoformat()
        yield normal(flight)


def _local(moment: datetime | None, code: str | None, airports: Airports) -> str | None:
    zone = zone_of(code, airports)
    if moment is not None and zone is not None and moment.tzinfo is not None:
        moment = moment.astimezone(zone)
    return None if moment is None else moment.isoformat()


def _texts(document: Document, airports: Airports) -> list[dict[str, Any]]:
    for text in (*document.text, *map(text_of, document.html)):
        found = [*_passes(text, document.sent_on)] or [*_journeys(text, document.sent_on, airports)]
        found = found or [*_stays(text, document.sent_on)]
        if found:
            return found
    return []


def _journeys(text: str, sent_on: date | None, airports: Airports) -> Iterator[dict[str, Any]]:
    lines = text.splitlines()
    cancelled = CANCELLED_WORDS.search(text) is not None
    by_rail = len(BY_RAIL.findall(text)) > len(BY_AIR.findall(text))
    gds = [] if by_rail else [*gds_legs(text, sent_on=sent_on)]
    passengers: list[str | None] = [*(gds_passengers(text) if gds else labelled_passengers(text))]
    for passenger in passengers or [None]:
        details = _details(lines, cancelled) | {"underName": passenger and {"@type": "Person", "name": passenger}}
        if by_rail:
            for ride in train_legs(text, sent_on=sent_on):
                yield normal(train_reservation(ride, **details))
        else:
            for leg in gds or flight_legs(text, sent_on=sent_on, airports=airports):
                yield normal(flight_reservation(leg, airports, **details))


def _stays(text: str, sent_on: date | None) -> Iterator[dict[str, Any]]:
    stay = stay_in(text, sent_on=sent_on)
    if stay is not None:
        ends = {
            name: moment(day, clock or Clock(0, 0), None).isoformat()
            for name, (day, clock) in (("checkinTime", stay.arrives), ("checkoutTime", stay.leaves))
        }
        details = _details(text.splitlines(), CANCELLED_WORDS.search(text) is not None)
        house = {"@type": "LodgingBusiness", "name": stay.name}
        yield normal({"@type": "LodgingReservation", **details, **ends, "reservationFor": house})


def _details(lines: list[str], cancelled: bool) -> dict[str, Any]:
    """Return the details of the whole booking: its code (the first one of the text) and its status, cancelled or
    confirmed.
    """
    codes = list(booking_codes(lines))
    return {
        "reservationNumber": codes[0][1] if codes else None,
        "reservationStatus": CANCELLED if cancelled else CONFIRMED,
    }


def _passes(text: str, sent_on: date | None) -> Iterator[dict[str, Any]]:
    for one in boardings(text, sent_on=sent_on):
        yield normal(
            {
                "@type": "FlightReservation",
                "reservationNumber": one.code,
                "reservationStatus": CONFIRMED,
                "underName": {"@type": "Person", "name": one.passenger},
                "airplaneSeat": one.seat,
                "passengerSequenceNumber": one.sequence,
                "reservationFor": {
                    "@type": "Flight",
                    "airline": {"@type": "Airline", "iataCode": one.airline},
                    "flightNumber": one.number,
                    "departureAirport": {"@type": "Airport", "iataCode": one.origin},
                    "arrivalAirport": {"@type": "Airport", "iataCode": one.goal},
                    "departureDay": one.day and one.day.isoformat(),
                },
            }
        )
