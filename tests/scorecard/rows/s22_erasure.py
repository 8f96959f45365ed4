"""Erasure."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S22",
    property="erasure",
    aim="0 hits; receipt verifies",
    tests=(
        "tests/stores/sqlite/test_sqlite_erasure.py",
        "tests/unit/maintain/test_erase.py",
        "tests/maintenance/test_erase_places.py",
        "tests/security/test_canaries.py",
        "tests/security/test_postgres_sealed.py",
        "tests/e2e/test_postgres_backup.py",
    ),
)
