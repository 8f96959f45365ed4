"""Bounded resources."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S24",
    property="bounded resources",
    aim="30 minutes at 50 requests a second in 512 MB: memory slope < 1 MB/h",
    tests=("tests/faults/test_soak.py",),
    bites="a process that keeps what it is sent must be noticed",
    alone=True,
)
