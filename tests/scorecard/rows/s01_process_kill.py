"""Acknowledged write survives SIGKILL."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S1",
    property="acknowledged write survives SIGKILL",
    aim="0 lost, 0 partial, 0 corrupt",
    tests=(
        "tests/faults/test_kills.py",
        "tests/faults/test_aftermath.py",
    ),
    bites="test_aftermath takes rows away and changes the audit: the oracle must notice",
)
