"""The hot set names the newest memories or reports that it cannot; the rows are always the record store's."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.retrieve.hot_set import HotReader
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.redis import RedisHotSet, RedisLink
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import day
from mnemic.types import Actor, Change, Memory, OutboxEntry, Status, Where
from tests.servers import in_thread
from tests.valkey import ValkeyServer

HERE = Where(scopes=(scope(),))


@pytest.fixture
async def hot(valkey: ValkeyServer) -> AsyncIterator[RedisHotSet]:
    hot = RedisHotSet(RedisLink(valkey.url, seconds=30), size=5)
    yield hot
    await hot.close()


@pytest.fixture
async def store() -> AsyncIterator[InProcessStore]:
    store = InProcessStore()
    await store.open(EMBEDDER.space)
    yield store
    await store.close()


def change(kept: Memory, **fields: Any) -> Change:
    """The change that sets `kept`, for a projection."""
    told = kept.next_version(kept.updated_at, **fields) if fields else kept
    return Change(entry=OutboxEntry.for_memory(told), memory=told)


def texts(result: Any) -> list[str]:
    return [hit.memory.content for hit in result.hits]


async def test_it_is_filled_by_the_first_who_asks_and_kept_by_changes(
    hot: RedisHotSet, store: InProcessStore, valkey: ValkeyServer
) -> None:
    reader = HotReader(store, hot)
    first, second = memory("first", at=day(1)), memory("second", at=day(2))
    await remember(store, first, second)
    await hot.apply([change(first)])
    assert valkey.names() == []
    assert texts(await reader.newest(HERE, limit=5)) == ["second", "first"]
    third = memory("third", at=day(3))
    await remember(store, third)
    assert texts(await reader.newest(HERE, limit=5)) == ["second", "first"]
    await hot.apply([change(third)])
    assert texts(await reader.newest(HERE, limit=2)) == ["third", "second"]
    await hot.apply([change(second, status=Status.SUPERSEDED)])
    known = await hot.newest(scope(), limit=5)
    assert known is not None
    assert (known.memory_ids, known.complete) == ((third.memory_id, first.memory_id), True)


async def test_a_scope_without_memories_is_known_to_be_empty(hot: RedisHotSet, store: InProcessStore) -> None:
    assert (await HotReader(store, hot).newest(HERE, limit=5)).hits == ()
    known = await hot.newest(scope(), limit=5)
    assert known is not None
    assert (known.memory_ids, known.complete) == ((), True)


async def test_it_is_bounded_and_says_where_it_ends(
    hot: RedisHotSet, store: InProcessStore, valkey: ValkeyServer
) -> None:
    memories = [memory(f"text {number}", at=day(number)) for number in range(12)]
    await remember(store, *memories)
    reader = HotReader(store, hot)
    await reader.newest(HERE, limit=3)
    (key,) = valkey.names()
    for number in range(12, 40):
        more = memory(f"text {number}", at=day(number))
        await remember(store, more)
        await hot.apply([change(more)])
        assert valkey.ask("ZCARD", key) <= hot.size + 3
    assert texts(await reader.newest(HERE, limit=3)) == ["text 39", "text 38", "text 37"]
    assert len(texts(await reader.newest(HERE, limit=30))) == 30
    assert 0 < valkey.ask("PTTL", key) <= timedelta(days=1) // timedelta(milliseconds=1)


async def test_a_stale_name_is_never_shown(hot: RedisHotSet, store: InProcessStore) -> None:
    reader = HotReader(store, hot)
    kept, gone, closed = (memory(text, at=day(n)) for n, text in enumerate(["kept", "gone", "closed"]))
    await remember(store, kept, gone, closed)
    await reader.newest(HERE, limit=5)
    await store.transact(lambda transaction: transaction.remove(gone.memory_id, scope=scope()))
    ended = closed.next_version(closed.updated_at, status=Status.EXPIRED)
    await store.transact(lambda transaction: transaction.replace(ended))
    assert texts(await reader.newest(HERE, limit=5)) == ["kept"]


async def test_what_changes_while_it_is_filled_is_not_lost(hot: RedisHotSet, store: InProcessStore) -> None:
    old, new = memory("old", at=day(1)), memory("new", at=day(2))
    await remember(store, old)
    await hot.begin(scope())
    assert await hot.newest(scope(), limit=5) is None
    held = await store.recent(HERE, limit=6)
    await remember(store, new)
    await hot.apply([change(new)])
    await hot.fill(scope(), held, complete=True)
    assert texts(await HotReader(store, hot).newest(HERE, limit=5)) == ["new", "old"]


async def test_a_set_that_another_has_filled_is_left_alone(hot: RedisHotSet, store: InProcessStore) -> None:
    one = memory("one")
    await remember(store, one)
    await HotReader(store, hot).newest(HERE, limit=5)
    await hot.fill(scope(), [], complete=True)
    known = await hot.newest(scope(), limit=5)
    assert known is not None
    assert known.memory_ids == (one.memory_id,)


async def test_a_tenant_is_cleared_without_touching_another(hot: RedisHotSet, valkey: ValkeyServer) -> None:
    for tenant in ("acme", "rival"):
        for owner in ("ana", "ben"):
            await hot.begin(scope(owner, tenant=tenant))
    await hot.clear("acme")
    assert len(valkey.names()) == 2
    assert not any(name in key for key in valkey.names() for name in ("acme", "rival", "ana", "ben"))


EVENTS = st.lists(
    st.tuples(st.sampled_from(["write", "close", "read", "lose"]), st.integers(0, 30), st.integers(1, 7)), max_size=25
)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EVENTS)
def test_through_it_the_newest_are_those_of_the_store(valkey: ValkeyServer, events: list[tuple[str, int, int]]) -> None:
    async def run() -> None:
        hot, store = RedisHotSet(RedisLink(valkey.url, seconds=30), size=4), InProcessStore()
        await store.open(EMBEDDER.space)
        reader, live = HotReader(store, hot), list[Memory]()
        for what, number, limit in events:
            if what == "write":
                live.append(memory(f"text {len(live)}", at=day(number)))
                await remember(store, live[-1])
                await hot.apply([change(live[-1])])
            elif what == "close" and live:
                closed = live.pop(number % len(live))
                ended = change(closed, status=Status.SUPERSEDED)
                assert ended.memory is not None
                await store.transact(lambda transaction, ended=ended: transaction.replace(ended.memory))
                await hot.apply([ended])
            elif what == "lose":
                valkey.ask("FLUSHALL")
            truth = [entry.memory_id for entry in await store.recent(HERE, limit=limit)]
            assert [hit.memory.memory_id for hit in (await reader.newest(HERE, limit=limit)).hits] == truth
        await hot.close()
        await store.close()

    valkey.ask("FLUSHALL")
    in_thread(run)


# -- through the engine -----------------------------------------------------------------------------------------------

ANA, BEN = Actor(user="ana"), Actor(user="ben")


@pytest.fixture
async def engine(hot: RedisHotSet) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(
        store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock(), projections=[hot]
    ) as engine:
        yield engine


async def test_the_engine_keeps_it_and_reads_through_it(engine: MemoryEngine, valkey: ValkeyServer) -> None:
    assert (await engine.hot(actor=ANA)).hits == ()
    tea = await engine.add("Likes tea.", actor=ANA, key="drink")
    coffee = await engine.add("Likes coffee.", actor=ANA, key="drink")
    assert (tea.degraded, coffee.degraded) == ((), ())
    assert texts(await engine.hot(actor=ANA)) == ["Likes coffee."]
    assert (await engine.hot(actor=BEN)).hits == ()
    await engine.erase("ana", actor=ANA)
    assert (await engine.hot(actor=ANA)).hits == ()
    assert not any(b"-" in name for key in valkey.names() for name in valkey.ask("ZRANGE", key, 0, -1))


async def test_without_one_the_store_answers(engine: MemoryEngine) -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=ManualClock()) as plain:
        await plain.add("Likes tea.", actor=ANA)
        result = await plain.hot(actor=ANA)
        assert (texts(result), result.errors) == (["Likes tea."], {})
