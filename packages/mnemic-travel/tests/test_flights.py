"""Flights in the layouts that confirmations come in: labels, headings, tables, columns, prose, reservation systems."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic_travel.flights import MAX_LEGS
from tests.travel_documents import brief, read

LABELLED = """
Booking reference: ABCDEF
Booked on 23.03.2017 11:09

FLIGHT     XY 9520 - SOME AIR LINES                          WED 07 JUNE 2017
DEPARTURE: BERLIN, DE (TEGEL)                                    07 JUN 12:10
ARRIVAL:   DETROIT, MI (METROPOLITAN WAYNE CO), TERMINAL EM -    07 JUN 17:40
           NORTH TERMINAL
           DURATION: 11:30      EQUIPMENT: AIRBUS A321
           OPERATED BY: OTHER AIR, OT 1824
"""
HEADINGS = """
Your booking   Booking reference: 2ABCDE
Sunday, 10 September 2017
LX 977   operated by Another
18:20  Berlin Tegel TXL
19:55  Zurich ZRH
Economy

Monday, 11 September 2017
LX 40
13:05  Zurich ZRH
16:20  Los Angeles LAX  Terminal B
"""
TABLE_ROWS = """
Reservierungsnummer: X1Y2Z3
Datum       Flug    Von               Nach                Abflug  Ankunft  Klasse
10.09.2017  LX977   Berlin (TXL)      Zürich (ZRH)        18:20   19:55    Y
12.09.2017  LX 978  Zürich (ZRH)      Berlin (TXL)        07:10   08:40    Y
"""
COLUMNS = """
Buchungsnummer /Booking code
                XXX007
 Von /From      ZZ8588        20-Jul       20-Jul     Klasse F
 Munich (MUC)                 17:50        19:00      FNNN0C
 Nach /To                     Terminal 2
 Frankfurt (FRA)                           Terminal 1
"""
HTML_TABLE = """<html><body><table><tr><td>Booking reference</td><td><b>ABC123</b></td></tr></table>
<table><tr><th>Flight</th><th>Departure</th><th>Arrival</th></tr>
<tr><td>SN2592</td><td>20 Apr 2017 07:05<br>Berlin, Tegel (TXL)</td>
<td>20 Apr 2017 08:35<br>Brussels (BRU) Terminal A</td></tr></table></body></html>"""
FRENCH = """Votre vol AF1204
Référence de votre réservation : QWERTZ
Départ : mardi 3 juillet 2018 à 10h35 Paris Charles de Gaulle (CDG) Terminal 2F
Arrivée : mardi 3 juillet 2018 à 12h20 Rome Fiumicino (FCO) Terminal 1
Durée : 1h45
"""
AMERICAN = """Confirmation number: HKZ4QL
UA 110  Thu, Mar 4, 2027
San Francisco, CA (SFO)    8:15 PM   ->   New York, NY (JFK)   6:30 AM +1
"""
SPANISH = """Su código de reserva es K1ABC23
Vuelo XY 4529
Salida  jue 5 abr 2018 21:10  Londres Gatwick (LGW) Terminal N
Llegada vie 6 abr 2018 00:25  Roma (FCO)
"""
PROSE = "Your flight UA1234 to Paris departs Tuesday 10:30am from SFO, Terminal 3"
NUMBER_LAST = """PNR: KLM4QX
London Heathrow (LHR) 07:15 - Berlin (TXL) 10:05, 12 May 2017
Flight number: XY 980

Berlin (TXL) 18:20 - London Heathrow (LHR) 19:15, 14 May 2017
Flight number: XY 981
"""


@pytest.mark.parametrize(
    ("text", "flights"),
    [
        (LABELLED, ["ABCDEF XY9520 TXL - 2017-06-07T12:10 DTW EM 2017-06-07T17:40"]),
        (
            HEADINGS,
            [
                "2ABCDE LX977 TXL - 2017-09-10T18:20 ZRH - 2017-09-10T19:55",
                "2ABCDE LX40 ZRH - 2017-09-11T13:05 LAX B 2017-09-11T16:20",
            ],
        ),
        (
            TABLE_ROWS,
            [
                "X1Y2Z3 LX977 TXL - 2017-09-10T18:20 ZRH - 2017-09-10T19:55",
                "X1Y2Z3 LX978 ZRH - 2017-09-12T07:10 TXL - 2017-09-12T08:40",
            ],
        ),
        (COLUMNS, ["XXX007 ZZ8588 MUC 2 2017-07-20T17:50 FRA 1 2017-07-20T19:00"]),
        (HTML_TABLE, ["ABC123 SN2592 TXL - 2017-04-20T07:05 BRU A 2017-04-20T08:35"]),
        (FRENCH, ["QWERTZ AF1204 CDG 2F 2018-07-03T10:35 FCO 1 2018-07-03T12:20"]),
        (AMERICAN, ["HKZ4QL UA110 SFO - 2027-03-04T20:15 JFK - 2027-03-05T06:30"]),
        (SPANISH, ["K1ABC23 XY4529 LGW N 2018-04-05T21:10 FCO - 2018-04-06T00:25"]),
        (PROSE, ["- UA1234 SFO 3 2017-04-04T10:30 - - -"]),
        (
            NUMBER_LAST,
            [
                "KLM4QX XY980 LHR - 2017-05-12T07:15 TXL - 2017-05-12T10:05",
                "KLM4QX XY981 TXL - 2017-05-14T18:20 LHR - 2017-05-14T19:15",
            ],
        ),
    ],
    ids=["labels", "headings", "rows", "columns", "html", "french", "american", "spanish", "prose", "number last"],
)
def test_layouts(text: str, flights: list[str]) -> None:
    assert [brief(one) for one in read(text)] == flights


def test_a_place_without_a_code_keeps_its_name() -> None:
    (found,) = read(PROSE)
    assert found["reservationFor"]["arrivalAirport"]["name"] == "Paris"


def test_reservation_systems_print_one_flight_to_a_line_for_everybody_on_it() -> None:
    text = """
