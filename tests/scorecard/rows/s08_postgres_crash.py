"""Postgres crash."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S8",
    property="Postgres crash",
    aim="0 lost, 0 hung",
    tests=("tests/faults/test_postgres.py",),
)
