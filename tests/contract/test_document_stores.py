"""Every document store of mnemic keeps the contract it ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.ports import DocumentStore
from mnemic.stores.postgres import PostgresDocuments
from mnemic.stores.sqlite.documents import SqliteDocuments
from mnemic.testing.clock import ManualClock
from mnemic.testing.document_store import DocumentStoreContract
from tests.servers import PostgresServer


class TestSqliteDocuments(DocumentStoreContract):
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "m.db"

    def new_store(self, clock: ManualClock) -> DocumentStore:
        return SqliteDocuments(self.path, clock=clock)


class TestPostgresDocuments(DocumentStoreContract):
    @pytest.fixture(autouse=True)
    def database(self, postgres: PostgresServer, tmp_path: Path) -> None:
        self.dsn = postgres.database(tmp_path)

    def new_store(self, clock: ManualClock) -> DocumentStore:
        return PostgresDocuments(self.dsn, clock=clock)
