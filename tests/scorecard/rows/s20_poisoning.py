"""Poisoning."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S20",
    property="poisoning",
    aim="0 high-trust rows from untrusted origin; 0 overwrites",
    tests=("tests/security/test_poisoning.py",),
)
