"""Resource abuse."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S18",
    property="resource abuse",
    aim="<= 5 ms per 8 KiB; others' p99 +<= 10 %",
    tests=("tests/unit/entrypoints/rest",),
    missing="no adversarial corpus is timed yet",
)
