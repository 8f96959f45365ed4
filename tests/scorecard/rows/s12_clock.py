"""Clock."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S12",
    property="clock",
    aim="0 lost or misordered",
    tests=(
        "tests/maintenance/test_expiry_job.py",
        "tests/unit/test_times.py",
    ),
)
