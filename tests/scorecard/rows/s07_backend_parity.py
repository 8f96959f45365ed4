"""One behaviour on every backend."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S7",
    property="one behaviour on every backend",
    aim="0 divergences",
    tests=(
        "tests/stateful",
        "tests/contract",
    ),
)
