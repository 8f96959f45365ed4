"""Scopes searched in memory answer as the database does, never from outdated or uncommitted state."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from mnemic.errors import StoreBusy
from mnemic.ports import Transaction
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.postgres.indexes import CATCH_UP
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import Kind, Memory, Scored, Source, Status, Where
from tests.servers import PostgresServer

WORDS = "tea coffee harbour lisbon porto train cat dog green blue old new boat river hill rain sun snow".split()
MANY = CATCH_UP + 40
HERE = Where(scopes=(scope(),))
LISTS = ("nearest", "match", "recent")


@pytest_asyncio.fixture
async def store(postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[PostgresStore]:
    """A store with more memories than a search applies itself, all of them loaded."""
    store = PostgresStore(postgres.database(tmp_path))
    await store.open(EMBEDDER.space)
    await remember(store, *told(random.Random(3), MANY))
    await store.count(HERE)
    await ranked(store, HERE, "tea")
    await store.wait_until_moved()
    yield store
    await store.close()


@pytest_asyncio.fixture
async def plain(postgres: PostgresServer, store: PostgresStore) -> AsyncIterator[PostgresStore]:
    """The same database without anything in memory."""
    plain = PostgresStore(postgres.dsn(), index_bytes=0)
    await plain.open(EMBEDDER.space)
    yield plain
    await plain.close()


def told(choice: random.Random, number: int) -> list[Memory]:
    return [
        memory(
            " ".join(choice.sample(WORDS, 5)),
            key=choice.choice([None, "home", "work"]),
            category=choice.choice([None, "place"]),
            occurred_at=START + timedelta(minutes=choice.randrange(10_000)),
        )
        for _ in range(number)
    ]


async def ranked(store: PostgresStore, where: Where, words: str) -> list[list[Scored]]:
    return [
        await store.nearest(where, EMBEDDER.vector(words), limit=20),
        await store.match(where, words, limit=20),
        await store.recent(where, limit=20),
    ]


async def same(store: PostgresStore, plain: PostgresStore, where: Where, words: str = "old harbour tea") -> None:
    """Both give the same lists, except for the last digits of their scores."""
    for name, one, two in zip(LISTS, await ranked(store, where, words), await ranked(plain, where, words), strict=True):
        assert [entry.score for entry in one] == pytest.approx([entry.score for entry in two], abs=1e-5), name
        strict = {entry.memory_id for entry in one if entry.score > one[-1].score + 1e-5}
        assert strict <= {entry.memory_id for entry in two}, name


@asynccontextmanager
async def memories_locked(postgres: PostgresServer) -> AsyncIterator[None]:
    """No reader can access the table of memories."""
    connection = await asyncpg.connect(postgres.dsn(), timeout=30)
    async with connection.transaction():
        await connection.execute("LOCK TABLE mnemic.memory IN ACCESS EXCLUSIVE MODE")
        yield
    await connection.close()


@pytest.mark.parametrize(
    "where",
    [
        HERE,
        replace(HERE, keys=frozenset({"home"})),
        replace(HERE, keys=frozenset({"nowhere"})),
        replace(HERE, hidden_keys=frozenset({"home"})),
        replace(HERE, categories=frozenset({"place"})),
        replace(HERE, happened_from=START + timedelta(minutes=500), happened_to=START + timedelta(minutes=4000)),
        replace(HERE, as_of=START + timedelta(minutes=5000)),
        Where(scopes=(scope(), scope("somebody"))),
    ],
)
async def test_lists_from_memory_are_those_of_the_database(
    store: PostgresStore, plain: PostgresStore, where: Where
) -> None:
    await remember(store, memory("tea in the old harbour", scope=scope("somebody")))
    await same(store, plain, where)
    memory_ids = [entry.memory_id for entry in await plain.recent(where, limit=50)]
    assert await store.signals(where, memory_ids) == await plain.signals(where, memory_ids)
    assert await store.speakers(where) == await plain.speakers(where)


async def test_what_others_write_is_seen_at_once(store: PostgresStore, plain: PostgresStore) -> None:
    news = memory("a lighthouse in the harbour", key="home")
    await remember(plain, news)
    assert (await store.match(HERE, "lighthouse", limit=5))[0].memory_id == news.memory_id
    gone = news.next_version(START, status=Status.SUPERSEDED)
    await plain.transact(lambda transaction: transaction.replace(gone))
    assert await store.match(HERE, "lighthouse", limit=5) == []
    assert (await store.match(replace(HERE, statuses=frozenset(Status)), "lighthouse", limit=5)) != []
    await plain.transact(lambda transaction: transaction.remove(news.memory_id, scope=news.scope))
    assert await store.match(replace(HERE, statuses=frozenset(Status)), "lighthouse", limit=5) == []
    await same(store, plain, HERE)


async def test_what_the_store_itself_writes_is_found_without_reading_it_again(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    news = memory("a lighthouse in the harbour", key="home")
    await remember(store, news)
    gone = news.next_version(START, content="the lighthouse was torn down")
    await store.transact(lambda transaction: transaction.replace(gone))
    async with memories_locked(postgres):
        assert [one.memory_id for one in await store.match(HERE, "lighthouse", limit=5)] == [news.memory_id]
        assert await store.match(HERE, "torn", limit=5) != []


async def test_what_the_store_takes_in_is_what_it_would_read(store: PostgresStore, plain: PostgresStore) -> None:
    said = Source(session="s1", speaker="Ana")
    telling = [
        memory("I asked when the train to Porto leaves?", kind=Kind.EPISODIC, source=said),
        memory("tomorrow at nine, said Ana", kind=Kind.EPISODIC, source=said, expires_at=START + timedelta(days=9)),
        memory(
            "tea in the harbour", key="home", category="place", valid_from=START, valid_to=START + timedelta(days=1)
        ),
        memory("a memory without a vector", vector=None),
        memory("a boat that waits for its review", status=Status.PENDING_REVIEW),
    ]
    await remember(store, *telling)

    async def twice(transaction: Transaction) -> None:
        for turn, content in enumerate(("a new boat in the rain", "a green boat in the snow"), 2):
            stored = await transaction.get(telling[2].memory_id, scopes=[scope()])
            assert stored is not None
            changed = stored.next_version(START, content=content, vector=EMBEDDER.vector(content))
            assert changed.version == turn
            await transaction.replace(changed)
        await transaction.insert(memory("an old hill by the river"))

    await store.transact(twice)
    names = [one.memory_id for one in telling]
    everything = replace(HERE, statuses=frozenset(Status))
    for words in ("train Porto", "green boat", "new boat", "tea harbour", "old hill", "memory review"):
        await same(store, plain, everything, words)
    assert await store.signals(everything, names) == await plain.signals(everything, names)
    assert await store.speakers(HERE) == await plain.speakers(HERE) >= {"Ana"}


async def test_what_is_written_between_the_changes_of_others_is_not_lost(
    store: PostgresStore, plain: PostgresStore
) -> None:
    for number in range(3):
        await remember(plain, memory(f"the {number}. lighthouse of the others"))
        await remember(store, memory(f"the {number}. lighthouse of its own"))
        gone = memory(f"the {number}. lighthouse that went")
        await remember(store, gone)

        async def both(transaction: Transaction, gone: Memory = gone) -> None:
            await transaction.insert(memory(f"a lighthouse beside {gone.content}"))
            await transaction.remove(gone.memory_id, scope=gone.scope)
            await transaction.insert(memory(f"a lighthouse after {gone.content}"))

        await store.transact(both)
    await same(store, plain, HERE, "lighthouse")
    assert len(await store.match(HERE, "lighthouse", limit=50)) == 12


async def test_many_changes_by_others_are_loaded_in_the_background(store: PostgresStore, plain: PostgresStore) -> None:
    news = told(random.Random(4), MANY)
    await remember(plain, *news)
    await same(store, plain, HERE)
    await store.wait_until_moved()
    await same(store, plain, HERE)
    assert {entry.memory_id for entry in await store.recent(HERE, limit=3 * MANY)} >= {one.memory_id for one in news}


async def test_what_was_rolled_back_is_in_no_list(store: PostgresStore, plain: PostgresStore) -> None:
    ghost = memory("a ghost ship")

    async def fail(transaction: Transaction) -> None:
        await transaction.nearest(scope(), EMBEDDER.vector("ship"), limit=5, at_least=0.0)
        await transaction.insert(ghost)
        assert await transaction.nearest(scope(), ghost.vector or b"", limit=5, at_least=0.9) == []
        raise ZeroDivisionError

    async def fail_late(transaction: Transaction) -> None:
        await transaction.insert(ghost)
        assert await transaction.nearest(scope(), ghost.vector or b"", limit=5, at_least=0.9) == []
        raise ZeroDivisionError

    for work in (fail, fail_late):
        with pytest.raises(ZeroDivisionError):
            await store.transact(work)
        assert await store.match(HERE, "ghost", limit=5) == []
    await same(store, plain, HERE)


async def test_a_transaction_finds_neighbours_as_they_were_when_it_began(store: PostgresStore) -> None:
    old = memory("the lighthouse keeper sleeps at noon")
    await remember(store, old)

    async def work(transaction: Transaction) -> list[tuple[Memory, float]]:
        await transaction.nearest(scope(), EMBEDDER.vector("tea"), limit=5, at_least=0.99)
        await transaction.replace(old.next_version(START, content="something else altogether", vector=None))
        return await transaction.nearest(scope(), old.vector or b"", limit=5, at_least=0.9)

    found = await store.transact(work)
    assert [(one.memory_id, one.content) for one, _ in found] == [(old.memory_id, old.content)]


async def test_a_loaded_scope_is_searched_without_reading_its_memories(
    store: PostgresStore, postgres: PostgresServer
) -> None:
    before = await ranked(store, HERE, "old harbour tea")
    async with memories_locked(postgres):
        assert await ranked(store, HERE, "old harbour tea") == before


async def test_a_scope_that_does_not_fit_is_left_to_the_database(
    postgres: PostgresServer, store: PostgresStore
) -> None:
    small = PostgresStore(postgres.dsn(), index_bytes=2 * MANY * 1000, statement_timeout=1)
    await small.open(EMBEDDER.space)
    await ranked(small, HERE, "tea")
    await small.wait_until_moved()
    assert len((await ranked(small, HERE, "tea"))[0]) == 20
    async with memories_locked(postgres):
        with pytest.raises(StoreBusy):
            await small.recent(HERE, limit=5)
    await small.close()
