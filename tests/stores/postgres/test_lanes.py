"""Lanes of a tenant: lines of its audit that wait there, its counters, and writers that do not wait for each other."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from mnemic.errors import StoreBusy
from mnemic.ports import Transaction
from mnemic.stores.audit_chain import first_broken
from mnemic.stores.postgres import PostgresStore, audit_chain
from mnemic.stores.postgres.audit_chain import TenantAppend
from mnemic.testing.record_store.fixtures import EMBEDDER, START, change, memory, remember, scope
from mnemic.types import AuditEvent, Kind, OutboxEntry, Status
from tests.servers import PostgresServer


@pytest.fixture
def dsn(postgres: PostgresServer, tmp_path: Path) -> str:
    return postgres.database(tmp_path)


@pytest.fixture
async def store(dsn: str) -> AsyncIterator[PostgresStore]:
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    yield store
    await store.close()


def event(name: str, *, owner: str | None = None) -> AuditEvent:
    place = None if owner is None else scope(owner)
    return AuditEvent(tenant="acme", action="created", at=START, actor="ada", memory_id=name, scope=place)


async def note(store: PostgresStore, *events: AuditEvent) -> None:
    async def work(transaction: Transaction) -> None:
        for each in events:
            await transaction.append_audit(each)

    await store.transact(work)


def lane_of(owner: str) -> int:
    return TenantAppend([event("m", owner=owner)], [], {}).lane


async def forged(dsn: str, *commands: str) -> None:
    """Run commands as the owner of the tables could, without triggers and row-level security."""
    connection = await asyncpg.connect(dsn)
    try:
        await connection.execute("SET session_replication_role = replica; SET row_security = off")
        for command in commands:
            await connection.execute(command)
    finally:
        await connection.close()


async def test_lines_of_many_scopes_become_one_chain_in_the_order_of_their_commits(store: PostgresStore) -> None:
    named = [f"u{number}" for number in range(40)]
    assert len({lane_of(owner) for owner in named}) > 30
    for number, owner in enumerate(named):
        await note(store, event(f"m{number}", owner=owner))
    await note(store, event("of the tenant"), event("and another"))
    lines = await store.audit("acme")
    assert [line.memory_id for line in lines] == [f"m{n}" for n in range(40)] + ["of the tenant", "and another"]
    assert [line.sequence for line in lines] == list(range(1, 43))
    assert first_broken(lines) is None
    assert await store.broken_audit("acme") == (42, None, lines[-1].hash)


async def test_lines_are_taken_from_the_lanes_page_by_page(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_chain, "_PAGE", 3)
    for number in range(20):
        await note(store, event(f"m{number}", owner="ada" if number % 3 else "bob"))
    lines = await store.audit("acme")
    assert [line.memory_id for line in lines] == [f"m{number}" for number in range(20)]
    assert (await store.broken_audit("acme"))[:2] == (20, None)


@pytest.mark.parametrize(
    "command",
    [
        "UPDATE mnemic.journal SET event = replace(event, 'm1', 'm9') WHERE number = 2",
        "DELETE FROM mnemic.journal WHERE number = 2",
        "DELETE FROM mnemic.journal WHERE number = 3",
        "DELETE FROM mnemic.journal",
    ],
)
async def test_a_line_that_is_changed_or_missing_in_its_lane_is_found(
    store: PostgresStore, dsn: str, command: str
) -> None:
    for number in range(3):
        await note(store, event(f"m{number}", owner="ada"))
    await forged(dsn, command)
    assert (await store.broken_audit("acme"))[1] is not None
    await note(store, event("later", owner="ada"), event("and later", owner="ada"))
    assert (await store.broken_audit("acme"))[1] is not None


@pytest.mark.parametrize(
    "commands",
    [
        ["DELETE FROM mnemic.audit WHERE sequence > 3"],
        ["DELETE FROM mnemic.audit"],
        ["UPDATE mnemic.audit_head SET sequence = 3"],
        ["DELETE FROM mnemic.audit_head"],
    ],
)
async def test_the_loss_of_the_chains_end_is_found(store: PostgresStore, dsn: str, commands: list[str]) -> None:
    for number in range(3):
        await note(store, event(f"a{number}", owner="ada"), event(f"b{number}", owner="ada"))
    assert (await store.broken_audit("acme"))[:2] == (6, None)
    await forged(dsn, *commands)
    assert (await store.broken_audit("acme"))[1] is not None


@pytest.mark.parametrize(
    "commands",
    [
        ["DELETE FROM mnemic.lane_end"],
        ["DELETE FROM mnemic.journal", "DELETE FROM mnemic.lane_end"],
        ["DELETE FROM mnemic.journal", "UPDATE mnemic.lane_end SET number = 1"],
        ["DELETE FROM mnemic.journal"],
    ],
)
async def test_the_loss_of_a_lanes_end_is_found(store: PostgresStore, dsn: str, commands: list[str]) -> None:
    """Lines of two lanes are collected, and one more waits in each; one of them loses it."""
    assert lane_of("ada") != lane_of("bob")
    for content in ("collected", "and collected", "waits"):
        assert (await store.broken_audit("acme"))[1] is None
        for owner in ("ada", "bob"):
            await note(store, event(content, owner=owner))
    await forged(dsn, *(f"{command} WHERE lane = {lane_of('bob')}" for command in commands))
    assert (await store.broken_audit("acme"))[1] is not None


async def test_who_writes_in_one_lane_does_not_wait_for_another(dsn: str) -> None:
    assert lane_of("ada") != lane_of("bob")
    store = PostgresStore(dsn, statement_timeout=2.0)
    await store.open(EMBEDDER.space)
    for owner in ("ada", "bob"):
        await note(store, event("before", owner=owner))
    other = await asyncpg.connect(dsn)
    held = other.transaction()
    await held.start()
    await other.execute("SET LOCAL mnemic.tenant = 'acme'")
    await other.execute("SELECT FROM mnemic.lane_end WHERE tenant = 'acme' AND lane = $1 FOR UPDATE", lane_of("ada"))
    await note(store, event("in the other lane", owner="bob"))
    with pytest.raises(StoreBusy):
        await note(store, event("in this lane", owner="ada"))
    await held.rollback()
    await other.close()
    await note(store, event("in this lane now", owner="ada"))
    assert [line.memory_id for line in await store.audit("acme")][2:] == ["in the other lane", "in this lane now"]
    await store.close()


async def test_a_tenant_holds_what_its_lanes_add_up_to(store: PostgresStore) -> None:
    mine = [memory(f"of {owner}", scope=scope(owner)) for owner in ("ada", "bob", "eve")]
    await remember(store, *mine)
    await change(store, mine[0].next_version(START, content="longer than before", status=Status.SUPERSEDED))
    await store.transact(lambda transaction: transaction.remove(mine[1].memory_id, scope=mine[1].scope))
    whole = (await store.usage("acme", since=START))[Kind.LONG_TERM]
    parts = [await store.usage("acme", since=START, scope=each.scope) for each in mine]
    held = [part[Kind.LONG_TERM] for part in parts if part]
    assert (whole.rows, whole.bytes) == (sum(part.rows for part in held), sum(part.bytes for part in held)) != (0, 0)


async def test_what_leaves_no_line_counts_and_is_passed_on(store: PostgresStore) -> None:
    async def work(transaction: Transaction) -> None:
        await transaction.insert(memory("quiet"))
        await transaction.enqueue(OutboxEntry(scope=scope(), action="upsert", memory_id="m", version=1))

    await store.transact(work)
    assert (await store.usage("acme", since=START))[Kind.LONG_TERM].rows == 1
    assert [entry.memory_id for entry in await store.pending()] == ["m"]


async def test_the_index_of_marks_ends_where_their_prefix_does(dsn: str, store: PostgresStore) -> None:
    connection = await asyncpg.connect(dsn)
    asked = ["a", "tenant:t1", "a\ud7ff", "a\U0010ffff", ""]
    ends = [await connection.fetchval("SELECT mnemic.behind($1)", each) for each in asked]
    await connection.close()
    assert ends == ["b", "tenant:t2", "a\ue000", None, None]
    names = ["t:1", "t:10", "t:1\U0010ffff", "t:2", "t:1\ud7ff"]

    async def work(transaction: Transaction) -> None:
        for name in names:
            await transaction.put_mark("acme", name, "x")

    await store.transact(work)
    assert set(await store.marks("acme", "t:1")) == {"t:1", "t:10", "t:1\U0010ffff", "t:1\ud7ff"}
    assert set(await store.marks("acme", "t:1\U0010ffff")) == {"t:1\U0010ffff"}
    assert len(await store.marks("acme", "")) == 5
