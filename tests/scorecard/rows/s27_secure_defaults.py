"""Secure defaults."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S27",
    property="secure defaults",
    aim="loopback; refuses",
    tests=("tests/e2e/test_service.py::test_others_are_not_served_without_authentication",),
)
