"""Reservations as in schema.org: the shapes of their types, one normal form, and those that HTML has embedded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

from mnemic.structured.schema import Schema
from mnemic.structured.shape import Shape

CONFIRMED = "http://schema.org/ReservationConfirmed"
CANCELLED = "http://schema.org/ReservationCancelled"

_TEXT = {"type": "string", "maxLength": 500}
_TIME = {"type": "string", "format": "date-time"}


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"@type": _TEXT, **fields}, "additionalProperties": False}


_PLACE = _object(name=_TEXT, iataCode=_TEXT, address=_TEXT, telephone=_TEXT)
_NAMED = _object(name=_TEXT, iataCode=_TEXT, email=_TEXT, familyName=_TEXT, givenName=_TEXT)
_RIDE = {"departureTime": _TIME, "arrivalTime": _TIME, "departureDay": {"type": "string", "format": "date"}}
_FLIGHT = _object(
    flightNumber=_TEXT, airline=_NAMED, departureAirport=_PLACE, arrivalAirport=_PLACE, departureTerminal=_TEXT,
    arrivalTerminal=_TEXT, departureGate=_TEXT, boardingTime=_TIME, **_RIDE,
)  # fmt: skip
_TRAIN = _object(
    trainNumber=_TEXT, trainName=_TEXT, departureStation=_PLACE, arrivalStation=_PLACE, departurePlatform=_TEXT, **_RIDE
)
_EVENT = _object(name=_TEXT, location=_PLACE, startDate=_TIME, endDate=_TIME)
_RESERVATION = {
    "reservationNumber": _TEXT, "reservationStatus": {"enum": [CONFIRMED, CANCELLED]}, "underName": _NAMED,
    "modifiedTime": _TIME, "url": _TEXT, "totalPrice": {"type": ["string", "number"]}, "priceCurrency": _TEXT,
}  # fmt: skip
# What each type is for, its own fields, and what tells two of one booking apart.
_TYPES: Mapping[str, tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = {
    "FlightReservation": (
        _FLIGHT, {"airplaneSeat": _TEXT}, ("reservationFor.flightNumber", "reservationFor.departureTime")
    ),
    "TrainReservation": (_TRAIN, {}, ("reservationFor.trainNumber", "reservationFor.departureTime")),
    "LodgingReservation": (
        _PLACE, {"checkinTime": _TIME, "checkoutTime": _TIME}, ("reservationFor.name", "checkinTime")
    ),
    "EventReservation": (_EVENT, {}, ("reservationFor.name", "reservationFor.startDate")),
}  # fmt: skip
_FLIGHT_TITLE = (
    "reservationFor.airline.iataCode", "reservationFor.flightNumber", "reservationFor.departureAirport.iataCode",
    "reservationFor.arrivalAirport.iataCode", "reservationFor.departureTime",
)  # fmt: skip


def normalise(reservation: Mapping[str, Any]) -> dict[str, Any]:
    """Return a reservation without the fields that its shape does not have, its status as one of two, and the number of
    a flight apart from its airline.
    """
    found = dict(_without_value_types(reservation))
    name = str(found.get("@type", "")).rstrip("/").rpartition("/")[2]
    if name not in RESERVATIONS:
        return found
    if "reservationStatus" in found:
        cancelled = str(found["reservationStatus"]).lower().endswith(("cancelled", "canceled"))
        found["reservationStatus"] = CANCELLED if cancelled else CONFIRMED
    if name == "FlightReservation" and isinstance(found.get("reservationFor"), Mapping):
        found["reservationFor"] = _normalise_flight(found["reservationFor"])
    described: dict[str, Any] = _described_part({**found, "@type": name}, RESERVATIONS[name].schema.document)
    return {field: value for field, one in described.items() if (value := _drop_empty(one)) not in (None, "", {})}


def _drop_empty(value: Any) -> Any:
    """Return JSON data without nulls, empty texts, and objects that have nothing but a type."""
    if isinstance(value, Mapping):
        rest = {name: inner for name, one in value.items() if (inner := _drop_empty(one)) not in (None, "", [], {})}
        return rest if set(rest) - {"@type"} else {}
    return value


def _without_value_types(value: Any) -> Any:
    """Return JSON-LD with plain values: `{"@type": "DateTime", "@value": "..."}` is its value."""
    if isinstance(value, Mapping):
        if "@value" in value:
            return value["@value"]
        return {str(name): _without_value_types(inner) for name, inner in value.items()}
    return [_without_value_types(inner) for inner in value] if isinstance(value, list) else value


def _normalise_flight(flight: Mapping[str, Any]) -> dict[str, Any]:
    found = dict(flight)
    number = re.fullmatch(
        r"([A-Z][A-Z\d]|\d[A-Z])?[ -]?0*(\d{1,4})", str(found.get("flightNumber", "")).strip().upper()
    )
    if number:
        found["flightNumber"] = number[2]
        airline = found["airline"] if isinstance(found.get("airline"), Mapping) else {}
        found["airline"] = {"@type": "Airline", "iataCode": number[1], **airline}
    if re.match(r"\d{4}-\d\d-\d\d", str(found.get("departureTime"))):
        found.setdefault("departureDay", str(found["departureTime"])[:10])
    return found


def _described_part(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return the part of `value` that `schema` describes; values of the wrong form are left out."""
    fields = schema.get("properties")
    if isinstance(value, list):
        value = value[0] if value else None
    if fields is not None:
        known = value.items() if isinstance(value, Mapping) else [("name", value)]
        return {name: _described_part(inner, fields[name]) for name, inner in known if name in fields}
    if isinstance(value, int) and not isinstance(value, bool) and schema.get("type") == "string":
        value = str(value)
    return None if any(Schema(schema, is_ours=True).problems(value)) else value


