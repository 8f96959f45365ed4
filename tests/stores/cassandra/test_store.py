"""The store on Cassandra keeps the contract of every record store."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import ClassVar

import pytest

from mnemic.bootstrap import build_store
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.ports import RecordStore
from mnemic.stores.cassandra import CassandraStore
from mnemic.testing.record_store import RecordStoreContract


def prefix_of(folder: Path) -> str:
    """Return the prefix that separates the tenants of one test."""
    return hashlib.sha256(str(folder).encode()).hexdigest()[:12]


@pytest.fixture(autouse=True, scope="module")
def given_node(cassandra: str) -> None:
    TestCassandraStore.url = cassandra


class TestCassandraStore(RecordStoreContract):
    url: ClassVar[str]

    def new_store(self, folder: Path) -> RecordStore:
        return CassandraStore(f"{self.url}&prefix={prefix_of(folder)}")


class TestSealedCassandraStore(TestCassandraStore):
    """With the content of memories sealed by their subjects' keys."""

    def new_store(self, folder: Path) -> RecordStore:
        if not (folder / "master.key").exists():
            MasterKeys.make(folder / "master.key")
        keyring = KeyFolder(folder / "keys", folder / "master.key")
        return CassandraStore(f"{self.url}&prefix={prefix_of(folder)}", keyring=keyring, seals=True)


def test_the_address_opens_the_store(cassandra: str) -> None:
    store = build_store(cassandra, durability="durable")
    assert isinstance(store, CassandraStore)
    assert store.capabilities.name == "cassandra"
