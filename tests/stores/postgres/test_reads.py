"""Reads of PostgreSQL: outside transactions, through a pooler, of many users, and of an index that lacks an entry."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from bench.tenants import measured
from mnemic.errors import InvalidConfig
from mnemic.ports import Snapshot
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.loose_reads import LooseSession
from mnemic.stores.postgres.rows import LruMapping
from mnemic.testing.record_store.fixtures import EMBEDDER, everything, memory, remember, scope
from mnemic.types import Memory, Where
from tests.servers import PostgresServer


def test_what_was_used_longest_ago_goes_first() -> None:
    held: LruMapping[str, int] = LruMapping(2)
    assert held.put("a", 1) == 1
    held.put("b", 2)
    assert held.get("a") == 1
    held.put("c", 3)
    assert (held.get("a"), held.get("b"), held.get("c")) == (1, None, 3)


def test_a_new_value_takes_the_place_of_the_old_one() -> None:
    held: LruMapping[str, int] = LruMapping(1)
    held.put("a", 1)
    held.put("a", 2)
    assert held.get("a") == 2


async def test_usage_and_marks_read_as_many_blocks_of_a_tenant_of_many_users(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    few, many = await measured(postgres, tmp_path, [1_000, 20_000])
    for name, blocks in few["blocks"].items():
        assert many["blocks"][name] <= blocks + 3, name


NAMED = "(SELECT indexrelid FROM pg_index WHERE indexrelid = 'mnemic.memory_by_age'::regclass)"


@pytest.fixture
def dsn(postgres: PostgresServer, tmp_path: Path) -> Iterator[str]:
    yield postgres.database(tmp_path)
    postgres.sql("DROP EXTENSION IF EXISTS amcheck")


async def opened(dsn: str) -> PostgresStore:
    store = PostgresStore(dsn)
    await store.open(EMBEDDER.space)
    return store


async def test_an_index_that_lacks_an_entry_is_named_until_it_is_made_again(postgres: PostgresServer, dsn: str) -> None:
    store = await opened(dsn)
    await remember(store, memory("tea"))
    await store.close()
    # Rows written while an index counts as not ready have no entry in it.
    postgres.sql(f"UPDATE pg_index SET indisready = false WHERE indexrelid = {NAMED}")
    store = await opened(dsn)
    lost = memory("coffee")
    await remember(store, lost)
    postgres.sql(f"UPDATE pg_index SET indisready = true WHERE indexrelid = {NAMED}")
    tenant = scope().tenant
    assert await store.find_damage(tenant) == []  # without the extension nothing was checked
    postgres.sql("CREATE EXTENSION amcheck")
    assert await store.find_damage(tenant) == [("index", "memory_by_age")]
    postgres.sql("REINDEX INDEX mnemic.memory_by_age")
    assert await store.find_damage(tenant) == []
    assert lost.memory_id in {one.memory_id for one in await store.newest(everything(), limit=9)}
    await store.close()


async def test_who_may_not_ask_the_extension_is_told_of_rows_alone(postgres: PostgresServer, dsn: str) -> None:
    store = await opened(dsn)
    await remember(store, memory("tea"))
    await store.close()
    postgres.sql("CREATE EXTENSION amcheck", "CREATE ROLE an_app LOGIN IN ROLE mnemic_app")
    try:
        store = await opened(dsn.replace("//postgres@", "//an_app@"))
        assert await store.find_damage(scope().tenant) == []
        await store.close()
    finally:
        postgres.sql("DROP OWNED BY an_app", "DROP ROLE an_app")


async def test_a_connection_that_loses_its_role_is_refused_later_too(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    store = PostgresStore(dsn, pool_size=1)
    await store.open(EMBEDDER.space)
    await remember(store, memory("tea"))

    async def reset(session: object) -> None:
        await session.execute("RESET ROLE")  # type: ignore[attr-defined]

    opened = store._ready.connections
    await opened._thread.run(opened._run("", reset, opened._limit_seconds(None)))
    await opened._thread.run(
        opened._run("", lambda session: session.execute("SET ROLE postgres"), opened._limit_seconds(None))
    )
    for call in (store.count(Where(scopes=(scope(),))), remember(store, memory("coffee"))):
        with pytest.raises(InvalidConfig):
            await call
    await store.close()


async def test_tenants_whose_scopes_have_the_same_number_are_kept_apart(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    """Numbers as scopes of two servers that were merged may have them."""
    store = PostgresStore(postgres.database(tmp_path))
    await store.open(EMBEDDER.space)
    postgres.sql(
        "INSERT INTO mnemic.scope (tenant, level, owner, scope_id) OVERRIDING SYSTEM VALUE "
        "VALUES ('acme', 'user', 'ada', 7), ('rival', 'user', 'ada', 7)"
    )
    kept = {tenant: memory(f"tea of {tenant}", scope=scope(tenant=tenant)) for tenant in ("acme", "rival")}
    await remember(store, *kept.values())
    for _ in range(2):
        for tenant, one in kept.items():
            found = await store.match(Where(scopes=(scope(tenant=tenant),)), "tea", limit=9)
            assert [entry.memory_id for entry in found] == [one.memory_id]
            near = await store.nearest(Where(scopes=(scope(tenant=tenant),)), EMBEDDER.vector("tea"), limit=9)
            assert [entry.memory_id for entry in near] == [one.memory_id]
    await store.wait_until_moved()
    await store.close()


WHERE = Where(scopes=(scope(),))


@pytest.fixture
async def stores(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    both = PostgresStore(postgres.database(tmp_path), pool_size=1), PostgresStore(postgres.database(tmp_path))
    for store in both:
        await store.open(EMBEDDER.space)
    yield both
    for store in both:
        await store.close()


async def listed(moment: Snapshot) -> tuple[list[str], list[Memory]]:
    """Return what is listed, and the memories with these names."""
    names = [entry.memory_id for entry in await moment.recent(WHERE, limit=9)]
    return names, list((await moment.get_many(names, scopes=[scope()])).values())


async def test_what_another_process_removes_between_two_statements_is_in_neither(
    stores: tuple[PostgresStore, PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = stores
    tea, coffee = memory("tea"), memory("coffee")
    await remember(store, tea, coffee)
    await store.read(listed)
    get_many, calls = LooseSession.get_many, []

    async def late(self: LooseSession, *given: Any) -> list[Any]:
        calls.append(given)
        await other.transact(lambda tx: tx.remove(tea.memory_id, scope=scope()))
        return await get_many(self, *given)

    monkeypatch.setattr(LooseSession, "get_many", late)
    assert await store.read(listed) == ([coffee.memory_id], [coffee])
    assert len(calls) == 1


async def test_a_work_that_needs_a_transaction_is_begun_in_one_from_then_on(
    stores: tuple[PostgresStore, PostgresStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, _ = stores
    await remember(store, memory("tea"))
    refused: list[Sequence[Any]] = []
    enter = LooseSession.enter

    async def noted(self: LooseSession, *given: Any) -> None:
        refused.append(given)
        await enter(self, *given)

    monkeypatch.setattr(LooseSession, "enter", noted)

    async def count(moment: Snapshot) -> int:
        return await moment.count(WHERE)

    assert [await store.read(count) for _ in range(3)] == [1, 1, 1]
    assert len(refused) == 1


async def test_a_statement_without_a_transaction_leaves_no_tenant_behind(
    stores: tuple[PostgresStore, PostgresStore],
) -> None:
    store, _ = stores
    await remember(store, memory("tea"))
    await store.read(listed)
    assert len((await store.read(listed))[1]) == 1
    [(left,)] = await store._ready.connections.ask("SELECT coalesce(current_setting('mnemic.tenant', true), '')")
    assert left == ""
    assert await store._ready.connections.ask("SELECT FROM memory") == []
