"""What the graph owes to lying in one file with the memories."""

from __future__ import annotations

from pathlib import Path

import apsw

from mnemic.stores.relational.statements import load
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.database_file import BusyHandler, prepare
from mnemic.stores.sqlite.transaction import SqliteGraph
from mnemic.testing.graph_store import fragment
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Scope


def found_in_files(folder: Path, text: bytes) -> bool:
    return any(text in file.read_bytes() for file in folder.iterdir())


async def test_a_memory_takes_its_part_of_the_graph_with_it(tmp_path: Path) -> None:
    store, graph = SqliteStore(tmp_path / "m.db"), SqliteGraph(tmp_path / "m.db")
    await store.open(EMBEDDER.space)
    await graph.open()
    kept, gone = memory("kept"), memory("gone")
    await remember(store, kept, gone)
    where: Scope = scope()
    await graph.link(where, [fragment(kept.memory_id, ("ana", "knows", "bo"))])
    await graph.link(where, [fragment(gone.memory_id, ("ana", "knows", "zyxwvut-canary"))])
    assert found_in_files(tmp_path, b"zyxwvut-canary")
    await store.transact(lambda tx: tx.remove(gone.memory_id, scope=where))
    assert await graph.traces(where.tenant, [gone.memory_id]) == 0
    assert [one.node for one in await graph.nodes(where)] == ["ana", "bo"]
    await graph.close()
    await store.tidy()
    await store.close()
    assert not found_in_files(tmp_path, b"zyxwvut-canary")


async def test_a_walk_through_a_crowd_ends(tmp_path: Path) -> None:
    """Everybody knows everybody: the walk visits each once and every read uses an index."""
    graph = SqliteGraph(tmp_path / "m.db")
    await graph.open()
    crowd = [f"p{number:02}" for number in range(40)]
    said = [fragment(f"m{one}", *[(one, "knows", other) for other in crowd if other > one]) for one in crowd[:-1]]
    await graph.link(scope(), said)
    found = await graph.neighbours(scope(), "p00", hops=6, limit=500)
    assert [one.hops for one in found] == [1] * 39
    await graph.close()


def test_walks_read_indexes_only(tmp_path: Path) -> None:
    connection: apsw.Connection = prepare(tmp_path / "m.db", durability="durable", busy=BusyHandler())
    statements = load("graph", "sqlite")
    for name, parameters in (("nodes", 6), ("neighbours", 7), ("from_both_ends", 8), ("between", 5)):
        asked = connection.execute("EXPLAIN QUERY PLAN " + statements[name], [None] * parameters)
        plan = [row[3] for row in asked.fetchall()]
        tables = [line for line in plan if line.split()[:2] in (["SCAN", "n"], ["SCAN", "r"])]
        assert tables == []
        assert any("tenant=?" in line for line in plan)
    connection.close()
