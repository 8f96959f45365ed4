"""Searches answered by a server that follows the primary: a real one, which streams."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mnemic.bootstrap import build_store
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig
from mnemic.ports import Snapshot, Transaction
from mnemic.stores.postgres import PostgresStore, database_access
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.types import Actor, Where
from tests.processes import running
from tests.servers import PostgresServer, PostgresStandby

HERE = Where(scopes=(scope(),))


@pytest.fixture(scope="module")
def primary() -> Iterator[PostgresServer]:
    with running(PostgresServer("fsync=off")) as server:
        yield server


@pytest.fixture(scope="module")
def standby(primary: PostgresServer) -> Iterator[PostgresServer]:
    with running(PostgresStandby(primary, "fsync=off")) as server:
        yield server


@pytest.fixture
async def store(
    primary: PostgresServer, standby: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[PostgresStore]:
    """Checks the replica before each read, without a pause after a failure."""
    monkeypatch.setattr(database_access, "BELIEVED", 0.0)
    monkeypatch.setattr(database_access, "SHORTEST_REST", 1e-9)
    monkeypatch.setattr(database_access, "LONGEST_REST", 1e-9)
    store = PostgresStore(primary.database(tmp_path), replica_dsn=standby.dsn())
    await store.open(EMBEDDER.space)
    yield store
    await store.close()


@pytest.fixture
async def other(store: PostgresStore, primary: PostgresServer, tmp_path: Path) -> AsyncIterator[PostgresStore]:
    """The store as another process opens it, without a replica."""
    other = PostgresStore(primary.database(tmp_path))
    await other.open(EMBEDDER.space)
    yield other
    await other.close()


async def until(met: Callable[[], Awaitable[bool]]) -> None:
    """Return once it is true: a server has to start, or catch up."""
    async with asyncio.timeout(30):
        while not await met():
            pass


async def counted(store: PostgresStore, number: int) -> None:
    """Return once the store counts so many, and its replica has caught up with the store's commits: until then the
    primary answers.
    """

    async def so_many() -> bool:
        counted = await store.count(HERE) == number
        assert store._opened is not None
        follower = store._opened.database.replica
        return counted and (follower is None or (follower._needed or float("inf")) <= follower._replayed)

    await until(so_many)


@contextmanager
def standing_still(standby: PostgresServer) -> Iterator[None]:
    """The standby has stopped replaying: it continues for a moment after the request."""
    standby.sql("SELECT pg_wal_replay_pause()")
    try:
        while standby.sql("SELECT pg_get_wal_replay_pause_state()")[0][0] != "paused":
            pass
        yield
    finally:
        standby.sql("SELECT pg_wal_replay_resume()")


async def test_reads_go_to_the_replica_and_writes_to_the_primary(
    store: PostgresStore, other: PostgresStore, standby: PostgresServer
) -> None:
    await remember(store, memory("tea"))
    await counted(store, 1)
    with standing_still(standby):
        await remember(other, memory("coffee"))
        assert (await other.count(HERE), await store.count(HERE)) == (2, 1)
        assert store.capabilities.degraded == frozenset()
    await counted(store, 2)


async def test_what_a_store_has_written_it_finds_at_once(store: PostgresStore, standby: PostgresServer) -> None:
    with standing_still(standby):
        for number in range(1, 4):
            await remember(store, memory(f"tea {number}"))
            assert await store.count(HERE) == number
            assert len(await store.match(HERE, "tea", limit=9)) == number
        assert store.capabilities.degraded == frozenset()


async def test_what_the_index_knows_already_is_not_read_from_a_replica_that_does_not(
    store: PostgresStore, other: PostgresStore, standby: PostgresServer
) -> None:
    """Otherwise it would be found, and then be missing."""
    tea, coffee = memory("tea"), memory("coffee")
    await remember(store, tea)
    await counted(store, 1)
    await store.nearest(HERE, tea.vector, limit=9)
    await store.wait_until_moved()

    async def tried(transaction: Transaction) -> None:
        await transaction.nearest(scope(), tea.vector, limit=9, at_least=-1.0)
        raise LookupError

    async def rows(snapshot: Snapshot) -> int:
        found = await snapshot.nearest(HERE, tea.vector, limit=9)
        return len(await snapshot.get_many([one.memory_id for one in found], scopes=[scope()]))

    with standing_still(standby):
        await remember(other, coffee)
        assert await store.read(rows) == 1
        with pytest.raises(LookupError):
            await store.transact(tried)
        assert await store.read(rows) == 2
        assert store.capabilities.degraded == frozenset()


async def test_without_the_replica_the_primary_answers_and_it_is_said(
    store: PostgresStore, standby: PostgresServer
) -> None:
    ana = Actor(user="ana")
    async with MemoryEngine(store=store, embedder=EMBEDDER) as engine:
        await engine.add("The sea is calm.", actor=ana)
        assert not (await engine.search("sea", actor=ana)).errors
        standby.kill()
        found = await engine.search("sea", actor=ana)
        assert (len(found.hits), found.errors) == (1, {"replica": "store_unavailable"})
        standby.start()

        async def whole() -> bool:
            return not (await engine.search("sea", actor=ana)).errors

        await until(whole)
        assert (await engine.add("The sea is rough.", actor=ana)).memory_id


async def test_a_replica_that_does_not_follow_any_more_is_not_asked(
    store: PostgresStore, other: PostgresStore, primary: PostgresServer, standby: PostgresServer
) -> None:
    await remember(store, memory("tea"))
    await counted(store, 1)
    connected = standby.sql("SHOW primary_conninfo")[0][0]
    change = "ALTER SYSTEM SET primary_conninfo = '{}'"
    standby.sql(change.format(""), "SELECT pg_reload_conf()")
    try:

        async def given_up() -> bool:
            await store.count(HERE)
            return "replica" in store.capabilities.degraded

        await until(given_up)
        await remember(other, memory("coffee"))
        assert await store.count(HERE) == 2
    finally:
        standby.sql(change.format(connected.replace("'", "''")), "SELECT pg_reload_conf()")


async def test_an_address_names_the_replica(primary: PostgresServer, standby: PostgresServer) -> None:
    named = build_store(f"{primary.dsn()}&replica={standby.dsn()}", durability="durable")
    assert isinstance(named, PostgresStore)
    for wrong in ("sqlite:///m.db", f"{standby.dsn()}&replica={standby.dsn()}"):
        with pytest.raises(InvalidConfig, match="replica"):
            build_store(f"{primary.dsn()}&replica={wrong}", durability="durable")
