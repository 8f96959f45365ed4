"""Redis in trouble: no call hangs, no write fails, nothing stays wrong; and a cluster that loses a master."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import StoreBusy, StoreFailed, StoreUnavailable
from mnemic.stores.redis import RedisHotSet, RedisLink, RedisSessions, hot_set
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Level, Message, Outcome, Scope
from tests.faults.network_proxy import BlackHole, Corrupt, CutAfter, Fault, FaultProxy, Latency, Reset, Slice
from tests.faults.scale import size
from tests.processes import running
from tests.valkey import ValkeyCluster, ValkeyServer

ANA = Actor(user="ana")
HOUR = timedelta(hours=1)
CALLS = size(4, 200)
LIMIT, LATE = 0.5, 0.1
"""Seconds a call may take, and how late its end may be noticed."""

FAULTS: dict[str, Callable[[], Fault]] = {
    "latency": lambda: Latency(2.0),
    "black hole": BlackHole,
    "reset": Reset,
    "cut": lambda: CutAfter(3),
    "corrupt": lambda: Corrupt(0.3),
}


def session(owner: str) -> Scope:
    return Scope(tenant="acme", level=Level.SESSION, owner=owner)


def said(content: str) -> Message:
    return Message(role="user", content=content)


@pytest.fixture
async def proxy(valkey: ValkeyServer) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(valkey.address) as proxy:
        yield proxy


@pytest.mark.parametrize("name", FAULTS)
async def test_no_call_hangs_and_the_next_ones_are_refused_at_once(
    proxy: FaultProxy, name: str, say: Callable[[str], None]
) -> None:
    sessions = RedisSessions(RedisLink("redis://{}:{}".format(*proxy.address), seconds=LIMIT))
    await sessions.append(session("s"), said("before"), ttl=HOUR, keep=9)
    proxy.fault = FAULTS[name]()
    took: list[float] = []
    for _ in range(CALLS):
        began = time.monotonic()
        try:
            found = await sessions.tail(session("s"), limit=9)
        except (StoreBusy, StoreUnavailable):
            pass
        else:
            assert name == "corrupt"
            assert len(found) <= 1
        took.append(time.monotonic() - began)
    say(f"{name}: {CALLS} calls, the longest {max(took):.3f} s")
    assert sum(seconds > LIMIT + LATE for seconds in took) == 0
    proxy.fault = None

    async def healed() -> bool:
        return await _outcome(sessions, "s") == "before"

    await _until(healed)
    assert [message.content for message in await sessions.tail(session("s"), limit=9)] == ["before"]
    await sessions.close()


async def _until(met: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(30):
        while not await met():  # noqa: ASYNC110 - nobody tells when a server or a breaker has recovered
            await asyncio.sleep(0.05)


async def _outcome(sessions: RedisSessions, owner: str) -> str:
    """The session's last text, `nothing`, or `unavailable`."""
    try:
        found = await sessions.tail(session(owner), limit=1)
    except StoreFailed:
        return "unavailable"
    return found[0].content if found else "nothing"


async def test_pieces_of_one_byte_change_nothing(proxy: FaultProxy) -> None:
    proxy.fault = Slice(1)
    sessions = RedisSessions(RedisLink("redis://{}:{}".format(*proxy.address), seconds=30))
    await sessions.append(session("s"), said("slowly"), ttl=HOUR, keep=9)
    assert [message.content for message in await sessions.tail(session("s"), limit=9)] == ["slowly"]
    await sessions.close()


