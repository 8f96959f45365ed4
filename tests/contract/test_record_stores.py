"""Every record store of mnemic keeps the contract it ships."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from mnemic.keys import KeyFolder, MasterKeys
from mnemic.ports import Keyring, RecordStore
from mnemic.stores import scope_index
from mnemic.stores.in_memory_store import InProcessRows, InProcessStore
from mnemic.stores.row_store_adapter import LayeredStore
from mnemic.stores.sqlite import SqliteStore, indexes
from mnemic.testing.record_store import RecordStoreContract
from mnemic.testing.record_store.row_damage import Part
from tests.contract.journal_store import journal_store


def keyring(folder: Path) -> Keyring:
    if not (folder / "master.key").exists():
        MasterKeys.make(folder / "master.key")
    return KeyFolder(folder / "keys", folder / "master.key")


class TestInProcessStore(RecordStoreContract):
    def new_store(self, folder: Path) -> RecordStore:
        return InProcessStore()


class TestSealedInProcessStore(RecordStoreContract):
    """With everything that memories say sealed by their subjects' keys."""

    def new_store(self, folder: Path) -> RecordStore:
        return LayeredStore(InProcessRows(), keyring=keyring(folder), seals=True)


class TestJournalStore(RecordStoreContract):
    """The backend of CONTRIBUTING."""

    def new_store(self, folder: Path) -> RecordStore:
        return journal_store(folder / "memories.jsonl")


def test_the_backend_of_contributing_is_as_short_as_that_says() -> None:
    lines = (Path(__file__).parent / "journal_store.py").read_text().splitlines()
    assert len(lines) <= 200


OF = "row_id = (SELECT row_id FROM memory WHERE memory_id = ?)"
SPOIL = {
    "body": "UPDATE memory SET body = replace(body, ',', ';') WHERE memory_id = ?",
    "version": "UPDATE memory_version SET body = replace(body, ',', ';') WHERE memory_id = ?",
    "column": "UPDATE memory SET expires_at = 1 WHERE memory_id = ?",
    "vector": "UPDATE memory_search SET vector = flipped(vector) WHERE {}",
    "words": "UPDATE memory_search SET content = flipped(content) WHERE {}",
    "mark": "UPDATE mark SET value = 'gone' WHERE name = ?",
}


class SqliteContract(RecordStoreContract):
    """Of a file, which others may damage."""

    def spoil(self, folder: Path, memory_id: str, part: Part) -> bool:
        connection = apsw.Connection(str(folder / "memories.db"))
        connection.create_scalar_function("flipped", lambda data: bytes([data[0] ^ 1]) + data[1:])
        connection.execute(SPOIL[part].format(OF), (memory_id,))
        changed = connection.changes()
        connection.close()
        return changed == 1


class TestSqliteStore(SqliteContract):
    def new_store(self, folder: Path) -> RecordStore:
        return SqliteStore(folder / "memories.db")


class TestSealedSqliteStore(SqliteContract):
    """With everything that memories say sealed by their subjects' keys."""

    def new_store(self, folder: Path) -> RecordStore:
        return SqliteStore(folder / "memories.db", keyring=keyring(folder), seals=True)


class LargeScopes:
    """Scopes of more than two memories are large ones: their vectors are not kept in memory but read again."""

    @pytest.fixture(autouse=True)
    def large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scope_index, "EXACT_UP_TO", 2)
        monkeypatch.setattr(indexes, "UNINDEXED", 0)


class TestLargeSqliteStore(LargeScopes, TestSqliteStore):
    pass


class TestLargeSealedSqliteStore(LargeScopes, TestSealedSqliteStore):
    pass


class TestFastSqliteStore(SqliteContract):
    """With commits left to the operating system and room for one search index only, so that indexes come and go."""

    def new_store(self, folder: Path) -> RecordStore:
        return SqliteStore(folder / "memories.db", durability="fast", index_bytes=1)
