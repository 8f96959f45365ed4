"""Contract for concurrent tasks, concurrent processes, and a store that is opened again."""

# ruff: noqa: D102

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from mnemic.errors import SpaceMismatch, StoreUnavailable, VersionConflict
from mnemic.ports import RecordStore, Transaction
from mnemic.stores.audit_chain import first_broken
from mnemic.types import AuditEvent, OutboxEntry, VectorSpace
from mnemic_testing.record_store.fixtures import (
    EMBEDDER,
    START,
    Setting,
    change,
    day,
    everything,
    ids,
    memory,
    remember,
    scope,
)


class SharingContract(Setting):
    """Many at once, one after the other."""

    async def test_a_closed_store_says_so(self, store: RecordStore) -> None:
        await store.close()
        await store.close()
        with pytest.raises(StoreUnavailable):
            await store.count(everything())
        with pytest.raises(StoreUnavailable):
            await remember(store, memory("late"))

    async def test_opening_again_finds_everything(self, store: RecordStore, tmp_path: Path) -> None:
        kept, gone = memory("green tea", fingerprint="f1"), memory("gone")
        changed = kept.next_version(day(1), confidence=0.99)
        await remember(store, kept, gone)
        await change(store, changed)

        async def work(transaction: Transaction) -> None:
            await transaction.remove(gone.memory_id, scope=scope())
            await transaction.append_audit(AuditEvent(tenant="acme", action="created", at=START, actor="ada"))
            await transaction.enqueue(OutboxEntry(scope=scope(), action="upsert", memory_id="m", version=1))
            await transaction.remember_request("acme", "k", "d", "{}", START)

        await store.transact(work)
        await store.register("copy")
        secret = await store.secret("acme")
        await store.close()
        kept_on_disk = store.capabilities.shared or store.capabilities.durable
        again = self.new_store(tmp_path) if kept_on_disk else store
        await again.open(EMBEDDER.space)
        try:
            assert await again.newest(everything(), limit=9) == [changed]
            assert len(await again.versions(kept.memory_id, scopes=[scope()])) == 2
            assert ids(await again.match(everything(), '"green tea"', limit=9)) == [kept.memory_id]
            assert ids(await again.nearest(everything(), EMBEDDER.vector("tea"), limit=9)) == [kept.memory_id]
            assert len(await again.audit("acme")) == len(await again.pending()) == 1
            assert await again.transact(lambda transaction: transaction.find_request("acme", "k")) == ("d", "{}")
            assert await again.secret("acme") == secret
            assert await again.projections() == {"copy": 1}
        finally:
            await again.close()

    async def test_another_vector_space_is_refused(self, store: RecordStore, tmp_path: Path) -> None:
        await remember(store, memory("tea"))
        await store.close()
        for space in (
            VectorSpace(model="another", dimension=64),
            VectorSpace(model=EMBEDDER.space.model, dimension=32),
        ):
            again = self.new_store(tmp_path) if store.capabilities.shared else store
            with pytest.raises(SpaceMismatch) as refused:
                await again.open(space)
            await again.close()
            assert EMBEDDER.space.model in (refused.value.hint or "")
            assert "64" in (refused.value.hint or "")
        await store.open(EMBEDDER.space)
        assert await store.count(everything()) == 1

    async def test_many_tasks_at_once(self, store: RecordStore) -> None:
        async def one(number: int) -> None:
            mine = memory(f"tea number {number}", scope=scope(f"user{number % 5}"), fingerprint=f"f{number}")

            async def work(transaction: Transaction) -> None:
                await transaction.nearest(mine.scope, EMBEDDER.vector(mine.content), limit=3, at_least=0.5)
                await transaction.insert(mine)
                await transaction.append_audit(AuditEvent(tenant="acme", action="created", at=START, actor="ada"))

            await store.transact(work)
            found = await store.match(everything(mine.scope), f"number {number}", limit=1)
            assert ids(found) == [mine.memory_id]

        await asyncio.gather(*(one(number) for number in range(60)))
        for number in range(5):
            assert await store.count(everything(scope(f"user{number}"))) == 12
        lines = await store.audit("acme")
        assert len(lines) == 60
        assert first_broken(lines) is None

    async def test_two_stores_on_the_same_data_see_each_other(self, store: RecordStore, other: RecordStore) -> None:
        first, second = memory("green tea"), memory("green coffee")
        await remember(store, first)
        assert ids(await other.match(everything(), "green", limit=9)) == [first.memory_id]
        await remember(other, second)
        assert set(ids(await store.match(everything(), "green", limit=9))) == {first.memory_id, second.memory_id}
        await change(other, first.next_version(day(1), content="black tea", vector=EMBEDDER.vector("black tea")))
        assert ids(await store.match(everything(), "green", limit=9)) == [second.memory_id]
        assert ids(await store.nearest(everything(), EMBEDDER.vector("black tea"), limit=1)) == [first.memory_id]
        await store.transact(lambda transaction: transaction.remove(second.memory_id, scope=scope()))
        for each in (store, other):
            assert ids(await each.recent(everything(), limit=9)) == [first.memory_id]
            assert await each.count(everything()) == 1
        assert await store.secret("acme") == await other.secret("acme")

    async def test_two_stores_agree_on_twins(self, store: RecordStore, other: RecordStore) -> None:
        twins = [memory("tea", fingerprint="f1") for _ in range(10)]
        writers = [remember((store, other)[number % 2], twin) for number, twin in enumerate(twins)]
        outcomes = await asyncio.gather(*writers, return_exceptions=True)
        assert Counter(type(outcome) for outcome in outcomes) == {type(None): 1, VersionConflict: 9}
        vector = EMBEDDER.vector("tea")
        near = await other.transact(lambda t: t.nearest(scope(), vector, limit=5, at_least=0.9))
        assert len(near) == 1
