"""Redaction."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S17",
    property="redaction",
    aim="0 canaries",
    tests=(
        "tests/security/test_canaries.py",
        "tests/unit/write/test_redact.py",
        "tests/redact/test_redactor.py",
    ),
)
