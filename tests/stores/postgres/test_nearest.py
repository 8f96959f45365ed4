"""Small scopes are searched exactly, large ones through the vector index; no search returns fewer than there are."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.rows import filter_of, places_of, vector_parameter
from mnemic.stores.postgres.statements import add_conditions, load
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Kind, Memory, Scored, Status, Where
from tests.servers import PostgresServer

WORDS = "tea coffee harbour lisbon porto train cat dog green blue old new boat river hill rain sun snow".split()
CROWD, BIG, SMALL = scope("crowd"), scope("big"), scope("small")


def told(choice: random.Random, number: int, **fields: object) -> list[Memory]:
    return [memory(" ".join(choice.sample(WORDS, 5)), **fields) for _ in range(number)]  # type: ignore[arg-type]


@pytest_asyncio.fixture
async def store(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[PostgresStore]:
    """A store that treats scopes above 50 memories as large; a crowd and a big scope have been moved into the index."""
    store = PostgresStore(postgres.database(tmp_path), exact_up_to=50, index_bytes=0)
    await store.open(EMBEDDER.space)
    choice = random.Random(5)
    await remember(store, *told(choice, 200, scope=CROWD), *told(choice, 120, scope=BIG), *told(choice, 3, scope=SMALL))
    for place in (CROWD, BIG, SMALL):
        await store.nearest(Where(scopes=(place,)), EMBEDDER.vector("tea"), limit=1)
    await store.wait_until_moved()
    yield store
    await store.close()


def large(postgres: PostgresServer) -> dict[str, int]:
    sql = (
        "SELECT s.owner, count(*) FILTER (WHERE m.large) FROM mnemic.scope s "
        "JOIN mnemic.memory m USING (tenant, scope_id) GROUP BY 1"
    )
    return dict(postgres.sql(sql))


async def exactly(postgres: PostgresServer, where: Where, words: str, limit: int) -> list[Scored]:
    store = PostgresStore(postgres.dsn(), index_bytes=0)
    await store.open(EMBEDDER.space)
    postgres.sql("UPDATE mnemic.scope SET large = false")
    found = await store.nearest(where, EMBEDDER.vector(words), limit=limit)
    postgres.sql("UPDATE mnemic.scope SET large = true WHERE owner <> 'small'")
    await store.close()
    return found


async def test_only_scopes_that_have_grown_are_in_the_index(store: PostgresStore, postgres: PostgresServer) -> None:
    assert large(postgres) == {"crowd": 200, "big": 120, "small": 0}
    await remember(store, *told(random.Random(6), 2, scope=BIG), *told(random.Random(7), 2, scope=SMALL))
    assert large(postgres) == {"crowd": 200, "big": 122, "small": 0}
    assert store.capabilities.exact_up_to == 50


async def test_a_small_scope_beside_large_ones_is_complete(store: PostgresStore) -> None:
    for words in ("tea", "harbour boat", "snow"):
        assert len(await store.nearest(Where(scopes=(SMALL,)), EMBEDDER.vector(words), limit=10)) == 3


async def test_a_small_scope_forced_into_the_index_is_complete_too(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    postgres.sql("UPDATE mnemic.memory SET large = true", "UPDATE mnemic.scope SET large = true")
    for words in ("tea", "harbour boat", "snow"):
        assert len(await store.nearest(Where(scopes=(SMALL,)), EMBEDDER.vector(words), limit=3)) == 3
        assert len(await store.nearest(Where(scopes=(SMALL,)), EMBEDDER.vector(words), limit=10)) == 3


@pytest.mark.parametrize("limit", [1, 119, 500])
async def test_a_large_scope_gives_as_many_as_there_are(store: PostgresStore, limit: int) -> None:
    found = await store.nearest(Where(scopes=(BIG,)), EMBEDDER.vector("green tea"), limit=limit)
    assert len({entry.memory_id for entry in found}) == min(limit, 120)
    assert [entry.score for entry in found] == sorted((entry.score for entry in found), reverse=True)


async def test_the_index_finds_what_the_exact_search_finds(store: PostgresStore, postgres: PostgresServer) -> None:
    where = Where(scopes=(BIG, SMALL))
    near, exact = 0, 0
    for words in ("green tea", "old boat river", "cat dog", "rain sun snow"):
        found = await store.nearest(where, EMBEDDER.vector(words), limit=10)
        best = await exactly(postgres, where, words, limit=10)
        near += sum(entry.score >= best[-1].score - 1e-6 for entry in found)
        exact += len(best)
    assert near >= 0.95 * exact


async def test_the_statement_for_large_scopes_goes_through_the_index(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    session, searching = load("session"), load("searching")
    connection = await asyncpg.connect(
        postgres.dsn(), server_settings={"role": "mnemic_app", "search_path": "mnemic, public"}, timeout=30
    )
    async with connection.transaction():
        await connection.fetch(session["name_tenant"], "acme", "9999")
        await connection.fetch(session["approximately"])
        asked = filter_of(Where(scopes=(BIG,)))
        given = (*places_of("acme", [BIG]), vector_parameter(EMBEDDER.vector("tea")), 5, *asked.values())
        plan = await connection.fetch("EXPLAIN " + add_conditions(searching["approximate"], tuple(asked)), *given)
        assert any("memory_by_vector" in line for (line,) in plan)
        plan = await connection.fetch("EXPLAIN " + add_conditions(searching["nearest"], tuple(asked)), *given)
        assert not any("memory_by_vector" in line for (line,) in plan)
    await connection.close()


async def test_filters_hold_in_the_index_too(store: PostgresStore) -> None:
    entities = told(random.Random(8), 4, scope=BIG, kind=Kind.ENTITY)
    await remember(store, *entities, *told(random.Random(9), 5, scope=BIG, status=Status.SUPERSEDED))
    where = Where(scopes=(BIG,), kinds=frozenset({Kind.ENTITY}))
    found = await store.nearest(where, EMBEDDER.vector("tea"), limit=10)
    assert {entry.memory_id for entry in found} == {one.memory_id for one in entities}


async def test_near_duplicates_of_a_large_scope_are_found(store: PostgresStore) -> None:
    twin = memory("a text like no other, with a lighthouse", scope=BIG)
    await remember(store, twin)
    vector = EMBEDDER.vector(twin.content)
    found = await store.transact(lambda transaction: transaction.nearest(BIG, vector, limit=5, at_least=0.9))
    assert [one.memory_id for one, _ in found] == [twin.memory_id]
