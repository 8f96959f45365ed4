"""Every record store of mnemic keeps the contract it ships."""

from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.keys import KeyFolder, MasterKeys
from mnemic.ports import Keyring, RecordStore
from mnemic.stores import scope_index
from mnemic.stores.inprocess import InProcessStore
from mnemic.stores.sqlite import SqliteStore, near
from mnemic.testing.record_store import RecordStoreContract


def keyring(folder: Path) -> Keyring:
    if not (folder / "master.key").exists():
        MasterKeys.make(folder / "master.key")
    return KeyFolder(folder / "keys", folder / "master.key")


class TestInProcessStore(RecordStoreContract):
    def new_store(self, folder: Path) -> RecordStore:
        return InProcessStore()


class TestSqliteStore(RecordStoreContract):
    def new_store(self, folder: Path) -> RecordStore:
        return SqliteStore(folder / "memories.db")


class TestSealedSqliteStore(RecordStoreContract):
    """With everything that memories say sealed by their subjects' keys."""

    def new_store(self, folder: Path) -> RecordStore:
        return SqliteStore(folder / "memories.db", keyring=keyring(folder), seals=True)


class LargeScopes:
    """Scopes of more than two memories are large ones: their vectors are not kept in memory but read again."""

    @pytest.fixture(autouse=True)
    def large(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(scope_index, "EXACT_UP_TO", 2)
        monkeypatch.setattr(near, "FEW", 0)


class TestLargeSqliteStore(LargeScopes, TestSqliteStore):
    pass


class TestLargeSealedSqliteStore(LargeScopes, TestSealedSqliteStore):
    pass


class TestFastSqliteStore(RecordStoreContract):
    """With commits left to the operating system and room for one search index only, so that indexes come and go."""

    def new_store(self, folder: Path) -> RecordStore:
        return SqliteStore(folder / "memories.db", durability="fast", index_bytes=1)
