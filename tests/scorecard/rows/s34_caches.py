"""Caches."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S34",
    property="caches",
    aim="0 memories missed after an older snapshot, a failover, a full memory",
    tests=("tests/faults/test_redis_snapshots.py",),
    bites="without its epoch the set from the snapshot is believed",
)
