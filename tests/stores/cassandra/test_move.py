"""Everything of a file in a cluster, and back in a file."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from mnemic.operations import store_migration
from mnemic.operations.store_migration import move
from mnemic.stores.cassandra import CassandraStore, journal
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.types import Actor, Candidate, Kind
from tests.operations.test_move import ANA, EMBEDDER, engine, filled


async def test_everything_is_the_same_in_the_cluster_and_in_a_file_again(cassandra: str, tmp_path: Path) -> None:
    clock = ManualClock()
    first, back = SqliteStore(tmp_path / "first.db"), SqliteStore(tmp_path / "back.db")
    there = CassandraStore(f"{cassandra}&prefix={secrets.token_hex(6)}")
    for store in (first, there, back):
        await store.open(EMBEDDER.space)
    await filled(first, clock)
    await first.open(EMBEDDER.space)
    assert set((await move(first, there)).tenants) == {"acme", "rival"}
    assert set((await move(there, back)).tenants) == {"acme", "rival"}
    for tenant in ("acme", "rival"):
        for store in (there, back):
            assert await store.secret(tenant) == await first.secret(tenant)
            assert await store.broken_audit(tenant) == await first.broken_audit(tenant)
            assert await store.requests(tenant) == await first.requests(tenant)
            assert await store.marks(tenant, "") == await first.marks(tenant, "")
    await first.close()
    await there.close()
    async with engine(back, clock) as opened:
        found = await opened.search("what do I drink", actor=ANA)
        assert "I drink coffee" in [hit.memory.content for hit in found.hits]
        assert await opened.consents(actor=ANA) == {"drink": True}


async def test_the_lines_of_several_users_keep_their_order_in_the_cluster(
    cassandra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each page of lines is written in the scope of its first one, and a collection takes some lines of each scope."""
    monkeypatch.setattr(store_migration, "PAGE", 6)
    monkeypatch.setattr(journal, "_LINES", 3)
    first = SqliteStore(tmp_path / "first.db")
    there = CassandraStore(f"{cassandra}&prefix={secrets.token_hex(6)}")
    async with engine(first, ManualClock()) as opened:
        for name in ("cay", "ana", "bob", "ana"):
            actor = Actor(tenant="acme", user=name)
            await opened.add_many(
                [Candidate(content=f"Bus {number} stops at {name}'s.", kind=Kind.EPISODIC) for number in range(6)],
                actor=actor,
            )
    for store in (first, there):
        await store.open(EMBEDDER.space)
    await move(first, there)
    assert await there.audit("acme") == await first.audit("acme")
    assert await there.broken_audit("acme") == await first.broken_audit("acme")
    await first.close()
    await there.close()
