"""A real Cassandra for the tests of this package: one node, or the cluster whose address MNEMIC_CASSANDRA gives.

Without Java, or the files that `make cassandra` fetches, the tests that need a node are skipped; the run's head says
so.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from tests.cassandra_nodes import Cluster, at_hand

GIVEN = os.environ.get("MNEMIC_CASSANDRA")

collect_ignore = (
    []
    if GIVEN or at_hand()
    else [
        "test_answers.py",
        "test_buckets.py",
        "test_commit.py",
        "test_erasure.py",
        "test_given_identifiers.py",
        "test_machine.py",
        "test_pages.py",
        "test_quotas.py",
        "test_store.py",
        "test_totals.py",
    ]
)


def pytest_report_header() -> str:
    """Report whether a node is available."""
    return "" if not collect_ignore else "NOT RUN on Cassandra: it needs java (17) and what `make cassandra` fetches"


@pytest.fixture(scope="session")
def cassandra() -> Iterator[str]:
    """Yield the address of a keyspace, with a time limit longer than a busy machine needs."""
    if GIVEN:
        yield f"{GIVEN}&timeout=10"
        return
    cluster = Cluster()
    try:
        cluster.start()
        yield f"{cluster.url(copies=1)}&timeout=10"
    finally:
        cluster.stop()
