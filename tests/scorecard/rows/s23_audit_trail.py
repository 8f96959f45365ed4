"""Audit."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S23",
    property="audit",
    aim="100 % detected, 100 % listed",
    tests=("tests/maintenance/test_audit.py",),
    bites="every byte of a line is flipped",
)
