"""The whole way to a graph server: told, asked, changed, erased, and down in between."""

from __future__ import annotations

from pathlib import Path

from mnemic import MemoryManager, Settings
from mnemic.types import Actor
from tests.bolt_servers import BoltServer

TRIES = 30
"""A server that has just started takes seconds for its first queries, more than a projection waits at a time."""


def settle(memory: MemoryManager) -> None:
    """Return once the graph has taken everything that the outbox holds."""
    for _ in range(TRIES):
        memory._portal.call(memory.engine.maintain, actor=memory.actor)
        if not any(memory._portal.call(memory.engine.store.projections).values()):
            return
    raise AssertionError("the graph stays behind")


def test_entities_in_a_graph_server(bolt: BoltServer, tmp_path: Path) -> None:
    bolt.empty("graph-e2e")
    settings = Settings(store=str(tmp_path / "m.db"), graph=bolt.url, tenant="graph-e2e")
    with MemoryManager("ana", settings=settings) as memory:
        memory.entity.extract("My sister Zyxwvut works at Qponmlk in Berlin.")
        settle(memory)
        found = {one.node.name: one.hops for one in memory.entity.neighbours(hops=3)}
        assert found == {"Zyxwvut": 1, "Qponmlk": 2, "Berlin": 3}
        bolt.kill()
        receipt = memory.entity.relate("Zyxwvut", "works_at", "Bosch")
        assert receipt.stored
        assert "graph" in receipt.degraded
        bolt.start()
        settle(memory)
        assert {one.node.name for one in memory.entity.neighbours("Zyxwvut")} == {"the user", "Bosch"}
        assert "Zyxwvut" in bolt.texts()
        operator = Actor(tenant="graph-e2e", user="operator")
        erased = memory._portal.call(memory.engine.erase, "ana", actor=operator)
        settle(memory)
        assert memory._portal.call(memory.engine.verify_erasure, erased)["graph"] == 0
        assert memory.entity.of_user() == []
    left = bolt.texts().casefold()
    assert [word for word in ("zyxwvut", "qponmlk", "graph-e2e") if word in left] == []