def _shape(name: str) -> Shape:
    subject, own, identity = _TYPES[name]
    title = _FLIGHT_TITLE if name == "FlightReservation" else identity
    return Shape(
        name=name,
        schema=Schema(_object(**_RESERVATION, reservationFor=subject, **own), is_ours=True),
        identity=("reservationNumber", *identity),
        person=None if name == "LodgingReservation" else "underName",  # a room is shared, a seat is not
        title=("reservationNumber", *title),
        modified="modifiedTime",
        normalise=normalise,
    )


RESERVATIONS: Mapping[str, Shape] = {name: _shape(name) for name in _TYPES}
"""The shape of each type; two reservations with the same number, subject and time are the same one."""

_SCRIPT = re.compile(r"<script[^<>]*application/ld\+json[^<>]*>([^<]*)</script", re.IGNORECASE)
_SILENT = re.compile(r"<(?:script|style)[^<>]*>[^<]*", re.IGNORECASE)
_LINE_END = re.compile(r"<(?:br|/?p|/?div|/?tr|/?li|/?h\d)\b[^<>]*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][^<>]*>", re.IGNORECASE)


def embedded_reservations(html: str) -> list[dict[str, Any]]:
    """Return the reservations that HTML has embedded as JSON-LD, one for each thing and each person."""
    found = []
    for script in _SCRIPT.findall(html):
        try:
            data = json.loads(script, strict=False)
        except (ValueError, RecursionError):
            continue
        found += [normalise(each) for one in _objects(data) for each in _split_reservation(one)]
    return [one for one in found if one.get("@type") in RESERVATIONS]


def text_of(html: str) -> str:
    """Return the text of HTML, a line for each block; plain text is unchanged."""
    if not _TAG.search(html):
        return html
    return unescape(_TAG.sub(" ", _LINE_END.sub("\n", _SILENT.sub("", html))))


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        value = value.get("@graph", [value])
    return (one for one in value if isinstance(one, Mapping)) if isinstance(value, list) else iter(())


def _split_reservation(reservation: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    things, people = reservation.get("reservationFor"), reservation.get("underName")
    return [
        {**reservation, "reservationFor": thing, "underName": person}
        for thing in (things if isinstance(things, list) else [things])
        for person in (people if isinstance(people, list) else [people])
    ]
