"""Everything of a file in a cluster, and back in a file."""

from __future__ import annotations

import secrets
from pathlib import Path

from mnemic.operations.store_migration import move
from mnemic.stores.cassandra import CassandraStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
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
