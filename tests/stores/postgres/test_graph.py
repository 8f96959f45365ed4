"""The graph in PostgreSQL keeps the contract on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.ports.further_stores import GraphStore
from mnemic.stores.postgres.graph import PostgresGraph
from mnemic.testing.graph_store import GraphStoreContract
from tests.servers import PostgresServer


class TestPostgresGraph(GraphStoreContract):
    @pytest.fixture(autouse=True)
    def given_server(self, postgres: PostgresServer, tmp_path: Path) -> None:
        self.dsn = postgres.database(tmp_path)

    def new_store(self) -> GraphStore:
        return PostgresGraph(self.dsn)
