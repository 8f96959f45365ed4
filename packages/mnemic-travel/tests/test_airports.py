"""Airports by name."""

from __future__ import annotations

import pytest

from mnemic_travel.airport_table import airport_table
from mnemic_travel.airports import Airports
from tests.travel_documents import TABLE


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("BERLIN, DE (TEGEL)", "TXL"),
        ("Berlin-Tegel", "TXL"),
        ("London Heathrow", "LHR"),
        ("Londres Gatwick", "LGW"),
        ("DETROIT, MI (METROPOLITAN WAYNE CO)", "DTW"),
        ("PARIS, FR (CHARLES DE GAULLE)", "CDG"),
        ("Brussels", "BRU"),
        ("München", "MUC"),
        ("Frankfurt", "FRA"),
        ("Zürich", "ZRH"),
        ("MANCHESTER, GB", "MAN"),
        ("London", None),
        ("New York", None),
        ("Paris", None),
        ("Atlantis", None),
        ("", None),
    ],
)
def test_a_name_is_one_airports_or_nobodys(name: str, code: str | None) -> None:
    assert TABLE.find_code(name) == code


def test_an_empty_table_knows_nothing() -> None:
    assert not Airports()
    assert Airports().find_code("London Heathrow") is None
    assert Airports().get("LHR") is None


def test_the_whole_table() -> None:
    table = airport_table()
    assert len(table.rows) > 7_000
    assert table.find_code("AMSTERDAM, NL (SCHIPHOL AIRPORT)") == "AMS"
    assert table.find_code("Köln/Bonn") == "CGN"
    assert table.find_code("Madrid") == "MAD"
    assert table.find_code("London") is None
    assert "SXF" in table
    airport = table.get("RIX")
    assert airport is not None
    assert airport.zone == "Europe/Riga"
