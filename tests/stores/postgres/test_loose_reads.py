"""Reads without a transaction are of one moment, or are made again in one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from mnemic.ports import Snapshot
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.loose_reads import LooseSession
from mnemic.testing.record_store.fixtures import EMBEDDER, memory, remember, scope
from mnemic.types import Memory, Where
from tests.servers import PostgresServer

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
