"""The graph over Bolt keeps the contract on real servers: on ArcadeDB, and on Neo4j if it is available."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.ports.further_stores import GraphStore
from mnemic.stores.neo4j import Neo4jGraph
from mnemic.testing.graph_store import GraphStoreContract
from tests.bolt_servers import BoltServer


class TestBoltGraph(GraphStoreContract):
    @pytest.fixture(autouse=True)
    def given_server(self, bolt: BoltServer, tmp_path: Path) -> None:
        self.url = bolt.empty("acme", "other", "acme:user:ana")

    def new_store(self) -> GraphStore:
        return Neo4jGraph(self.url, timeout=60)


class TestPlannedBoltGraph(TestBoltGraph):
    """The same once the server has planned the statement that links in one round trip."""

    def new_store(self) -> GraphStore:
        store = super().new_store()
        assert isinstance(store, Neo4jGraph)
        store._planned = True
        return store
