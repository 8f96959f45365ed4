"""The example plug-in: sentences and embedded data in, reservations out, and nothing invented."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from mnemic.structured.documents import installed_readers
from mnemic_travel import TravelReader, read_reservations
from mnemic_travel.schema_org import RESERVATIONS

SENT = date(2027, 3, 1)
EMBEDDED: dict[str, Any] = {
    "@context": "http://schema.org",
    "@type": "FlightReservation",
    "reservationNumber": "QX4711",
    "reservationStatus": "http://schema.org/Cancelled",
    "underName": [{"@type": "Person", "name": "Ana Diaz"}, {"@type": "Person", "name": "Ben Diaz"}],
    "reservationFor": {
        "@type": "Flight",
        "flightNumber": "XY0110",
        "departureAirport": {"@type": "Airport", "iataCode": "SFO"},
        "departureTime": {"@type": "DateTime", "@value": "2027-03-04T20:15:00-08:00"},
        "arrivalAirport": {"@type": "Airport", "iataCode": "JFK"},
    },
}


def describe(reservation: dict[str, Any]) -> str:
    flight = reservation["reservationFor"]
    return " ".join(
        str(value or "-")
        for value in (
            reservation.get("reservationNumber"),
            flight["airline"]["iataCode"] + flight["flightNumber"],
            flight.get("departureAirport", {}).get("iataCode"),
            flight.get("departureTime", flight.get("departureDay")),
            flight.get("arrivalAirport", {}).get("iataCode") or flight.get("arrivalAirport", {}).get("name"),
            flight.get("arrivalTime"),
        )
    )


def test_the_plug_in_is_found_by_its_entry_point() -> None:
    assert any(isinstance(reader, TravelReader) for reader in installed_readers())


@pytest.mark.parametrize(
    ("text", "flights"),
    [
        (
            "Your flight UA1234 to Paris departs Tuesday 10:30am from SFO, Terminal 3",
            ["- UA1234 SFO 2027-03-02T10:30:00-08:00 Paris -"],
        ),
        (
            "Booking code: QWE123. Flight LH 400 from FRA to JFK on 5 May 2027 at 10:05",
            ["QWE123 LH400 FRA 2027-05-05T10:05:00+02:00 JFK -"],
        ),
        (
            """Booking reference: QX4T7Z
            LH 400, 5 June 2027, Frankfurt (FRA) 10:05 - New York (JFK) 12:40
            LH 401, June 9, 2027, New York (JFK) 9:15 PM - Frankfurt (FRA) 10:50""",
            [
                "QX4T7Z LH400 FRA 2027-06-05T10:05:00+02:00 JFK 2027-06-05T12:40:00-04:00",
                "QX4T7Z LH401 JFK 2027-06-09T21:15:00-04:00 FRA 2027-06-10T10:50:00+02:00",
            ],
        ),
        ("Flight KL 1007 on 14 March to London, from AMS", ["- KL1007 AMS 2027-03-14 London -"]),
        ("I paid EUR 20 on 5 May in room B12.", []),
        ("The hotel is nice. Check-in is from 15:00.", []),
    ],
)
def test_flights_are_read_from_sentences(text: str, flights: list[str]) -> None:
    assert [describe(one) for one in read_reservations(text, sent_on=SENT)] == flights


def test_names_seat_and_passengers_are_those_of_the_text() -> None:
    text = (
        "Your booking LQ2M4T: KL 1007 Amsterdam (AMS) - London Heathrow (LHR), 14 March 2027, 09:15, seat 12C, "
        "EUR 129.00, passengers Ms Vera Klein and Tom Klein"
    )
    first, second = read_reservations(text, sent_on=SENT)
    assert (first["underName"]["name"], second["underName"]["name"]) == ("Vera Klein", "Tom Klein")
    assert first["airplaneSeat"] == "12C"
    assert first["reservationFor"]["departureAirport"]["name"] == "Amsterdam"
    assert first["reservationFor"]["arrivalAirport"]["name"] == "London Heathrow"


@pytest.mark.parametrize("data", [EMBEDDED, [{"@type": "Organization"}, EMBEDDED], {"@graph": [EMBEDDED]}])
def test_embedded_data_is_read_before_the_text_and_for_each_person(data: Any) -> None:
    html = (
        f'<html><script type="application/ld+json">{json.dumps(data)}</script><p>Flight AB 1 to Rome, 5 May</p></html>'
    )
    found = read_reservations(html, sent_on=SENT)
    assert [one["underName"]["name"] for one in found] == ["Ana Diaz", "Ben Diaz"]
    assert {describe(one) for one in found} == {"QX4711 XY110 SFO 2027-03-04T20:15:00-08:00 JFK -"}
    assert {one["reservationStatus"] for one in found} == {"http://schema.org/ReservationCancelled"}
    for one in found:
        RESERVATIONS["FlightReservation"].schema.require(one)


def test_a_hotel_and_an_event_are_read_where_they_are_embedded() -> None:
    hotel = {"@type": "LodgingReservation", "reservationNumber": "H1", "checkinTime": "2027-04-11T16:00:00-08:00"}
    event = {"@type": "EventReservation", "reservationFor": {"name": "Concert", "startDate": "2027-03-06T19:30:00"}}
    html = f'<div><script type="application/ld+json">{json.dumps([hotel, event])}</script></div>'
    stay, concert = read_reservations(html)
    assert stay["checkinTime"].startswith("2027-04-11")
    assert concert["reservationFor"]["name"] == "Concert"


def test_the_text_of_html_is_read_by_its_lines() -> None:
    html = "<html><style>p {}</style><p>Flight XY 12 &amp; more on 3 May 2027, 07:15</p><p>from LHR</p></html>"
    assert [describe(one) for one in read_reservations(html)] == ["- XY12 LHR 2027-05-03T07:15:00+01:00 - -"]


def test_a_broken_script_is_read_as_text() -> None:
    html = '<script type="application/ld+json">{"@type": </script><p>Flight XY 12 on 3 May 2027 from LHR</p>'
    assert [describe(one) for one in read_reservations(html)] == ["- XY12 LHR 2027-05-03 - -"]
