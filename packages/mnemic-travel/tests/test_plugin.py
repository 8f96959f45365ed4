"""The reader as mnemic finds it: by its entry point, with sound shapes."""

from __future__ import annotations

from datetime import date

import pytest

from mnemic.structured.documents import installed_readers
from mnemic.structured.schema import Schema
from mnemic_travel.airport_table import airport_table
from mnemic_travel.plugin import TravelReader
from mnemic_travel.schema_org import RESERVATIONS


def test_the_reader_is_found_by_its_entry_point() -> None:
    assert TravelReader in {type(reader) for reader in installed_readers()}


def test_it_reads_with_the_table_of_airports() -> None:
    text = "Booking reference: QX4T7Z\nFlight LH 400, 5 June 2027\nFrankfurt (FRA) 10:05 - New York (JFK) 12:40"
    (found,) = TravelReader().read(text, sent_on=date(2027, 5, 1))
    assert found["reservationFor"]["departureTime"] == "2027-06-05T10:05:00+02:00"
    assert airport_table() is airport_table()
    assert "SXF" in airport_table()


@pytest.mark.parametrize("name", sorted(RESERVATIONS))
def test_the_schemas_of_reservations_are_sound(name: str) -> None:
    document = RESERVATIONS[name].schema.document
    assert Schema(document).document == document
