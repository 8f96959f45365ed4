"""Contract of the records that are committed with the memories: audit log, outbox, requests, secrets."""

# ruff: noqa: D102

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from mnemic.errors import IdempotencyConflict
from mnemic.ports import RecordStore, Transaction
from mnemic.stores.audit_chain import first_broken
from mnemic.testing.record_store.fixtures import START, Setting, day, everything, memory, scope
from mnemic.types import AuditEvent, Level, OutboxEntry


def _event(number: int, tenant: str = "acme") -> AuditEvent:
    detail = {"reason": f"r{number}", "steps": [number, None, 0.5, {"ü": True}]}
    place = scope(tenant=tenant) if number % 2 else None
    return AuditEvent(
        tenant=tenant,
        action="created",
        at=day(number),
        actor="ada",
        scope=place,
        memory_id="m",
        version=1,
        detail=detail,
    )


async def _audit(store: RecordStore, *events: AuditEvent) -> None:
    async def work(transaction: Transaction) -> None:
        for event in events:
            await transaction.append_audit(event)

    await store.transact(work)


async def _sequences(store: RecordStore, projection: str | None = None) -> list[int]:
    return [entry.sequence for entry in await store.pending(projection=projection)]


class TrailContract(Setting):
    """Check that nothing of these can be lost, changed or forged unnoticed."""

    async def test_the_audit_is_numbered_and_chained_per_tenant(self, store: RecordStore) -> None:
        for number in range(5):
            await _audit(store, _event(number))
            await _audit(store, _event(number, "rival"))
        lines = await store.audit("acme")
        assert [line.sequence for line in lines] == [1, 2, 3, 4, 5]
        assert [replace(line, sequence=0, hash="") for line in lines] == [_event(number) for number in range(5)]
        assert first_broken(lines) is None
        assert first_broken(await store.audit("rival")) is None
        assert len({line.hash for line in lines}) == 5
        assert await store.audit("acme", after=3) == lines[3:]
        assert await store.audit("acme", after=1, limit=2) == lines[1:3]
        assert await store.audit("acme", before=4, limit=2) == lines[1:3]
        assert await store.audit("acme", before=2**53, limit=2) == lines[3:]
        assert await store.audit("acme", after=2, before=5) == lines[2:4]
        assert await store.audit("acme", before=1) == await store.audit("acme", before=0) == []
        assert first_broken(lines[2:], previous=lines[1].hash) is None
        assert await store.audit("nobody") == []

    async def test_the_store_checks_its_own_audit(self, store: RecordStore) -> None:
        for number in range(4):
            await _audit(store, _event(number))
            await _audit(store, _event(number, "rival"))
        lines = await store.audit("acme")
        assert await store.broken_audit("acme") == (4, None, lines[-1].hash)
        assert await store.broken_audit("nobody") == (0, None, "")

    async def test_a_changed_missing_or_foreign_line_breaks_the_chain(self, store: RecordStore) -> None:
        await _audit(store, *(_event(number) for number in range(5)))
        lines = await store.audit("acme")
        forged = replace(lines[2], actor="eve")
        assert first_broken([*lines[:2], forged, *lines[3:]]) == 3
        assert first_broken([*lines[:2], *lines[3:]]) == 4
        assert first_broken([lines[1], lines[0], *lines[2:]]) == 2
        assert first_broken(lines[1:]) == 2

    async def test_a_failed_transaction_leaves_no_line(self, store: RecordStore) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.append_audit(_event(1))
            await transaction.enqueue(OutboxEntry(scope=scope(), action="upsert", memory_id="m", version=1))
            await transaction.remember_request("acme", "k", "d", "{}", START)
            raise LookupError

        with pytest.raises(LookupError):
            await store.transact(work)
        assert await store.audit("acme") == []
        assert await store.pending() == []
        assert await store.transact(lambda transaction: transaction.find_request("acme", "k")) is None

    async def test_the_outbox_is_taken_in_order_and_once(self, store: RecordStore) -> None:
        async def work(transaction: Transaction) -> None:
            for number in range(4):
                entry = OutboxEntry(scope=scope(), action="upsert", memory_id=f"m{number}", version=number + 1)
                await transaction.enqueue(entry)
            await transaction.enqueue(OutboxEntry(scope=scope(), action="remove", memory_id="m0", version=2))

        await store.transact(work)
        entries = await store.pending()
        assert [(entry.memory_id, entry.action) for entry in entries][-2:] == [("m3", "upsert"), ("m0", "remove")]
        assert await store.pending(limit=2) == entries[:2]
        await store.acknowledge([entries[0].sequence, entries[2].sequence])
        assert await store.pending() == [entries[1], *entries[3:]]
        await store.acknowledge([entry.sequence for entry in entries])
        assert await store.pending() == []
        await store.transact(work)
        assert min(entry.sequence for entry in await store.pending()) > entries[-1].sequence

    async def test_an_entry_says_where_its_memory_lies(self, store: RecordStore) -> None:
        kept = memory("tea", scope=scope("harbour", tenant="rival", level=Level.WORKSPACE))
        await store.transact(lambda transaction: transaction.enqueue(OutboxEntry.for_memory(kept)))
        (entry,) = await store.pending()
        assert replace(entry, sequence=0) == OutboxEntry.for_memory(kept)
        assert entry.place == ("rival", kept.memory_id)

    async def test_an_entry_stays_until_every_registered_projection_has_it(self, store: RecordStore) -> None:
        for name in ("graph", "hot_set", "graph"):
            await store.register(name)
        await self._enqueue(store, 3)
        first, second, third = [entry.sequence for entry in await store.pending()]
        await store.acknowledge([first, third], projection="graph")
        await store.acknowledge([first], projection="graph")
        assert await _sequences(store, "graph") == [second]
        assert await _sequences(store, "hot_set") == await _sequences(store) == [first, second, third]
        assert await store.projections() == {"graph": 1, "hot_set": 3}
        await store.acknowledge([third, second], projection="hot_set")
        assert await _sequences(store) == [first, second]
        await store.acknowledge([second], projection="graph")
        await store.acknowledge([first, 99], projection="hot_set")
        assert await store.pending() == []
        assert await store.projections() == {"graph": 0, "hot_set": 0}

    async def test_nobody_waits_for_a_projection_that_has_left(self, store: RecordStore) -> None:
        for name in ("graph", "hot_set"):
            await store.register(name)
        await self._enqueue(store, 2)
        first, second = [entry.sequence for entry in await store.pending()]
        await store.acknowledge([first], projection="graph")
        await store.unregister("hot_set")
        await store.unregister("hot_set")
        assert await _sequences(store, "graph") == await _sequences(store) == [second]
        await store.register("hot_set")
        assert await _sequences(store, "hot_set") == [second]
        for name in ("graph", "hot_set"):
            await store.unregister(name)
        assert await _sequences(store) == [second]

    async def test_two_projections_that_take_an_entry_at_once_leave_nothing(
        self, store: RecordStore, other: RecordStore
    ) -> None:
        for name in ("graph", "hot_set"):
            await store.register(name)
        await self._enqueue(store, 20)
        taken = await _sequences(store)
        takers = ((one, name, [sequence]) for sequence in taken for one, name in ((store, "graph"), (other, "hot_set")))
        await asyncio.gather(*(one.acknowledge(sequences, projection=name) for one, name, sequences in takers))
        assert await store.pending() == []

    async def _enqueue(self, store: RecordStore, count: int) -> None:
        async def work(transaction: Transaction) -> None:
            for number in range(count):
                entry = OutboxEntry(scope=scope(), action="upsert", memory_id=f"m{number}", version=1)
                await transaction.enqueue(entry)

        await store.transact(work)

    async def test_a_request_is_remembered_with_its_effect(self, store: RecordStore) -> None:
        async def work(transaction: Transaction) -> None:
            await transaction.insert(memory("tea"))
            await transaction.remember_request("acme", "key-1", "digest", '{"outcome":"created"}', START)

        await store.transact(work)

        async def find(transaction: Transaction) -> list[object]:
            return [await transaction.find_request("acme", name) for name in ("key-1", "key-2")]

        assert await store.transact(find) == [("digest", '{"outcome":"created"}'), None]
        assert await store.transact(lambda transaction: transaction.find_request("rival", "key-1")) is None
        with pytest.raises(IdempotencyConflict):
            await store.transact(work)
        assert await store.count(everything()) == 1

    async def test_a_tenant_keeps_one_secret_of_its_own(self, store: RecordStore) -> None:
        first = await store.secret("acme")
        assert len(first) == 32
        assert await store.secret("acme") == first
        assert await store.secret("rival") != first
