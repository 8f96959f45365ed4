"""The PostgreSQL store keeps the contract on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.keys import KeyFolder, MasterKeys
from mnemic.ports import RecordStore
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import RecordStoreContract
from tests.servers import PostgresServer


class TestSealedPostgresStore(RecordStoreContract):
    """With what memories say sealed by their subjects' keys."""

    @pytest.fixture(autouse=True)
    def given_server(self, postgres: PostgresServer) -> None:
        self.server = postgres

    def new_store(self, folder: Path) -> RecordStore:
        if not (folder / "master.key").exists():
            MasterKeys.make(folder / "master.key")
        keyring = KeyFolder(folder / "keys", folder / "master.key")
        return PostgresStore(self.server.database(folder), keyring=keyring, seals=True)


class TestPostgresStore(RecordStoreContract):
    @pytest.fixture(autouse=True)
    def given_server(self, postgres: PostgresServer) -> None:
        self.server = postgres

    def new_store(self, folder: Path) -> RecordStore:
        return PostgresStore(self.server.database(folder))


class TestPostgresStoreThatSearchesInTheDatabase(TestPostgresStore):
    def new_store(self, folder: Path) -> RecordStore:
        return PostgresStore(self.server.database(folder), index_bytes=0)
