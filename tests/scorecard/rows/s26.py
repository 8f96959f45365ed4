"""Test strength."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S26",
    property="test strength",
    aim="branch coverage >= 90 %; mutation score >= 85 %",
    missing="make coverage measures the first; no mutation run yet",
)
