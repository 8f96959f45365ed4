"""Idempotent retries."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S4",
    property="idempotent retries",
    aim="0 duplicate effects",
    tests=("tests/faults/test_retries.py",),
    bites="without a key the same retry doubles",
)
