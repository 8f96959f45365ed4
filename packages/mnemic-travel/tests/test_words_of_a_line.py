"""Codes of three letters that are, on their line, no airport: an airline, a weekday, a month."""

from __future__ import annotations

import pytest

from mnemic_travel.airports import Airport, Airports
from mnemic_travel.tokens import lines_of, tokens_of

TABLE = Airports(
    tuple(Airport(code, code, code) for code in ("AMS", "FCO", "JFK", "KLM", "LUN", "MXP", "AGO", "SET", "SAS"))
)


def airports_in(text: str) -> list[str]:
    return [token.value for token in tokens_of(lines_of(text), TABLE) if token.sort == "airport"]


@pytest.mark.parametrize(
    ("line", "codes"),
    [
        ("Flight KLM 1234 from AMS to JFK", ["AMS", "JFK"]),
        ("Flight number: SAS 909 AMS JFK", ["AMS", "JFK"]),
        ("Volo il LUN 5 giugno 2027 da MXP a FCO", ["MXP", "FCO"]),
        ("Partenza AGO 12/08/2027 da MXP", ["MXP"]),
        ("I booked KLM KL1234 for 5 December", []),
        # An airport if nothing on the line contradicts it.
        ("From KLM at 10:05", ["KLM"]),
        ("Flight from LUN to JFK", ["LUN", "JFK"]),
        ("Flight on 5 June 2027 from Lusaka (LUN) to JFK", ["LUN", "JFK"]),
    ],
)
def test_a_code_is_an_airport_where_its_line_makes_it_nothing_else(line: str, codes: list[str]) -> None:
    assert airports_in(line) == codes
