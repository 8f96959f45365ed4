"""Prompt boundary."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S21",
    property="prompt boundary",
    aim="0 break-outs, 0 in a system role",
    tests=("tests/unit/inject",),
    bites="hostile.py holds the payloads",
)
