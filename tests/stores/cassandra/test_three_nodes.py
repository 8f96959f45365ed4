"""The part of `make cluster` that runs with every change: three nodes, one of which is killed."""

from __future__ import annotations

import pytest

from bench.cluster import Writers, run
from bench.cluster_operations import nodes, running
from tests.cassandra_nodes import at_hand

WRITES = 60


def test_nothing_acknowledged_is_lost_or_there_twice_when_a_node_is_killed() -> None:
    if not at_hand():
        pytest.skip("it needs java (17) and what `make cassandra` fetches")
    with running(nodes()) as cluster:

        def during(writers: Writers) -> None:
            writers.reach(WRITES // 3)
            writers.note("kill 2")
            cluster.nodes[1].kill()

        # It raises if anything acknowledged is lost or there twice, or a chain of the audit is broken.
        run(cluster, "killed", WRITES, during)
