"""Nothing a caller sends owns the event loop."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S36",
    property="nothing a caller sends owns the event loop",
    aim="every regular expression linear in 92 pumped pieces; texts are read beside the loop",
    tests=(
        "tests/security/test_linear_patterns.py",
        "tests/unit/server/test_pumped_fields.py",
        "tests/unit/server/test_kinds.py",
    ),
    bites="three expressions that the product once had are quadratic, and are found",
)
