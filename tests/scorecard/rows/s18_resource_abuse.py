"""Resource abuse."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S18",
    property="resource abuse",
    aim="<= 5 ms per 8 KiB; others' p99 +<= 10 %",
    tests=(
        "tests/unit/server",
        "tests/unit/policy/test_strict_json.py",
        "tests/security/test_adversarial_text.py",
        "tests/faults/test_abuse.py",
    ),
    bites="the steps of a redaction are counted at two lengths: one that is not linear is found on any machine; what "
    "usual searches of a neighbour cost the others is measured beside it",
    alone=True,
)
