"""An erasure on Cassandra is complete once the nodes have dropped the removed rows, or if they were sealed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cassandra.cluster import Cluster as Driver

from mnemic.engine import MemoryEngine
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.ports import Keyring
from mnemic.stores.cassandra import CassandraStore
from mnemic.stores.cassandra.connection import TABLES
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.cassandra_nodes import Cluster

ANA, BEN = (Actor(tenant="acme", user=name) for name in ("ana", "ben"))
SECRET = "Zq7Xw93LkVt5"


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Yield a node with readable files."""
    cluster = Cluster()
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


def engine(cluster: Cluster, keyring: Keyring | None = None) -> MemoryEngine:
    store = CassandraStore(cluster.url(copies=1), keyring=keyring, seals=keyring is not None)
    return MemoryEngine(store=store, embedder=WordEmbedder(), keyring=keyring)


def places(cluster: Cluster) -> set[str]:
    """Return the kinds of files in which the secret can be read."""
    found = set()
    for file in cluster.nodes[0].folder.rglob("*"):
        if file.is_file() and SECRET.encode() in file.read_bytes():
            inside = file.relative_to(cluster.nodes[0].folder).parts
            found.add("snapshot" if "snapshots" in inside else inside[0])
    return found


def alter(cluster: Cluster, option: str) -> None:
    """Set an option of every table."""
    with Driver([cluster.nodes[0].address], port=cluster.native) as driver:
        session = driver.connect("mnemic")
        for table in driver.metadata.keyspaces["mnemic"].tables:
            session.execute(f"ALTER TABLE {table} WITH {option}")


async def test_the_receipt_says_what_the_nodes_still_keep_until_they_have_dropped_it(
    cluster: Cluster,
) -> None:
    node = cluster.nodes[0]
    async with engine(cluster) as opened:
        alter(cluster, "compression = {'enabled': false}")  # so that files can be searched for it
        await opened.add(f"The door opens with {SECRET}", actor=ANA)
        await opened.add("Tea in Bergen", actor=BEN)
        assert places(cluster) == {"commitlog"}
        node.nodetool("snapshot", "-t", "before", "mnemic")
        assert places(cluster) == {"commitlog", "data", "snapshot"}

        receipt = await opened.erase("ana", actor=ANA)
        assert not receipt.complete
        assert {name for name, count in receipt.traces.items() if count} == {"unvacuumed"}
        assert ErasureReceipt.from_dict(receipt.as_dict()) == receipt
        assert (await opened.search("door", actor=ANA, top_k=5)).hits == ()
        assert places(cluster) == {"commitlog", "data", "snapshot"}, "the receipt was right"

        node.nodetool("flush", "mnemic")
        node.nodetool("compact", "mnemic")
        left = await opened.verify_erasure(receipt)
        assert left["unvacuumed"] > 0, "a compaction within gc_grace_seconds keeps what was removed"
        assert "snapshot" in places(cluster)

        alter(cluster, "gc_grace_seconds = 0")  # as if ten days were over
        node.nodetool("compact", "mnemic")
        left = await opened.verify_erasure(receipt)
        assert left["unvacuumed"] > 0, "the snapshot has it"
        assert "data" not in places(cluster)
        assert "snapshot" in places(cluster)

        node.nodetool("clearsnapshot", "--all")
        assert not any((await opened.verify_erasure(receipt)).values())
        found = (await opened.search("tea", actor=BEN, top_k=1)).hits
        assert [hit.memory.content for hit in found] == ["Tea in Bergen"]
    node.nodetool("drain")
    node.kill()
    node.start()
    assert places(cluster) == set()


async def test_what_was_sealed_needs_no_compaction(cluster: Cluster, tmp_path: Path) -> None:
    MasterKeys.make(tmp_path / "master.key")
    keyring = KeyFolder(tmp_path / "keys", tmp_path / "master.key")
    async with engine(cluster, keyring) as opened:
        await opened.add(f"The door opens with {SECRET}", actor=ANA)
        receipt = await opened.erase("ana", actor=ANA)
        assert (receipt.complete, receipt.removed_at, receipt.counts["keys"]) == (True, None, 1)
        assert places(cluster) == set()


async def test_where_a_node_does_not_tell_everything_counts_as_left(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mnemic.stores.cassandra.upkeep._ABOUT_A_NODE", ("SELECT a FROM system.no_such_table",))
    async with engine(cluster) as opened:
        await opened.add("Tea in Bergen", actor=ANA)
        receipt = await opened.erase("ana", actor=ANA)
        assert receipt.traces["unvacuumed"] == len(TABLES)
        assert not receipt.complete
