"""Every graph store of mnemic keeps the contract it ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.ports.further_stores import GraphStore
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.sqlite.transaction import SqliteGraph
from mnemic.testing.graph_store import GraphStoreContract


class TestInProcessGraph(GraphStoreContract):
    def new_store(self) -> GraphStore:
        return InProcessGraph()


class TestSqliteGraph(GraphStoreContract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "m.db"

    def new_store(self) -> GraphStore:
        return SqliteGraph(self.path)
