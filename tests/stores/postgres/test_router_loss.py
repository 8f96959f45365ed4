"""A server behind a router, killed while all tenants write, affects its own tenants only; a lost one is restored from
its own backup; one that does not enforce row-level security is refused by each transaction.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from mnemic.errors import InvalidConfig, MnemicError
from mnemic.operations.store_operations import backup_store, restore_store
from mnemic.ports import Transaction
from mnemic.runtime.clock import SystemClock
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import AuditEvent, Memory, Where
from tests.routed import RoutedServers

KEPT, LOST = 0, 1
CUT_OFF = {"store_unavailable", "commit_unknown"}
"""Reasons of calls to a lost server: before its commit, and during it."""
NUMBERS = "SELECT DISTINCT start_value FROM pg_sequences WHERE schemaname = 'mnemic' AND increment_by = 1024"


async def written(store: PostgresStore, tenant: str, content: str) -> Memory:
    """Write a memory with its line in the audit."""
    one = memory(content, scope=scope(tenant=tenant))

    async def work(transaction: Transaction) -> None:
        await transaction.insert(one)
        line = AuditEvent(tenant=tenant, action="created", at=START, actor="ada", memory_id=one.memory_id)
        await transaction.append_audit(line)

    await store.transact(work)
    return one


async def opened(servers: RoutedServers, folder: Path) -> PostgresStore:
    store = servers.store(folder, pool_size=1)
    servers.router.homes |= {"acme": KEPT, "rival": LOST}
    await store.open(EMBEDDER.space)
    return store


@pytest.mark.parametrize(
    ("weakened", "restored"),
    [
        ("ALTER TABLE mnemic.memory DISABLE ROW LEVEL SECURITY", "ALTER TABLE mnemic.memory ENABLE ROW LEVEL SECURITY"),
        ("ALTER TABLE mnemic.mark DISABLE ROW LEVEL SECURITY", "ALTER TABLE mnemic.mark ENABLE ROW LEVEL SECURITY"),
        ("ALTER TABLE mnemic.audit NO FORCE ROW LEVEL SECURITY", "ALTER TABLE mnemic.audit FORCE ROW LEVEL SECURITY"),
        ("ALTER ROLE mnemic_app BYPASSRLS", "ALTER ROLE mnemic_app NOBYPASSRLS"),
    ],
)
async def test_each_transaction_refuses_a_server_that_does_not_enforce_row_level_security(
    routed_servers: RoutedServers, tmp_path: Path, weakened: str, restored: str
) -> None:
    store = await opened(routed_servers, tmp_path)
    kept = await written(store, "rival", "tea")
    routed_servers.sql(LOST, weakened)
    try:
        for call in (store.get(kept.memory_id, scopes=[kept.scope]), remember(store, memory("b", scope=kept.scope))):
            with pytest.raises(InvalidConfig) as refused:
                await call
            assert refused.value.reason == "invalid_config:postgres_role"
        await written(store, "acme", "tea")
    finally:
        routed_servers.sql(LOST, restored)
    assert await store.get(kept.memory_id, scopes=[kept.scope]) == kept
    assert await store.count(Where(scopes=(kept.scope,))) == 1
    await store.close()


async def test_a_lost_server_is_restored_from_its_own_backup(routed_servers: RoutedServers, tmp_path: Path) -> None:
    servers, clock = routed_servers, SystemClock()
    store = await opened(servers, tmp_path)
    theirs = [await written(store, "rival", f"note {number}") for number in range(3)]
    await asyncio.to_thread(backup_store, servers.dsns()[LOST], tmp_path / "copy", clock)
    after = await written(store, "rival", "after the backup")
    ours = [await written(store, "acme", f"note {number}") for number in range(3)]
    numbers = servers.sql(LOST, NUMBERS)
    await store.close()
    servers.sql(LOST, "DROP SCHEMA mnemic CASCADE")

    to = servers.dsns()[LOST]
    await asyncio.to_thread(restore_store, tmp_path / "copy", to, clock, erasures=None, receipts=[])
    store = await opened(servers, tmp_path)
    assert servers.sql(LOST, NUMBERS) == numbers, "no other server gives rows these numbers"
    for tenant, wanted in (("rival", theirs), ("acme", ours)):
        found = await store.newest(Where(scopes=(scope(tenant=tenant),)), limit=9)
        assert {one.memory_id for one in found} == {one.memory_id for one in wanted}
        lines = await store.audit(tenant)
        assert [line.memory_id for line in lines] == [one.memory_id for one in wanted]
        assert (await store.broken_audit(tenant))[:2] == (3, None)
    assert await store.get(after.memory_id, scopes=[after.scope]) is None
    again = await written(store, "rival", "written afterwards")
    assert (await store.broken_audit("rival"))[:2] == (4, None)
    assert await store.get(again.memory_id, scopes=[again.scope]) == again
    await store.close()


class Caller:
    """Writes memories of one tenant, one after the other, and records acknowledged and failed writes."""

    def __init__(self, store: PostgresStore, tenant: str, called: asyncio.Condition) -> None:
        self.store = store
        self.tenant = tenant
        self.called = called
        self.acknowledged: list[Memory] = []
        self.failed: list[str] = []

    async def go_on(self, stop: asyncio.Event) -> None:
        """Write until `stop` is set."""
        number = 0
        while not stop.is_set():
            number += 1
            try:
                self.acknowledged.append(await written(self.store, self.tenant, f"note {number}"))
            except MnemicError as error:
                self.failed.append(error.reason)
            async with self.called:
                self.called.notify_all()


async def until(callers: list[Caller], good: Callable[[Caller], bool]) -> None:
    """Return once this is true for all of them."""
    async with asyncio.timeout(300), callers[0].called:
        await callers[0].called.wait_for(lambda: all(map(good, callers)))


@pytest.mark.parametrize("short_answers", [False, True])
async def test_a_server_killed_while_all_tenants_write_takes_its_own_along_and_no_others(
    routed_servers: RoutedServers, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, short_answers: bool
) -> None:
    servers = routed_servers
    monkeypatch.setattr(servers.router, "short_answers", short_answers)
    tenants = {f"tenant{number}": number % 3 for number in range(9)}
    store = servers.store(tmp_path, pool_size=4)
    servers.router.homes |= tenants
    await store.open(EMBEDDER.space)
    called = asyncio.Condition()
    callers = [Caller(store, tenant, called) for tenant in tenants]
    theirs = [caller for caller in callers if tenants[caller.tenant] == LOST]
    others = [caller for caller in callers if tenants[caller.tenant] != LOST]
    stop = asyncio.Event()
    writing = [asyncio.create_task(caller.go_on(stop)) for caller in callers]
    try:
        await until(callers, lambda caller: len(caller.acknowledged) >= 5)
        await asyncio.to_thread(servers.servers[LOST].kill)
        try:
            await until(theirs, lambda caller: len(caller.failed) >= 3)
            before = {caller.tenant: len(caller.acknowledged) for caller in callers}
            await until(others, lambda caller: len(caller.acknowledged) >= before[caller.tenant] + 10)
            assert all(len(caller.acknowledged) == before[caller.tenant] for caller in theirs)
        finally:
            await asyncio.to_thread(servers.servers[LOST].start)
        await until(theirs, lambda caller: len(caller.acknowledged) >= before[caller.tenant] + 5)
    finally:
        stop.set()
        await asyncio.gather(*writing)
    assert [caller.failed for caller in others] == [[]] * len(others)
    assert {reason.partition(":")[0] for caller in theirs for reason in caller.failed} <= CUT_OFF
    for caller in callers:
        found = await store.newest(Where(scopes=(scope(tenant=caller.tenant),)), limit=100_000)
        held = [one.memory_id for one in found]
        assert {one.memory_id for one in caller.acknowledged} <= set(held)
        # A commit under way may have completed without an answer.
        assert len(caller.acknowledged) <= len(held) == len(set(held)) <= len(caller.acknowledged) + 1
        lines = [line.memory_id for line in await store.audit(caller.tenant, limit=100_000)]
        assert sorted(map(str, lines)) == sorted(held)
        assert (await store.broken_audit(caller.tenant))[:2] == (len(lines), None)
    assert servers.router.refused == []
    await store.close()
