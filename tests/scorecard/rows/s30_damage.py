"""Damage."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S30",
    property="damage",
    aim="5,000 flips: 0 wrong statements, 0 untyped errors; the rest served or salvaged, rows named",
    tests=("tests/faults/test_damage.py",),
    bites="the same flip in a row without a checksum is served as the truth",
)
