"""The PostgreSQL store keeps the contract on a real server."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.keys import KeyFolder, MasterKeys
from mnemic.ports import RecordStore
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import EMBEDDER, RecordStoreContract, memory, remember
from mnemic.testing.record_store.row_damage import Part
from mnemic.types import VectorSpace
from tests.postgres_damage import SPOIL
from tests.servers import PostgresServer


class PostgresContract(RecordStoreContract):
    """On a server, whose tables others may damage."""

    @pytest.fixture(autouse=True)
    def given_server(self, postgres: PostgresServer) -> None:
        self.server = postgres

    def spoil(self, folder: Path, memory_id: str, part: Part) -> bool:
        self.server.sql(SPOIL[part].format(memory_id))
        return True


class TestSealedPostgresStore(PostgresContract):
    """With the content of memories sealed by their subjects' keys."""

    def new_store(self, folder: Path) -> RecordStore:
        if not (folder / "master.key").exists():
            MasterKeys.make(folder / "master.key")
        keyring = KeyFolder(folder / "keys", folder / "master.key")
        return PostgresStore(self.server.database(folder), keyring=keyring, seals=True)


class TestPostgresStore(PostgresContract):
    def new_store(self, folder: Path) -> RecordStore:
        return PostgresStore(self.server.database(folder))

    async def test_an_index_that_a_kill_left_half_built_is_built_anew(self, store: RecordStore) -> None:
        """An interrupted index of a new vector space: the server retains it as an index that it does not use."""
        await remember(store, tea := memory("tea"))
        await store.begin_space(other := VectorSpace(model="other", dimension=EMBEDDER.space.dimension))
        await store.fill([(tea, tea.vector)])
        self.server.sql(
            "CREATE INDEX memory_by_next_vector ON mnemic.memory USING hnsw (next_vector vector_ip_ops) WHERE large",
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'mnemic.memory_by_next_vector'::regclass",
        )
        assert await store.switch_space()
        valid = "SELECT indisvalid FROM pg_index WHERE indexrelid = 'mnemic.memory_by_vector'::regclass"
        assert self.server.sql(valid) == [(True,)]
        await store.open(other)


class TestPostgresStoreThatSearchesInTheDatabase(TestPostgresStore):
    def new_store(self, folder: Path) -> RecordStore:
        return PostgresStore(self.server.database(folder), index_bytes=0)
