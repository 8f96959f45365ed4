"""Upgrade."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S13",
    property="upgrade",
    aim="100 % rows; refuses newer",
    tests=("tests/migration",),
    bites="a kill at each step; a newer file",
)
