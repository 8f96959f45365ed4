"""Contradiction safety."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S19",
    property="contradiction safety",
    aim="see write quality",
    tests=(
        "tests/unit/write/test_conflict.py",
        "tests/unit/write/test_merge.py",
        "tests/unit/write/test_decisions.py",
    ),
)
