"""Trains and hotels in texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.travel_documents import read

GERMAN = """Ihre Buchung bei der Bahn      Auftragsnummer: ABC123
Halt                  Datum   Zeit      Gleis   Produkte   Reservierung
Berlin Hbf            30.06.  ab 09:34  7       ICE 1603   Wg. 28, Pl. 42
München Hbf           30.06.  an 13:58  21
"""
LABELLED = """Auftragsnummer: XYZ789
Zug: ICE 1011
Datum: 12.03.2018
Abfahrt: 08:15 Hamburg Hbf Gleis 14
Ankunft: 12:01 Frankfurt(Main)Hbf Gleis 9
"""
FRENCH = """Référence de dossier : QWERTZ
TGV INOUI N° 6619   Voiture 12  Place 41
mercredi 14 mars 2018
Départ 10h04 Paris Gare de Lyon
Arrivée 12h00 Lyon Part-Dieu
"""
ITALIAN = """Codice prenotazione: AB12CD
Treno Frecciarossa 9631
05/04/2018
Partenza: Milano Centrale 11:00
Arrivo: Roma Termini 13:59  Binario 3
"""


def brief(reservation: Mapping[str, Any]) -> str:
    trip = reservation["reservationFor"]
    said = [reservation["reservationNumber"], trip["trainNumber"]]
    for end in ("departure", "arrival"):
        said += [trip[f"{end}Station"]["name"], trip.get(f"{end}Platform", "-"), trip[f"{end}Time"][:16]]
    return ", ".join(said)


@pytest.mark.parametrize(
    ("text", "train"),
    [
        (GERMAN, "ABC123, ICE 1603, Berlin Hbf, -, 2017-06-30T09:34, München Hbf, -, 2017-06-30T13:58"),
        (
            LABELLED,
            "XYZ789, ICE 1011, Hamburg Hbf, 14, 2018-03-12T08:15, Frankfurt(Main)Hbf, 9, 2018-03-12T12:01",
        ),
        (
            FRENCH,
            "QWERTZ, TGV INOUI 6619, Paris Gare de Lyon, -, 2018-03-14T10:04, Lyon Part-Dieu, -, 2018-03-14T12:00",
        ),
        (
            ITALIAN,
            "AB12CD, Frecciarossa 9631, Milano Centrale, -, 2018-04-05T11:00, Roma Termini, 3, 2018-04-05T13:59",
        ),
    ],
    ids=["rows", "labels", "french", "italian"],
)
def test_trains(text: str, train: str) -> None:
    assert [brief(one) for one in read(text)] == [train]


def test_a_stay_is_told_by_its_two_days() -> None:
    text = """Confirmation number: H4711Q
Thank you for booking the Hotel Adler Berlin
Check-in: Tue, 11 April 2017 from 15:00
Check-out: Thu, 13 April 2017 until 11:00
2 nights, 1 room
"""
    (found,) = read(text)
    assert found["@type"] == "LodgingReservation"
    assert found["reservationNumber"] == "H4711Q"
    assert found["reservationFor"]["name"] == "Hotel Adler Berlin"
    assert (found["checkinTime"], found["checkoutTime"]) == ("2017-04-11T15:00:00", "2017-04-13T11:00:00")
    (german,) = read("Unterkunft: Pension Sonne\nAnreise\n11.04.2017\nAbreise\n13.04.2017\n1 Zimmer")
    assert german["reservationFor"]["name"] == "Pension Sonne"
    assert german["checkoutTime"].startswith("2017-04-13")


@pytest.mark.parametrize(
    "text",
    [
        "The hotel is nice. Check-in is from 15:00.",
        "Check-in: 11 April 2017, no room for doubt",
        "Room 5. Check-in: 13 April 2017. Check-out: 11 April 2017",
        "The train was late. Train 5 of 7.",
    ],
)
def test_what_confirms_nothing(text: str) -> None:
    assert read(text) == []