@pytest.mark.parametrize("name", FAULTS)
async def test_writes_go_on_and_the_hot_set_catches_up(proxy: FaultProxy, tmp_path: Path, name: str) -> None:
    hot = RedisHotSet(RedisLink("redis://{}:{}".format(*proxy.address), seconds=LIMIT))
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder(), projections=[hot]) as engine:
        old = await engine.add("Lives in Rome.", actor=ANA, key="city")
        await engine.hot(actor=ANA)
        proxy.fault = FAULTS[name]()
        if name != "corrupt":
            failed = await engine.hot(actor=ANA)
            assert [hit.memory.content for hit in failed.hits] == ["Lives in Rome."]
            assert list(failed.errors) == ["hot_set"]
        receipts = [await engine.add(city, actor=ANA, key="city") for city in ("Lives in Oslo.", "Lives in Bern.")]
        assert [receipt.outcome for receipt in receipts] == [Outcome.SUPERSEDED] * 2
        if name != "corrupt":
            assert {receipt.degraded for receipt in receipts} == {("hot_set",)}
            seen = await engine.hot(actor=ANA)
            assert [hit.memory.content for hit in seen.hits] == ["Lives in Bern."]
            assert seen.errors == {}, "a copy with changes to take is not asked"
        proxy.fault = None

        async def caught_up() -> bool:
            return not await engine.store.pending() and not (await engine.hot(actor=ANA)).errors

        await _until(caught_up)
        known = await hot.newest(ANA.scope(Level.USER), limit=9)
        assert known is not None
        assert known.memory_ids == (receipts[-1].memory_id,)
        assert old.memory_id not in known.memory_ids


async def test_a_server_that_lost_everything_is_filled_again(valkey: ValkeyServer, tmp_path: Path) -> None:
    hot = RedisHotSet(RedisLink(valkey.url, seconds=30))
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder(), projections=[hot]) as engine:
        await engine.add("Likes tea.", actor=ANA)
        await engine.hot(actor=ANA)
        valkey.ask("FLUSHALL")
        added = await engine.add("Owns a red bicycle.", actor=ANA)
        assert added.degraded == ()
        assert len((await engine.hot(actor=ANA)).hits) == 2


async def test_eight_clients_of_one_session_lose_nothing(valkey: ValkeyServer) -> None:
    """Each appends in its own order, to a list that all of them trim."""
    clients, turns, keep = 8, size(15, 150), 1000

    async def write(client: int) -> None:
        sessions = RedisSessions(RedisLink(valkey.url, seconds=30))
        for turn in range(turns):
            await sessions.append(session("s"), said(f"{client} {turn}"), ttl=HOUR, keep=keep)
        await sessions.close()

    await asyncio.gather(*(write(client) for client in range(clients)))
    sessions = RedisSessions(RedisLink(valkey.url, seconds=30))
    kept = [tuple(map(int, one.content.split())) for one in await sessions.tail(session("s"), limit=clients * turns)]
    await sessions.close()
    assert len(set(kept)) == len(kept) == min(keep, clients * turns)
    for client in range(clients):
        mine = [turn for whose, turn in kept if whose == client]
        assert mine == list(range(turns - len(mine), turns))


# -- a cluster --------------------------------------------------------------------------------------------------------


@pytest.fixture
def cluster() -> Iterator[ValkeyCluster]:
    """A cluster of this test's own: it loses a master."""
    with running(ValkeyCluster()) as cluster:
        yield cluster


async def test_a_cluster_that_loses_a_master_loses_its_sessions_alone(cluster: ValkeyCluster) -> None:
    link = RedisLink(cluster.url, seconds=5)
    sessions = RedisSessions(link)
    owners = [f"s{number}" for number in range(15)]
    for owner in owners:
        await sessions.append(session(owner), said(owner), ttl=HOUR, keep=9)
    held = [len(_conversations(master)) for master in cluster.masters]
    assert sum(held) == 15
    assert min(held) > 0
    lost = cluster.masters[1]
    gone = _conversations(lost)
    await asyncio.to_thread(lost.kill)
    outcomes = {owner: await _outcome(sessions, owner) for owner in owners}
    kept = [owner for owner, found in outcomes.items() if found == owner]
    assert len(kept) == 15 - len(gone)
    assert {found for owner, found in outcomes.items() if owner not in kept} == {"unavailable"}
    await asyncio.to_thread(lost.start)

    async def whole() -> bool:
        return "unavailable" not in {await _outcome(sessions, owner) for owner in owners}

    await _until(whole)
    missing = next(owner for owner in owners if owner not in kept)
    await sessions.append(session(missing), said("again"), ttl=HOUR, keep=9)
    assert [message.content for message in await sessions.tail(session(missing), limit=9)] == ["again"]
    await link.close()


