"""No false success, no false empty."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S10",
    property="no false success, no false empty",
    aim="100 % consistent",
    tests=("tests/faults/test_failing_calls.py",),
    bites="a call fails at each step; what was said is read back",
)
