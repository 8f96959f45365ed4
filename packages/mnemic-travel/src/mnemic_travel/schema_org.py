"""Reservations as in schema.org: one normal form for the variants of senders, and the shapes of the types."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from mnemic.structured.schema import Schema
from mnemic.structured.shape import Shape
from mnemic_travel.legs import CANCELLED, CONFIRMED, drop_empty

_TEXT = {"type": "string", "maxLength": 500}
_TIME = {"type": "string", "format": "date-time"}


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"@type": _TEXT, **fields}, "additionalProperties": False}


_PLACE = _object(name=_TEXT, iataCode=_TEXT, identifier=_TEXT, telephone=_TEXT, address=_object(
    streetAddress=_TEXT, addressLocality=_TEXT, postalCode=_TEXT, addressRegion=_TEXT, addressCountry=_TEXT,
))  # fmt: skip
_NAMED = _object(name=_TEXT, iataCode=_TEXT, email=_TEXT, familyName=_TEXT, givenName=_TEXT, url=_TEXT)
_SEAT = _object(seatNumber=_TEXT, seatRow=_TEXT, seatSection=_TEXT, seatingType=_TEXT)
_TICKET = _object(ticketNumber=_TEXT, ticketToken={"type": "string", "maxLength": 2000}, ticketedSeat=_SEAT)
_RIDE = {"departureTime": _TIME, "arrivalTime": _TIME, "departureDay": {"type": "string", "format": "date"}}
_FOR: Mapping[str, dict[str, Any]] = {
    "FlightReservation": _object(
        flightNumber=_TEXT, airline=_NAMED, operatedBy=_NAMED, departureAirport=_PLACE, arrivalAirport=_PLACE,
        departureTerminal=_TEXT, arrivalTerminal=_TEXT, departureGate=_TEXT, arrivalGate=_TEXT,
        boardingTime=_TIME, **_RIDE,
    ),
    "TrainReservation": _object(
        trainNumber=_TEXT, trainName=_TEXT, provider=_NAMED, departureStation=_PLACE, arrivalStation=_PLACE,
        departurePlatform=_TEXT, arrivalPlatform=_TEXT, **_RIDE,
    ),
    "BusReservation": _object(
        busNumber=_TEXT, busName=_TEXT, provider=_NAMED, departureBusStop=_PLACE, arrivalBusStop=_PLACE,
        departurePlatform=_TEXT, **_RIDE,
    ),
    "LodgingReservation": _PLACE,
    "FoodEstablishmentReservation": _PLACE,
    "EventReservation": _object(
        name=_TEXT, location=_PLACE, startDate=_TIME, endDate=_TIME, doorTime=_TIME, performer=_NAMED, url=_TEXT,
    ),
    "RentalCarReservation": _object(name=_TEXT, model=_TEXT, rentalCompany=_NAMED, brand=_NAMED),
}  # fmt: skip
_OWN: Mapping[str, dict[str, Any]] = {
    "FlightReservation": {"boardingGroup": _TEXT, "airplaneSeat": _TEXT, "passengerSequenceNumber": _TEXT},
    "LodgingReservation": {"checkinTime": _TIME, "checkoutTime": _TIME},
    "FoodEstablishmentReservation": {
        "startTime": _TIME, "endTime": _TIME, "partySize": {"type": ["integer", "string"]},
    },
    "RentalCarReservation": {
        "pickupTime": _TIME, "dropoffTime": _TIME, "pickupLocation": _PLACE, "dropoffLocation": _PLACE,
    },
}  # fmt: skip
_IDENTITY: Mapping[str, tuple[str, ...]] = {
    "FlightReservation": ("reservationFor.flightNumber", "reservationFor.departureTime"),
    "TrainReservation": ("reservationFor.trainNumber", "reservationFor.departureTime"),
    "BusReservation": ("reservationFor.busNumber", "reservationFor.departureTime"),
    "LodgingReservation": ("reservationFor.name", "checkinTime"),
    "FoodEstablishmentReservation": ("reservationFor.name", "startTime"),
    "EventReservation": ("reservationFor.name", "reservationFor.startDate"),
    "RentalCarReservation": ("pickupTime",),
}
_TITLE: Mapping[str, tuple[str, ...]] = {
    "FlightReservation": (
        "reservationFor.airline.iataCode", "reservationFor.flightNumber", "reservationFor.departureAirport.iataCode",
        "reservationFor.arrivalAirport.iataCode", "reservationFor.departureTime",
    ),
    "TrainReservation": (
        "reservationFor.trainNumber", "reservationFor.departureStation.name", "reservationFor.arrivalStation.name",
        "reservationFor.departureTime",
    ),
}  # fmt: skip
_EACH_FOR_A_PERSON = frozenset({"FlightReservation", "TrainReservation", "BusReservation", "EventReservation"})
"""Types of which each person of a booking has one; a room, a table or a car is shared."""
TYPES = frozenset(_FOR)
"""The types that are known."""


def _shape(name: str) -> Shape:
    fields = {
        "reservationNumber": _TEXT, "reservationStatus": {"enum": [CONFIRMED, CANCELLED]}, "underName": _NAMED,
        "modifiedTime": _TIME, "bookingTime": _TIME, "url": _TEXT, "reservedTicket": _TICKET,
        "totalPrice": {"type": ["string", "number"]}, "priceCurrency": _TEXT, "provider": _NAMED,
        "reservationFor": _FOR[name], **_OWN.get(name, {}),
    }  # fmt: skip
    return Shape(
        name=name,
        schema=Schema(_object(**fields), is_ours=True),
        identity=("reservationNumber", *_IDENTITY[name]),
        person="underName" if name in _EACH_FOR_A_PERSON else None,
        title=("reservationNumber", *_TITLE.get(name, _IDENTITY[name])),
        modified="modifiedTime",
        normalise=normal,
    )


def normal(reservation: Mapping[str, Any]) -> dict[str, Any]:
    """Return the reservation in normal form, without fields that its shape does not have."""
    found = dict(_plain(reservation))
    name = _type(found)
    for given, meant in (("reservationId", "reservationNumber"), ("confirmationNumber", "reservationNumber")):
        if given in found:
            found.setdefault(meant, found.pop(given))
    ticket = {key: found.pop(key) for key in ("ticketNumber", "ticketToken") if key in found}
    if ticket:
        found["reservedTicket"] = {"@type": "Ticket", **_first_object(found.get("reservedTicket", {})), **ticket}
    if "reservationStatus" in found:
        found["reservationStatus"] = _status(found["reservationStatus"])
    if name == "FlightReservation" and isinstance(found.get("reservationFor"), Mapping):
        found["reservationFor"] = _flight(found["reservationFor"])
    known = _described_part({**found, "@type": name}, _SCHEMAS[name]) if name in _SCHEMAS else found
    kept: dict[str, Any] = drop_empty(known)
    return kept


def _plain(value: Any) -> Any:
    """JSON-LD values as plain ones, and times without the names of their types."""
    if isinstance(value, Mapping):
        if "@value" in value:
            return value["@value"]
        return {str(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _type(found: Mapping[str, Any]) -> str:
    named = found.get("@type", "")
    named = named[0] if isinstance(named, list) and named else named
    return str(named).rstrip("/").rpartition("/")[2]


def _status(value: Any) -> str:
    return CANCELLED if re.search(r"cancell?ed$", str(value), re.IGNORECASE) else CONFIRMED


def _flight(flight: Mapping[str, Any]) -> dict[str, Any]:
    """Return the flight with its number apart from the airline's code, and its day."""
    found = dict(flight)
    number = re.fullmatch(
        r"([A-Z]{2}|[A-Z]\d|\d[A-Z])?[ -]?0*(\d{1,4}[A-Z]?)", str(found.get("flightNumber", "")).strip().upper()
    )
    if number:
        found["flightNumber"] = number[2]
        airline = _first_object(found.get("airline", {}))
        if number[1] and "iataCode" not in airline:
            found["airline"] = {"@type": "Airline", **airline, "iataCode": number[1]}
    departs = found.get("departureTime")
    if isinstance(departs, str) and re.match(r"\d{4}-\d\d-\d\d", departs):
        found.setdefault("departureDay", departs[:10])
    return found


