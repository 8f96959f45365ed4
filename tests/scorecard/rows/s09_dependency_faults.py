"""Dependency faults."""

from __future__ import annotations

from tests.scorecard.row import Row

ROW = Row(
    id="S9",
    property="dependency faults",
    aim="0 calls past deadline + 100 ms; degraded always said",
    tests=(
        "tests/faults/test_postgres_network.py",
        "tests/faults/test_bolt.py",
        "tests/faults/test_redis.py",
        "tests/faults/test_model_network.py",
    ),
    alone=True,
)
