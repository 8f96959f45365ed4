"""Data that senders mark up for machines: JSON-LD, microdata, calendar entries, boarding passes, in mail and alone."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic_travel.boarding_pass import boardings
from mnemic_travel.document import document_of
from mnemic_travel.markup import marked_up, text_of
from mnemic_travel.schema_org import RESERVATIONS, normal
from tests.travel_documents import brief, read

FLIGHT: dict[str, Any] = {
    "@context": "http://schema.org",
    "@type": "FlightReservation",
    "reservationNumber": "QX4711",
    "reservationStatus": "http://schema.org/Confirmed",
    "underName": {"@type": "Person", "name": "Ana Diaz"},
    "ticketToken": "qrCode:12",
    "reservationFor": {
        "@type": "Flight",
        "flightNumber": "XY110",
        "airline": {"@type": "Airline", "name": "Some Air"},
        "departureAirport": {"@type": "Airport", "iataCode": "SFO"},
        "departureTime": "2027-03-04T20:15:00-08:00",
        "arrivalAirport": {"@type": "Airport", "iataCode": "JFK"},
        "arrivalTime": {"@type": "DateTime", "@value": "2027-03-05T06:30:00-05:00"},
    },
}
EXPECTED = "QX4711 XY110 SFO - 2027-03-04T20:15 JFK - 2027-03-05T06:30"


def script(value: Any) -> str:
    return f'<html><head><script type="application/ld+json">{value}</script></head><body>Hello</body></html>'


@pytest.mark.parametrize(
    "html",
    [
        script(json.dumps(FLIGHT)),
        script(json.dumps([{"@type": "Organization", "name": "Some Air"}, FLIGHT])),
        script(json.dumps({"@context": "http://schema.org", "@graph": [FLIGHT]})),
        script("<!--\n" + json.dumps(FLIGHT).replace('"}}', '",}}') + "\n-->"),
        script(json.dumps(FLIGHT).replace('"', "&quot;")),
    ],
    ids=["object", "list", "graph", "fenced with commas", "entities"],
)
def test_json_ld(html: str) -> None:
    (found,) = read(html)
    assert brief(found) == EXPECTED
    assert found["underName"]["name"] == "Ana Diaz"
    assert found["reservedTicket"]["ticketToken"] == "qrCode:12"
    RESERVATIONS["FlightReservation"].schema.require(found)


def test_one_reservation_for_several_flights_is_several() -> None:
    second = FLIGHT["reservationFor"] | {"flightNumber": "XY111", "departureTime": "2027-03-09T08:00:00-05:00"}
    both = FLIGHT | {"reservationFor": [FLIGHT["reservationFor"], second]}
    assert [one["reservationFor"]["flightNumber"] for one in read(script(json.dumps(both)))] == ["110", "111"]


def test_one_reservation_for_several_travellers_is_several() -> None:
    people = [{"@type": "Person", "name": "Ana Diaz"}, {"@type": "Person", "name": "Ben Diaz"}]
    found = read(script(json.dumps({**FLIGHT, "underName": people})))
    assert [one["underName"]["name"] for one in found] == ["Ana Diaz", "Ben Diaz"]
    assert [brief(one) for one in found] == [EXPECTED] * 2


def test_microdata() -> None:
    html = """<div itemscope itemtype="http://schema.org/FlightReservation">
      <meta itemprop="reservationNumber" content="QX4711">
      <link itemprop="reservationStatus" href="http://schema.org/Confirmed">
      <div itemprop="reservationFor" itemscope itemtype="http://schema.org/Flight">
        Flight <span itemprop="flightNumber">110</span>
        <div itemprop="airline" itemscope itemtype="http://schema.org/Airline"><span itemprop="iataCode">XY</span></div>
        <div itemprop="departureAirport" itemscope itemtype="http://schema.org/Airport">
          <p itemprop="name">San Francisco<meta itemprop="iataCode" content="SFO"/></p></div>
        <time itemprop="departureTime" datetime="2027-03-04T20:15:00-08:00">tomorrow</time>
        <div itemprop="arrivalAirport" itemscope itemtype="http://schema.org/Airport">
          <b itemprop="iataCode">JFK</b></div>
        <time itemprop="arrivalTime" datetime="2027-03-05T06:30:00-05:00">later</time>
      </div></div>"""
    (found,) = read(html)
    assert brief(found) == EXPECTED
    assert found["reservationFor"]["departureAirport"]["name"] == "San Francisco"


def test_hotels_trains_and_events_are_read_too() -> None:
    hotel = {"@type": "LodgingReservation", "reservationNumber": "H1", "checkinTime": "2027-04-11T16:00:00-08:00"}
    train = {"@type": "TrainReservation", "reservationFor": {"@type": "TrainTrip", "trainNumber": "ICE 123"}}
    event = {"@type": "EventReservation", "reservationFor": {"name": "Foo Fighters", "startDate": "2027-03-06T19:30"}}
    found = [read(script(json.dumps(one)))[0] for one in (hotel, train, event)]
    assert found[0]["checkinTime"].startswith("2027-04-11")
    assert found[1]["reservationFor"]["trainNumber"] == "ICE 123"
    assert found[2]["reservationFor"]["name"] == "Foo Fighters"
    for one in found:
        RESERVATIONS[one["@type"]].schema.require(one)


def test_a_mail_is_read_by_its_parts_and_its_date() -> None:
    mail = (
        "From: a@air.example\nTo: b@mail.example\nDate: Sat, 1 Apr 2017 10:00:00 +0200\nMIME-Version: 1.0\n"
        'Content-Type: multipart/alternative; boundary="x"\n\n--x\nContent-Type: text/plain\n\n'
        "Flight XY 12 on 3 May, 07:15 London Heathrow (LHR)\n--x\nContent-Type: text/html\n\n"
        f"{script(json.dumps(FLIGHT))}\n--x--\n"
    )
    document = document_of(mail)
    assert document.sent_on == date(2017, 4, 1)
    assert [brief(one) for one in read(mail)] == [EXPECTED]
    plain = mail.replace("application/ld+json", "text/template")
    assert [brief(one) for one in read(plain)] == ["- XY12 LHR - 2017-05-03T07:15 - - -"]


def test_a_calendar_entry_is_read_by_its_words_and_its_times() -> None:
    entry = (
        "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:Flight LH 2041 Munich - Frankfurt\nDTSTART:20171010T060000Z\n"
        "DTEND;TZID=Europe/Berlin:20171010T090500\nLOCATION:Munich (MUC)\n"
        "DESCRIPTION:Your booking code: ABC123\\nMunich (MUC) -\n  Frankfurt (FRA)\nBEGIN:VALARM\nDESCRIPTION:x\n"
        "END:VALARM\nEND:VEVENT\nEND:VCALENDAR"
    )
    assert [brief(one) for one in read(entry)] == ["ABC123 LH2041 MUC - 2017-10-10T08:00 FRA - 2017-10-10T09:05"]
    embedded = entry.replace("DTEND", "X-SENDER-DATA:" + json.dumps([FLIGHT]).replace(",", "\\,") + "\nDTEND")
    assert [brief(one) for one in read(embedded)] == [EXPECTED]


def test_the_code_of_a_boarding_pass() -> None:
    code = "M2DOE/JOHN            EXXX007 TXLBRUSN 2592 110Y012A0017 100YYY111 BRUSFOUA 0110 111C003C0001 100"
    first, second = boardings(code, sent_on=date(2017, 4, 1))
    assert (first.code, first.airline, first.number, first.origin, first.goal) == ("XXX007", "SN", "2592", "TXL", "BRU")
    assert (first.day, first.seat, first.sequence) == (date(2017, 4, 20), "12A", "17")
    assert (second.code, second.number, second.day) == ("YYY111", "110", date(2017, 4, 21))
    assert first.passenger == "JOHN DOE"
    assert brief(read(code)[0]) == "XXX007 SN2592 TXL - 2017-04-20 BRU - -"
    (cut,) = boardings("aztecCode:M1DOE/JOHN            EXXX007 TXLBRUSN 2592 110", sent_on=date(2018, 1, 2))
    assert cut.day == date(2018, 4, 20)
    assert boardings("M1DOE/JOHN", sent_on=None) == []


def test_an_unknown_field_does_not_get_in_and_a_malformed_one_is_left_out() -> None:
    found = normal(FLIGHT | {"evil": {"x": 1}, "modifiedTime": "yesterday", "reservationNumber": 4711})
    assert "evil" not in found
    assert "modifiedTime" not in found
    assert found["reservationNumber"] == "4711"


@pytest.mark.parametrize(
    "html", ["<script type='application/ld+json'>{", script("[" * 5_000), "<div " * 2_000, "<p itemprop='x'>y", ""]
)
def test_broken_markup_is_no_reservation(html: str) -> None:
    assert marked_up(html) == []


def test_brackets_in_scripts_and_values_are_what_they_are() -> None:
    html = script('{"@type": "Event", "name": "I <3 NY"}') + (
        '<!-- <p>not said</p> --><div itemscope itemtype="http://schema.org/Hotel">'
        '<meta itemprop="name" content="Sea < Sand > Sun"><p title=\'<x>\'>if a <b then 1 < 2</p><br'
    )
    event, hotel = marked_up(html)
    assert (event["name"], hotel["name"]) == ("I <3 NY", "Sea < Sand > Sun")
    assert text_of(html).split("\n") == ["Hello", "", "if a <b then 1 < 2", "<br"]


@pytest.mark.parametrize(
    "unit",
    [
        "<",
        "<a ",
        '<a "="',
        "<a b='",
        "<!--",
        "<!-->",
        "<![if>",
        "<?",
        "</",
        "</script ",
        "<script",
        "<script>",
        '<p =">',
    ],
)
def test_what_never_ends_is_read_in_time_that_grows_with_it(unit: str) -> None:
    assert marked_up(unit * 5_000 + '" <') == []
    assert isinstance(text_of(unit * 5_000), str)


@given(st.text(alphabet="<>!-=\"'/ ascript", max_size=80))
def test_any_text_is_some_document(html: str) -> None:
    assert marked_up(html) == []
    assert isinstance(text_of(html), str)


def test_the_text_of_html_keeps_lines_and_cells() -> None:
    html = "<style>p{}</style><table><tr><td>Flight</td><td>XY&nbsp;1</td></tr></table><p>a<br>b\n c</p>"
    assert [line.strip() for line in text_of(html).splitlines() if line.strip()] == ["Flight  XY 1", "a", "b c"]
