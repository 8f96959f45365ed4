"""Storage errors."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S3",
    property="storage errors",
    aim="0 acknowledged lost; typed errors; reads and erase work on a full disk",
    tests=("tests/faults/test_failing_disk.py",),
    bites="the N-th call of the disk fails, for every N",
)