@pytest.mark.parametrize("place", range(3))
async def test_an_erasure_finds_every_conversation_whichever_master_was_lost_and_came_back_empty(
    cluster: ValkeyCluster, tmp_path: Path, place: int
) -> None:
    sessions = RedisSessions(RedisLink(cluster.url, seconds=5))
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder(), sessions=sessions) as engine:
        await _told_in(sessions, 15)
        lost = cluster.masters[place]
        await asyncio.to_thread(lost.kill)
        with pytest.raises((StoreBusy, StoreUnavailable)):
            await engine.erase("ana", actor=ANA)
        await asyncio.to_thread(lost.start)

        async def whole() -> bool:
            try:
                return bool(await sessions.spoken_in(ANA.tenant, "ana"))
            except StoreFailed:
                return False

        await _until(whole)
        assert (await engine.erase("ana", actor=ANA)).complete
    assert [_conversations(master) for master in cluster.masters] == [[], [], []]
    await sessions.close()


async def test_an_erasure_misses_no_conversation_that_moves_to_a_master_which_was_looked_at_before(
    cluster: ValkeyCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = RedisLink(cluster.url, seconds=5)
    sessions, (first, _, last) = RedisSessions(link), cluster.masters
    moved: list[int] = []

    async def one_after_the_other(match: str, count: int) -> AsyncIterator[bytes]:
        """Look at each master in turn; before the last one its conversations move to the first."""
        for master in cluster.masters:
            if master is last and not moved:
                moved.extend([cluster.begin_move(key, last, first) for key in _conversations(last)])
            for key in master.ask("KEYS", match):
                yield key

    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder(), sessions=sessions) as engine:
        await _told_in(sessions, 15)
        monkeypatch.setattr(link._client, "scan_iter", one_after_the_other)
        with pytest.raises(StoreBusy, match="store_busy:redis:slots"):  # they are still moving
            await engine.erase("ana", actor=ANA)
        assert moved
        for slot in moved:
            cluster.end_move(slot, last, first)
        assert (await engine.erase("ana", actor=ANA)).complete
    assert [_conversations(master) for master in cluster.masters] == [[], [], []]


async def test_an_erasure_finds_the_conversations_of_a_master_that_joined(
    cluster: ValkeyCluster, tmp_path: Path
) -> None:
    sessions = RedisSessions(RedisLink(cluster.url, seconds=5))
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder(), sessions=sessions) as engine:
        await _told_in(sessions, 15)
        source, joined = cluster.masters[0], await asyncio.to_thread(cluster.join)
        for key in _conversations(source):
            cluster.end_move(cluster.begin_move(key, source, joined), source, joined)
        assert _conversations(joined)
        assert (await engine.erase("ana", actor=ANA)).complete
    assert [_conversations(master) for master in cluster.masters] == [[], [], [], []]


async def _told_in(sessions: RedisSessions, count: int) -> None:
    """A message of Ana in each of so many conversations."""
    for number in range(count):
        told = Message(role="user", content="I am diabetic.", author="ana")
        scope = Scope(tenant=ANA.tenant, level=Level.SESSION, owner=f"s{number}")
        await sessions.append(scope, told, ttl=HOUR, keep=9)


def _conversations(master: ValkeyServer) -> list[str]:
    return [name for name in master.names() if name.startswith("mnemic:session:")]


async def test_the_hot_set_spreads_over_a_cluster(valkey_cluster: ValkeyCluster) -> None:
    for master in valkey_cluster.masters:
        master.ask("FLUSHALL")
    hot = RedisHotSet(RedisLink(valkey_cluster.url, seconds=30))
    for number in range(30):
        await hot.begin(Scope(tenant="acme", level=Level.USER, owner=f"user{number}"))
    await hot.begin(Scope(tenant="rival", level=Level.USER, owner="user0"))
    assert all(master.names() for master in valkey_cluster.masters)
    await hot.clear("acme")
    assert len(valkey_cluster.names()) == 1
    await hot.close()


async def test_a_server_of_a_cluster_says_that_it_is_one(valkey_cluster: ValkeyCluster) -> None:
    link = RedisLink(valkey_cluster.masters[0].url, seconds=30)
    sessions = RedisSessions(link)
    theirs = ["user1", "user2", "user3", "user4", "user5", "user6", "user7", "user8", "user9"]
    results = await asyncio.gather(*(sessions.tail(session(name), limit=1) for name in theirs), return_exceptions=True)
    refused = [result for result in results if result != []]
    assert refused
    assert all("use redis+cluster://" in str(each) for each in refused)
    await link.close()


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
