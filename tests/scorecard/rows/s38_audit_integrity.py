"""The audit."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S38",
    property="an audit one can rely on",
    aim="a chain made new is told from the one that was written; sign-ins, refusals and acts on keys are in it",
    tests=(
        "tests/stores/sqlite/test_signed_audit.py",
        "tests/maintenance/test_audit.py",
        "tests/unit/server/test_login_throttle.py",
    ),
    bites="without the key that signs, the same rewritten chain holds",
)
