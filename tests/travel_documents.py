"""A small table of airports, and documents read with it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from mnemic_travel.airports import Airport, Airports
from mnemic_travel.document import document_of
from mnemic_travel.reservation_reader import reservations

SENT = date(2017, 4, 1)

TABLE = Airports(
    tuple(
        Airport(*row)
        for row in [
            ("TXL", "Berlin-Tegel International Airport", "Berlin", "Berlin", "DE", "Europe/Berlin"),
            ("ZRH", "Zurich Airport", "Zurich", "", "CH", "Europe/Zurich"),
            ("LAX", "Los Angeles International Airport", "Los Angeles", "California", "US", "America/Los_Angeles"),
            ("SFO", "San Francisco International Airport", "San Francisco", "California", "US", "America/Los_Angeles"),
            ("JFK", "John F Kennedy International Airport", "New York", "New York", "US", "America/New_York"),
            ("LGA", "La Guardia Airport", "New York", "New York", "US", "America/New_York"),
            ("BRU", "Brussels Airport", "Brussels", "", "BE", "Europe/Brussels"),
            ("CRL", "Brussels South Charleroi Airport", "Brussels", "", "BE", "Europe/Brussels"),
            ("CDG", "Charles de Gaulle International Airport", "Paris", "", "FR", "Europe/Paris"),
            ("ORY", "Paris-Orly Airport", "Paris", "", "FR", "Europe/Paris"),
            ("FCO", "Leonardo Da Vinci (Fiumicino) International Airport", "Rome", "", "IT", "Europe/Rome"),
            ("MUC", "Munich Airport", "Munich", "", "DE", "Europe/Berlin"),
            ("FRA", "Frankfurt am Main Airport", "Frankfurt", "", "DE", "Europe/Berlin"),
            ("LHR", "London Heathrow Airport", "London", "England", "GB", "Europe/London"),
            ("LGW", "London Gatwick Airport", "London", "England", "GB", "Europe/London"),
            ("AUH", "Abu Dhabi International Airport", "Abu Dhabi", "", "AE", "Asia/Dubai"),
            ("DTW", "Detroit Metro Wayne County Airport", "Detroit", "Michigan", "US", "America/New_York"),
            ("MAN", "Manchester Airport", "Manchester", "", "GB", "Europe/London"),
            ("MHT", "Manchester-Boston Regional Airport", "Manchester", "New Hampshire", "US", "America/New_York"),
        ]
    )
)


def read(text: str, *, sent_on: date | None = SENT) -> list[dict[str, Any]]:
    return reservations(document_of(text, sent_on=sent_on), airports=TABLE)


def brief(reservation: Mapping[str, Any]) -> str:
    """A flight on one line: code, number, from, to, terminals, times."""
    flight = reservation["reservationFor"]
    said = [reservation.get("reservationNumber", "-"), flight["airline"]["iataCode"] + flight["flightNumber"]]
    for end in ("departure", "arrival"):
        said.append(flight.get(f"{end}Airport", {}).get("iataCode", "-"))
        said.append(flight.get(f"{end}Terminal", "-"))
        said.append(flight.get(f"{end}Time", flight.get(f"{end}Day", "-"))[:16])
    return " ".join(said)