def _first_object(value: Any) -> dict[str, Any]:
    value = value[0] if isinstance(value, list) and value else value
    return dict(value) if isinstance(value, Mapping) else {"name": value} if isinstance(value, str) and value else {}


def _described_part(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return the part of `value` that `schema` describes; values of the wrong form are left out."""
    fields = schema.get("properties")
    if fields is not None:
        return {
            name: _described_part(inner, fields[name]) for name, inner in _first_object(value).items() if name in fields
        }
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, int | float) and not isinstance(value, bool) and schema.get("type") == "string":
        value = str(value)
    return None if any(Schema(schema, is_ours=True).problems(value)) else value


_SCHEMAS: dict[str, Mapping[str, Any]] = {}
RESERVATIONS: Mapping[str, Shape] = MappingProxyType({name: _shape(name) for name in _FOR})
"""Shape of each type of reservation; two with the same number, subject and day are the same reservation."""
_SCHEMAS.update({name: shape.schema.document for name, shape in RESERVATIONS.items()})


def reservations_in(objects: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the reservations among objects of JSON-LD, each for one thing, in their normal spelling."""
    found = (normal(each) for one in objects if _type(one) in TYPES for each in _split_reservation(one))
    return [one for one in found if set(one) - {"@type"}]


def _split_reservation(reservation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return one reservation for each of its subjects, and for each traveller where each has their own."""
    wanted, people = reservation.get("reservationFor"), reservation.get("underName")
    each = [{"reservationFor": one} for one in wanted] if isinstance(wanted, list) else [{}]
    apart = isinstance(people, list) and _type(reservation) in _EACH_FOR_A_PERSON
    persons = [{"underName": one} for one in people or ()] if apart else [{}]
    return [{**reservation, **person, **thing} for person in persons for thing in each]
