"""Versions, forks and replaced files."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S33",
    property="fences",
    aim="no write under a newer schema, after a fork, or into a file that is gone",
    tests=(
        "tests/faults/test_forks.py",
        "tests/faults/test_replaced_files.py",
        "tests/faults/test_hard_links.py",
        "tests/migration/test_migrations.py",
        "tests/migration/test_postgres_migrations.py",
        "tests/migration/test_rolling_upgrade.py",
        "tests/migration/test_schema_in_every_write.py",
        "tests/migration/test_postgres_schema_in_every_write.py",
    ),
    bites="without the look at the schema an old process writes on, and without the look at the file a write is "
    "acknowledged that is gone with the process",
)
