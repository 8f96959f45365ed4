"""A hot set that lost what it had taken: from an older snapshot, after a failover, on a server that is full."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.stores.redis import RedisHotSet, RedisLink, hot_set
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor
from tests.processes import running
from tests.valkey import ValkeyCluster, ValkeyServer

ANA = Actor(user="ana")
NEWEST = 10


@pytest.fixture
async def engine(valkey: ValkeyServer, tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    async with engine_of(tmp_path, valkey) as engine:
        for number in range(20):
            await engine.add(f"Parcel {number} goes to a town.", actor=ANA)
        yield engine


def engine_of(folder: Path, server: ValkeyServer | ValkeyCluster) -> MemoryEngine:
    hot = RedisHotSet(RedisLink(server.url, seconds=30))
    return MemoryEngine(store=SqliteStore(folder / "m.db"), embedder=WordEmbedder(), projections=[hot])


async def newest(engine: MemoryEngine) -> list[str]:
    return [hit.memory.content for hit in (await engine.hot(actor=ANA, limit=NEWEST)).hits]


async def more(engine: MemoryEngine, first: int, count: int) -> list[str]:
    """Add so many more, and say what the newest are then."""
    for number in range(first, first + count):
        await engine.add(f"Parcel {number} goes to a town.", actor=ANA)
    return [f"Parcel {number} goes to a town." for number in range(first + count - 1, first + count - 1 - NEWEST, -1)]


def restarted(server: ValkeyServer) -> None:
    """With what it had at its last SAVE."""
    server.kill()
    server.start()


async def test_a_server_that_comes_back_from_an_older_snapshot(engine: MemoryEngine, valkey: ValkeyServer) -> None:
    await newest(engine)
    valkey.ask("SAVE")
    wanted = await more(engine, 20, 5)
    assert await newest(engine) == wanted
    restarted(valkey)
    assert valkey.names(), "it has loaded the snapshot"
    assert await newest(engine) == wanted
    wanted = await more(engine, 25, 2)
    assert await newest(engine) == wanted


async def test_without_the_epoch_the_snapshot_is_believed(
    engine: MemoryEngine, valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control run: a set that does not say which run of the server it belongs to."""
    for name in ("_BEGIN", "_APPLY", "_FILL", "_NEWEST"):
        script = getattr(hot_set, name)
        same = script.text.replace("string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')", "'always'")
        assert same != script.text
        monkeypatch.setattr(hot_set, name, hot_set.Script(same))
    await newest(engine)
    valkey.ask("SAVE")
    wanted = await more(engine, 20, 5)
    restarted(valkey)
    assert await newest(engine) != wanted


async def test_a_replica_that_takes_over(engine: MemoryEngine, valkey: ValkeyServer, tmp_path: Path) -> None:
    await newest(engine)
    with running(ValkeyServer()) as replica:
        replica.ask("REPLICAOF", "127.0.0.1", valkey.port)
        while b"master_link_status:up" not in bytes_of(replica.ask("INFO", "replication")):
            pass
        valkey.ask("WAIT", 1, 0)
        replica.ask("REPLICAOF", "NO", "ONE")
        wanted = await more(engine, 20, 5)
        assert replica.names()
        async with engine_of(tmp_path, replica) as other:
            assert await newest(other) == wanted
            assert await newest(other) == wanted


async def test_a_cluster_whose_master_is_lost_goes_on_with_its_replica(tmp_path: Path) -> None:
    """Nobody tells it to: the others elect the replica."""
    with running(ValkeyCluster(replicated=True)) as cluster:
        async with engine_of(tmp_path, cluster) as engine:
            wanted = await more(engine, 0, 20)
            assert await newest(engine) == wanted
            lost, replica = next(
                pair for pair in zip(cluster.masters, cluster.replicas, strict=True) if pair[0].names()
            )
            lost.ask("WAIT", 1, 0)
            lost.kill()
            wanted = await more(engine, 20, 5)
            assert await newest(engine) == wanted, "the store answers meanwhile"
            async with asyncio.timeout(60):
                while replica.ask("ROLE")[0] not in (b"master", "master"):
                    await newest(engine)
                written = 25  # a client that met the lost master asks again after the pause of its circuit breaker
                while not replica.names():
                    await more(engine, written, 1)
                    written += 1
            before = replica.ask("INFO", "commandstats")
            wanted = await more(engine, written, 5)
            assert await newest(engine) == wanted
            async with asyncio.timeout(60):
                while not replica.names():  # the circuit breaker may have opened once more while the others elected
                    assert await newest(engine) == wanted
            assert replica.ask("INFO", "commandstats") != before


def bytes_of(answer: object) -> bytes:
    if isinstance(answer, dict):
        return b"\n".join(f"{name}:{value}".encode() for name, value in answer.items())
    return answer if isinstance(answer, bytes) else str(answer).encode()


async def test_a_server_that_is_full(engine: MemoryEngine, valkey: ValkeyServer) -> None:
    await newest(engine)
    valkey.ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
    valkey.ask("CONFIG", "SET", "maxmemory", "1")
    try:
        wanted = await more(engine, 20, 5)
        assert await newest(engine) == wanted
        assert valkey.names() == []
    finally:
        valkey.ask("CONFIG", "SET", "maxmemory", "0")
    wanted = await more(engine, 25, 2)
    assert await newest(engine) == wanted


async def test_what_another_process_could_not_pass_on_is_not_missed(
    engine: MemoryEngine, valkey: ValkeyServer, tmp_path: Path
) -> None:
    await newest(engine)
    lost = RedisHotSet(RedisLink("redis://127.0.0.1:1", seconds=0.2))
    cut_off = MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder(), projections=[lost])
    await cut_off.open()
    wanted = await more(cut_off, 20, 3)
    assert await newest(engine) == wanted
    await cut_off.close()
