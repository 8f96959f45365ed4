"""A real Cassandra for the tests of this package: one node, or the cluster whose address MNEMIC_CASSANDRA gives.

Without Java, or the files that `make cassandra` fetches, the tests that need a node are skipped; the run's head says
so.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator

import pytest

from mnemic.stores.cassandra import CassandraStore
from tests.cassandra_nodes import Cluster, at_hand

GIVEN = os.environ.get("MNEMIC_CASSANDRA")

_NOT_RUN = "it needs java (17) and what `make cassandra` fetches"


def pytest_report_header() -> str:
    """Report whether a node is available."""
    return "" if GIVEN or at_hand() else f"NOT RUN on Cassandra: {_NOT_RUN}"


@pytest.fixture(scope="session")
def cassandra() -> Iterator[str]:
    """Yield the address of a keyspace, with a time limit longer than a busy machine needs."""
    if GIVEN:
        yield f"{GIVEN}&timeout=10"
        return
    if not at_hand():
        pytest.skip(_NOT_RUN)
    cluster = Cluster()
    try:
        cluster.start()
        yield f"{cluster.url(copies=1)}&timeout=10"
    finally:
        cluster.stop()


@pytest.fixture
def new_store(cassandra: str) -> Callable[[], CassandraStore]:
    """Return a function that makes a store: all that it makes share one prefix, which no other test has."""
    prefix = secrets.token_hex(6)
    return lambda: CassandraStore(f"{cassandra}&prefix={prefix}")
