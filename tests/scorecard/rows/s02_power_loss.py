"""Acknowledged write survives power loss (default settings)."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S2",
    property="acknowledged write survives power loss (default settings)",
    aim="0 lost; control > 0",
    tests=(
        "tests/faults/test_power_cuts.py",
        "tests/faults/test_creation.py",
    ),
    bites="the same cuts with durability=fast must lose",
)
