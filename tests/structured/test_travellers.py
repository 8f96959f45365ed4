"""Two people on one booking have a reservation each; one person keeps one, however a sender spells the name."""

from __future__ import annotations

from typing import Any

import pytest

from mnemic.structured.shape import may_be_one
from tests.unit.kinds.conftest import House

TEXT = """Record locator: XKTZQP. Passengers: Mrs Ana Silva and Bruno Costa
TP 367, 20 March 2027, Lisbon (LIS) 07:10 - London (LHR) 09:55
"""


def flight(name: Any = None, **fields: Any) -> dict[str, Any]:
    said = {} if name is None else {"underName": {"@type": "Person", "name": name} if isinstance(name, str) else name}
    return {
        "@type": "FlightReservation",
        "reservationNumber": "XKTZQP",
        "reservationFor": {"flightNumber": "TP367", "departureTime": "2027-03-20T07:10:00+00:00"},
        **said,
        **fields,
    }


async def kept(house: House) -> list[tuple[Any, Any]]:
    found = await house.kinds().structured.query("FlightReservation")
    return sorted((dict(one.data.get("underName", {})).get("name"), one.data.get("airplaneSeat")) for one in found)


async def test_each_traveller_of_a_booking_has_a_reservation(house: House) -> None:
    memory = house.kinds().structured
    await memory.put("FlightReservation", flight("Ana Silva", airplaneSeat="12A"))
    await memory.put("FlightReservation", flight("Bruno Costa", airplaneSeat="12B"))
    assert await kept(house) == [("Ana Silva", "12A"), ("Bruno Costa", "12B")]


async def test_both_travellers_of_a_confirmation_are_kept(house: House) -> None:
    await house.kinds().structured.capture(TEXT)
    ana, bruno = (name for name, _ in await kept(house))
    assert may_be_one(ana, "Ana Silva")
    assert may_be_one(bruno, "Bruno Costa")


async def test_a_name_spelled_otherwise_is_the_same_traveller(house: House) -> None:
    memory = house.kinds().structured
    await memory.put("FlightReservation", flight("Ana Silva", airplaneSeat="12A"))
    await memory.put("FlightReservation", flight("Bruno Costa"))
    for name in ("SILVA/ANAMRS", "Mrs Ana Maria Silva", {"givenName": "Ana", "familyName": "Silva"}):
        receipts = await memory.put("FlightReservation", flight(name, airplaneSeat="14C"))
        assert len(receipts) == 1
    assert {seat for _, seat in await kept(house)} == {"14C", None}
    assert len(await kept(house)) == 2


async def test_what_names_nobody_concerns_everybody_on_the_booking(house: House) -> None:
    memory = house.kinds().structured
    await memory.put("FlightReservation", flight("Ana Silva"))
    await memory.put("FlightReservation", flight("Bruno Costa"))
    receipts = await memory.put("FlightReservation", flight(reservationStatus="cancelled"))
    assert len(receipts) == 2
    found = await memory.query("FlightReservation")
    assert {str(one.data["reservationStatus"]).rpartition("/")[2] for one in found} == {"ReservationCancelled"}


async def test_a_booking_that_named_nobody_takes_the_first_name(house: House) -> None:
    memory = house.kinds().structured
    await memory.put("FlightReservation", flight(airplaneSeat="12A"))
    await memory.put("FlightReservation", flight("Ana Silva"))
    await memory.put("FlightReservation", flight("Bruno Costa"))
    assert await kept(house) == [("Ana Silva", "12A"), ("Bruno Costa", None)]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Ana Silva", "ana  SILVA", True),
        ("Ana Silva", "Silva/AnaMrs", True),
        ("Ana Silva", "Dr. Ana Maria Silva", True),
        ("José Peña", "JOSE PENA", True),
        ("Adam Ng", "Adams Ng", False),
        ("Ana Silva", "Bruno Silva", False),
        ("Ana", "Ana Silva", True),
        ("", "Ana Silva", True),
        ({"givenName": "Ana", "familyName": "Silva"}, "Ana Silva", True),
        ({"email": "ana@example.org"}, "Ana Silva", True),
        (None, "Ana Silva", True),
        ("Mr", "Ana Silva", True),
    ],
)
def test_names(one: Any, other: Any, expected: bool) -> None:
    assert may_be_one(one, other) is expected
    assert may_be_one(other, one) is expected
