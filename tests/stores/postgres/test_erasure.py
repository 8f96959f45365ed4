"""On PostgreSQL an erasure is complete once the server has vacuumed the removed rows, or if they were sealed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.ports import Keyring
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.servers import PostgresServer

TABLES = """
    SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = 'mnemic'::regnamespace AND relkind = 'r'
"""
ANA = Actor(tenant="acme", user="ana")


@pytest.fixture
def application(postgres: PostgresServer, tmp_path: Path) -> Iterator[tuple[str, str]]:
    """The owner's address, and that of a login without the owner's rights."""
    owner = postgres.database(tmp_path)
    yield owner, owner.replace("//postgres@", "//just_an_app@")
    postgres.sql("DROP OWNED BY just_an_app", "DROP ROLE just_an_app")


def engine(dsn: str, keyring: Keyring | None = None) -> MemoryEngine:
    store = PostgresStore(dsn, keyring=keyring, seals=keyring is not None)
    return MemoryEngine(store=store, embedder=WordEmbedder(), keyring=keyring)


async def test_who_may_vacuum_gets_a_complete_receipt(postgres: PostgresServer, tmp_path: Path) -> None:
    async with engine(postgres.database(tmp_path)) as opened:
        await opened.add("Tea in Bergen", actor=ANA)
        receipt = await opened.erase("ana", actor=ANA)
        assert (receipt.complete, receipt.traces["unvacuumed"]) == (True, 0)
        assert receipt.removed_at is not None
        again = ErasureReceipt.from_dict(receipt.as_dict())
        assert again == receipt
        assert not any((await opened.verify_erasure(again)).values())


async def test_else_the_receipt_says_what_is_still_to_come(
    postgres: PostgresServer, application: tuple[str, str]
) -> None:
    owner, app = application
    async with engine(owner):
        postgres.sql("CREATE ROLE just_an_app LOGIN IN ROLE mnemic_app")
    async with engine(app) as opened:
        await opened.add("Tea in Bergen", actor=ANA)
        receipt = await opened.erase("ana", actor=ANA)
        assert not receipt.complete
        assert receipt.traces["unvacuumed"] > 0
        assert {name for name, count in receipt.traces.items() if count} == {"unvacuumed"}
        for row in postgres.sql(TABLES):
            postgres.sql(f"VACUUM {row['name']}")
        assert not any((await opened.verify_erasure(receipt)).values())


async def test_what_was_sealed_needs_no_vacuum(postgres: PostgresServer, tmp_path: Path) -> None:
    MasterKeys.make(tmp_path / "master.key")
    keyring = KeyFolder(tmp_path / "keys", tmp_path / "master.key")
    async with engine(postgres.database(tmp_path), keyring) as opened:
        await opened.add("Tea in Bergen", actor=ANA)
        receipt = await opened.erase("ana", actor=ANA)
        assert (receipt.complete, receipt.removed_at, receipt.counts["keys"]) == (True, None, 1)
        assert "unvacuumed" not in receipt.traces


async def test_a_vacuum_from_before_does_not_count(postgres: PostgresServer, tmp_path: Path) -> None:
    async with engine(postgres.database(tmp_path)) as opened:
        await opened.add("Tea in Bergen", actor=ANA)
        receipt = await opened.erase("ana", actor=ANA)
        assert receipt.removed_at is not None
        store = opened.store
        assert isinstance(store, PostgresStore)
        assert await store.count_unvacuumed(receipt.removed_at + timedelta(hours=1)) > 5
