"""Test strength."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S26",
    property="test strength",
    aim="branch coverage >= 90 %; mutation score >= 85 %",
    tests=("tests/strength",),
    environment={"MNEMIC_STRENGTH": "1"},
    bites="a mistake that no test notices counts against the score",
)