1.1DOE/JOHNMR  2.1DOE/JANEMRS
 1. EY   84 V  16JAN FCOAUH HK2  2200  #0605  O*
 2  LH  400 Y 25DEC 1 FRAJFK HK2  1005 1240  25DEC  E
"""
    found = read(text)
    assert [brief(one) for one in found[:2]] == [
        "- EY84 FCO - 2018-01-16T22:00 AUH - 2018-01-17T06:05",
        "- LH400 FRA - 2017-12-25T10:05 JFK - 2017-12-25T12:40",
    ]
    assert [one["underName"]["name"] for one in found] == ["JOHNMR DOE"] * 2 + ["JANEMRS DOE"] * 2


@pytest.mark.parametrize(
    "people",
    [
        "Passengers: Ana Diaz, Ben Diaz",
        "Passenger 1: Ms Ana Diaz\nPassenger 2: Mr Ben Diaz",
        "Passagiere: Ana Diaz und Ben Diaz",
        "Passagers : Ana Diaz et Ben Diaz",
        "Pasajeros: Ana Diaz y Ben Diaz",
    ],
)
def test_each_traveller_that_a_label_names_has_their_own(people: str) -> None:
    found = read(
        f"Booking reference: ZK9P2L\n{people}\nFlight AF1234, 12 May 2017\nParis CDG 07:15\nLondon LHR 07:40\n"
    )
    assert [one["underName"]["name"] for one in found] == ["Ana Diaz", "Ben Diaz"]
    assert len({brief(one) for one in found}) == 1


def test_a_label_without_a_name_names_nobody() -> None:
    found = read("Passengers: 2\nFlight AF1234, 12 May 2017\nParis CDG 07:15\nLondon LHR 07:40\n")
    assert [one.get("underName") for one in found] == [None]


def test_times_get_the_zone_of_their_airport_and_the_day_of_arrival_follows_from_it() -> None:
    (found,) = read("Flight XY 1 from SFO to JFK on 4 March 2027\nDeparture: 21:00 (SFO)\nArrival: 05:30 (JFK)")
    flight = found["reservationFor"]
    assert flight["departureTime"] == "2027-03-04T21:00:00-08:00"
    assert flight["arrivalTime"] == "2027-03-05T05:30:00-05:00"


def test_a_cancellation_is_one() -> None:
    text = "We are sorry: your flight has been cancelled.\nBooking code: QWE123\nFlight XY 12, 5 May 2017, LHR - TXL"
    (found,) = read(text)
    assert found["reservationStatus"].endswith("ReservationCancelled")
    assert read(text.replace("has been cancelled", "is on time"))[0]["reservationStatus"].endswith("Confirmed")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Lunch costs 12:50 and room B2 41 is on level 3.",
        "Call us: AB 1234. Baggage allowance 1PC, meal: snack.",
        "My favourite flight is the flight of birds.",
        "The A380 is an aircraft. Aircraft: AIRBUS A3 21, 12:00, 3 May 2017",
    ],
)
def test_what_names_no_flight_gives_none(text: str) -> None:
    assert read(text) == []


@given(st.text(max_size=300) | st.lists(st.sampled_from(HEADINGS.split() + PROSE.split() + ["\n"])).map(" ".join))
def test_any_text_is_read_without_an_error(text: str) -> None:
    for one in read(text):
        assert one["@type"] == "FlightReservation"


def test_a_long_text_is_read_in_time_that_grows_with_it() -> None:
    assert len(read("LX 977 12:00 TXL - ZRH 1 May 2017\n" * 200)) == 1


def test_a_text_with_more_flights_than_a_confirmation_has_is_cut() -> None:
    assert len(read("".join(f"Flight LX {number} on 1 May 2017 at 12:00\n" for number in range(1, 300)))) == MAX_LEGS


@pytest.mark.parametrize(
    ("text", "departure", "arrival"),
    [
        ("Booking code: QWE123. Flight LH 400 from FRA to JFK on 5 May 2027 at 10:05", "Frankfurt", "Kennedy"),
        ("Your booking: BA 902 Munich (MUC) - London Heathrow (LHR), 14 March 2027, 09:15", "Munich", "London"),
        ("Flug LH 1976 von Zürich (ZRH) nach München (MUC) am 4. Juni 2027 um 08:15", "Zürich", "München"),
        (
            "Flight BA 902 leaves London Heathrow (LHR) at 9:45 on 6 July 2027 for Frankfurt (FRA)",
            "London",
            "Frankfurt",
        ),
    ],
)
def test_an_airport_is_never_named_by_a_line_of_the_text(text: str, departure: str, arrival: str) -> None:
    (flight,) = [one["reservationFor"] for one in read(text)]
    names = [flight[side]["name"] for side in ("departureAirport", "arrivalAirport")]
    assert [one in name for one, name in zip((departure, arrival), names, strict=True)] == [True, True], names
    assert not any(word in name for name in names for word in ("from", "Flight", ":", "BA"))
