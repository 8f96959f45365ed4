"""The PostgreSQL store keeps the contract on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.ports import RecordStore
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import RecordStoreContract
from tests.servers import PostgresServer


class TestPostgresStore(RecordStoreContract):
    @pytest.fixture(autouse=True)
    def given_server(self, postgres: PostgresServer) -> None:
        self.server = postgres

    def new_store(self, folder: Path) -> RecordStore:
        return PostgresStore(self.server.database(folder))


class TestPostgresStoreThatSearchesInTheDatabase(TestPostgresStore):
    def new_store(self, folder: Path) -> RecordStore:
        return PostgresStore(self.server.database(folder), index_bytes=0)
