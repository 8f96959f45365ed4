"""The audit."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S38",
    property="an audit one can rely on",
    aim="a chain made new is told from the one that was written; sign-ins, refusals and acts on keys are in it",
    tests=(
        "packages/mnemic-sqlite/tests/test_signed_audit.py",
        "packages/mnemic-maintenance/tests/test_audit.py",
        "tests/unit/server/test_login_throttle.py",
    ),
    bites="without the key that signs, the same rewritten chain holds",
)
