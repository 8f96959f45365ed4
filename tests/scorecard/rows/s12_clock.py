"""Clock."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S12",
    property="clock",
    aim="0 lost or misordered",
    tests=(
        "packages/mnemic-maintenance/tests/test_expiry_job.py",
        "tests/unit/test_times.py",
    ),
)
