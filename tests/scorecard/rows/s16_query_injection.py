"""Query injection."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S16",
    property="query injection",
    aim="0 differences from the literal reading",
    tests=("tests/security/test_payloads.py", "tests/security/test_payloads_elsewhere.py"),
)
