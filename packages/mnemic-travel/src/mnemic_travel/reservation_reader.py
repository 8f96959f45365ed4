"""Reservations of a document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from mnemic.language.text.pattern import Pattern
from mnemic_travel.airports import Airports
from mnemic_travel.boarding_pass import boardings
from mnemic_travel.calendar import Event, events
from mnemic_travel.dates import Clock, find_dates, find_times, is_american
from mnemic_travel.document import Document
from mnemic_travel.flights import flight_legs, train_legs
from mnemic_travel.gds import gds_legs, gds_passengers
from mnemic_travel.labels import BOOKING, BY_AIR, BY_RAIL
from mnemic_travel.labels import CANCELLED as CANCELLED_WORDS
from mnemic_travel.legs import CANCELLED, CONFIRMED, flight_reservation, moment, train_reservation, zone_of
from mnemic_travel.markup import marked_up, text_of
from mnemic_travel.schema_org import normal, reservations_in

_CHECK_IN = re.compile(
    r"(?<!\w)(?:check-?\s?in|anreise(?:tag)?|ankunft|arrival(?: date)?|arriv[ée]e|llegada|entrada|arrivo|"
    r"aankomst|incheckning|innsjekking)(?!\w)",
    re.IGNORECASE,
)
_CHECK_OUT = re.compile(
    r"(?<!\w)(?:check-?\s?out|abreise(?:tag)?|departure(?: date)?|d[ée]part|salida|partenza|vertrek|"
    r"utcheckning|utsjekking)(?!\w)",
    re.IGNORECASE,
)
_HOUSE = re.compile(
    r"^[^\S\n]*+(?:hotel(?: ?name)?|property(?: name)?|accommodation|unterkunft|h[ée]bergement|[ée]tablissement|"
    r"alojamiento|struttura|"
    r"accommodatie|your hotel|ihr hotel)\s*:\s*(?P<name>\S.{2,80}?)\s*$",
    re.IGNORECASE | re.MULTILINE,
)
_NAMED = re.compile(
    r"(?<!\w)(?P<name>(?:[A-ZÀ-Þ][\w'&.-]{1,40}+ ){0,3}(?:Hotel|Hôtel|Hostel|Inn|Resort|Gasthof|Pension|B&B)"
    r"(?: [A-ZÀ-Þ][\w'&.-]+){0,3})"
)
_IS_STAY = re.compile(
    r"hotel|hostel|room|zimmer|chambre|habitaci[óo]n|camera|nights?|n[äa]chte|nuit|noche|notti", re.IGNORECASE
)
_BELOW = 2


@dataclass(frozen=True, slots=True)
class Stay:
    """A stay, possibly incomplete."""

    name: str | None
    arrives: tuple[date, Clock | None]
    leaves: tuple[date, Clock | None]


def stay_in(text: str, *, sent_on: date | None) -> Stay | None:
    """Return the stay that `text` confirms: both days are required."""
    if not _IS_STAY.search(text):
        return None
    lines = text.splitlines()
    american = is_american(text)
    arrives = _find_labelled(lines, _CHECK_IN, sent_on, american)
    leaves = _find_labelled(lines, _CHECK_OUT, sent_on if arrives is None else arrives[0], american)
    if arrives is None or leaves is None or leaves[0] < arrives[0]:
        return None
    named = _HOUSE.search(text) or _NAMED.search(text)
    return Stay(named["name"].strip() if named else None, arrives, leaves)


def _find_labelled(
    lines: list[str], label: re.Pattern[str], sent_on: date | None, american: bool
) -> tuple[date, Clock | None] | None:
    """Return the first date after the label, on its line or just below, and the first time after that."""
    for number, line in enumerate(lines):
        match = label.search(line)
        if match is None:
            continue
        rest = "\n".join([line[match.end() :], *lines[number + 1 : number + 1 + _BELOW]])
        for _, end, written in find_dates(rest, american=american):
            day = written.resolve_date(sent_on)
            if day is not None:
                behind = rest[end:].split("\n", 1)[0]
                return day, next((clock for *_, clock in find_times(behind)), None)
    return None


MOST = 12
_LABEL = Pattern(
    r"(?im)^\W{0,5}(?:passengers?|travell?ers?|fluggäste?|passagiere?|reisende[rn]?|passagers?|voyageurs?|pasajer[oa]s?"
    r"|viajer[oa]s?|passegger[oai]|viaggiator[ei]|passageir[oa]s?|passagiers?|reizigers?)(?: names?)?(?: ?\d{1,2})?\s?:"
    r"\s?(?P<names>[^\n:]{3,300})$"
)
_BETWEEN = re.compile(r"\s?[,;]\s?|\s(?:and|und|et|y|e|en|&)\s")
_TITLE = re.compile(
    r"(?i)\A(?:mr|mrs|ms|miss|dr|prof|herr|frau|m|mme|mlle|sr|sra|srta|sig|sig\.ra|dott|dhr|mevr|mw)\.?\s|\s\((?:adult|child"
    r"|infant|erwachsene\w*|kind|adulte|enfant|adulto|niñ[oa]|bambin[oa]|criança|volwassene)\)\Z"
)
_NAME = re.compile(r"\A[^\W\d_][\w'’.-]*(?:\s[^\W\d_][\w'’.-]*){1,4}\Z")


def labelled_passengers(text: str) -> list[str]:
    """Return the names behind labels, each once, in order."""
    found: dict[str, None] = {}
    for line in _LABEL.finditer(text):
        for part in _BETWEEN.split(line["names"].strip()):
            name = _TITLE.sub("", _TITLE.sub("", part.strip()))
            if _NAME.match(name) and name[0].isupper():
                found.setdefault(name)
    return list(found)[:MOST]


_VALUE = re.compile(
    r"(?<![\w/.@-])(?:[A-Z0-9]{2}/)?(?P<code>[A-Z0-9](?:[A-Z0-9]{4,11}|[A-Z0-9]{2,5}[ -][A-Z0-9]{2,6}))(?![\w@]|\.\w)"
)
_NO_CODE = re.compile(
    r"(?:BOOKING|RESERVATION|REFERENCE|NUMBER|CONFIRM(?:ED|ATION)|STATUS|FLIGHT|TICKETS?|ETICKET|PASSENGERS?|DETAILS|"
    r"NAME|DATE|PLEASE|ECONOMY|BUSINESS|ISSUED|TRAVEL|AGENCY|NUMMER|BUCHUNG|RESERVA|DOSSIER|VOYAGE|LOCATOR|RECORD|"
    r"CODE|ADDRESS|CHECK|ONLINE|MANAGE|SEATS?|CLASS|PRICE|TOTAL)\b"
)
_ISO = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}-\d{1,2}")
BELOW = 3
ASIDE = 16


def booking_codes(lines: list[str]) -> Iterator[tuple[int, str]]:
    """Yield line and code of every booking code, in order."""
    for number, line in enumerate(lines):
        for label in BOOKING.finditer(line):
            found = _text_behind(line, label.end()) or _under(lines, number, label.start())
            if found is not None:
                yield number, found


def _text_behind(line: str, start: int) -> str | None:
    rest = line[start:]
    label = re.match(
        r"\s*(?:/[^\d:]{0,40}?(?=\s{2}|:|$))?\s*(?:\([^)]*\))?\s*(?:number|no\b\.?|nr\b\.?|code|(?:is|es|est|ist|lautet|è)\b|[:=*#|.\s])*",
        rest,
        re.IGNORECASE,
    )
    match = _VALUE.match(rest, label.end() if label else 0)
    return _code(match)


def _under(lines: list[str], number: int, column: int) -> str | None:
    """Return the code on one of the next lines that begins near the column of the label."""
    if re.search(r":\s*\S", lines[number][column:]):
        return None
    for line in lines[number + 1 : number + 1 + BELOW]:
        for match in _VALUE.finditer(line):
            if abs(match.start() - column) <= ASIDE and _code(match) is not None:
                return _code(match)
    return None


def _code(match: re.Match[str] | None) -> str | None:
    """Return the matched text if it can be a code: no word, no date, at most one gap."""
    if match is None:
        return None
    code = match["code"]
    if " " in code or "-" in code:
        head = code.replace("-", " ").split()[0]
        if _ISO.match(code) or not any(c.isdigit() for c in code) or len(code) > 9:
            code = head
    return None if len(code) < 5 or _NO_CODE.match(code) else code


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
