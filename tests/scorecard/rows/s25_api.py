"""API."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S25",
    property="API",
    aim="0 x 5xx, 0 schema breaks",
    tests=("tests/e2e/test_openapi.py",),
)
