"""Clocks that are wrong, repair, hints and datacenters, on clusters of their own: rows of `python -m bench.cluster`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any
from uuid import uuid4

from cassandra import ConsistencyLevel, DriverException
from cassandra.cluster import EXEC_PROFILE_DEFAULT, ExecutionProfile, NoHostAvailable
from cassandra.cluster import Cluster as Driver
from cassandra.policies import WhiteListRoundRobinPolicy

from bench.cpu_shares import Shares
from mnemic.bootstrap import build_store
from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError
from mnemic.types import Actor, Candidate, Kind, Status, VectorSpace
from mnemic_eval.vectors import HashedEmbedder
from tests.cassandra_nodes import Cluster, Node

SPACE = VectorSpace(model="all-MiniLM-L6-v2-int8", dimension=384)
ANA, BEN = (Actor(tenant="acme", user=name) for name in ("ana", "ben"))
HOUR = 3600
_MEMORIES = "SELECT key FROM rows WHERE tenant = 'acme' AND level = 'user' AND owner = %s AND name = 'memory'"
SECRET = "Zq7Xw93LkVt5"
_TO_ALL = "INSERT INTO claim (tenant, memory, level, owner) VALUES ('bench', %s, 'user', 'bench') IF NOT EXISTS"
_WAIT_SECONDS = 300
_SETTLES = 10
"""Seconds after which a node that has started has compiled what it needs most, and looked at the settings of tables."""


def engine_on(location: str) -> MemoryEngine:
    """Return an engine on the store at an address."""
    return MemoryEngine(store=build_store(location, durability="durable"), embedder=HashedEmbedder(SPACE))


async def contents(engine: MemoryEngine) -> list[str]:
    """Return what is known of Ana."""
    return sorted(memory.content for memory in await engine.store.scan("acme", statuses=list(Status), limit=1000))


def require(found: object, wanted: object) -> None:
    """Raise AssertionError where a row did not find what is promised."""
    if found != wanted:
        raise AssertionError(f"{found} where {wanted} is promised")


def nodes(count: int = 3, **how: Any) -> Cluster:
    """Return nodes with a share of the processors each, where there can be shares."""
    return Cluster(count, shares=Shares() if Shares.at_hand() else None, **how)


@contextmanager
def running(cluster: Cluster) -> Iterator[Cluster]:
    """Start a cluster, and stop it afterwards."""
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@contextmanager
def wrong_clock(seconds: int) -> Iterator[None]:
    """Let this process's clock be wrong."""
    right, right_ns = time.time, time.time_ns
    time.time = lambda: right() + seconds
    time.time_ns = lambda: right_ns() + 10**9 * seconds
    try:
        yield
    finally:
        time.time, time.time_ns = right, right_ns


async def through_all_clocks(cluster: Cluster, location: str, rounds: int) -> dict[str, Any]:
    """Write, change and remove by processes whose clocks are an hour ahead and behind, through each node in turn, and
    compare with what must be there.
    """
    wanted: dict[str, str] = {}
    for number in range(rounds):
        for ahead in (HOUR, -HOUR, 0):
            with wrong_clock(ahead):
                async with engine_on(location) as engine:
                    await _one_of_each(engine, f"{number}.{ahead}", wanted)
    async with engine_on(location) as engine:
        found = {
            memory.memory_id: memory.content
            for memory in await engine.store.scan("acme", statuses=list(Status), limit=10_000)
        }
        lines, broken, _ = await engine.store.broken_audit("acme")
        link = engine.store._database.link  # type: ignore[attr-defined]
        notes = [row for shard in range(16) for row in await link.ask("noted", (shard,))]
    differing = sum(found.get(one) != text for one, text in wanted.items()) + len(found.keys() - wanted.keys())
    return {
        "writes": 3 * 3 * rounds,
        "differing": differing,
        "lines": lines,
        "broken": broken is not None,
        "notes_left": len(notes),
    }


async def _one_of_each(engine: MemoryEngine, name: str, wanted: dict[str, str]) -> None:
    """Add two, and remove one that a process with another clock has written."""
    for part in ("a", "b"):
        made = await engine.add(Candidate(content=f"Fact {name} {part}", kind=Kind.EPISODIC), actor=ANA)
        wanted[made.memory_id] = f"Fact {name} {part}"
    older = [memory_id for memory_id in wanted if memory_id != made.memory_id]
    await engine.forget(older[0], actor=ANA)
    del wanted[older[0]]


def clock(tell: Any, rounds: int) -> None:
    """Let the clock of one node be an hour ahead, that of another an hour behind, and those of processes too."""
    for wrong in ({2: HOUR}, {3: -HOUR}):
        with running(nodes(clocks=wrong)) as cluster:
            found = asyncio.run(through_all_clocks(cluster, cluster.url("clock", copies=3, timeout=3), rounds))
        tell("clock", nodes=str(wrong), **found)
        require((found["differing"], found["broken"], found["notes_left"]), (0, False, 0))


def ids_on(cluster: Cluster, node: Node, keyspace: str, owner: str = "ana") -> set[bytes]:
    """Return the keys of the memories of a user that one node has for itself, once it answers and has noticed that it
    is alone.
    """
    alone = ExecutionProfile(
        load_balancing_policy=WhiteListRoundRobinPolicy([node.address]), consistency_level=ConsistencyLevel.ONE
    )
    until = time.monotonic() + _WAIT_SECONDS
    while True:
        try:
            with Driver(
                [node.address], port=cluster.native, execution_profiles={EXEC_PROFILE_DEFAULT: alone}
            ) as driver:
                return {row.key for row in driver.connect(keyspace).execute(_MEMORIES, (owner,))}
        except (DriverException, NoHostAvailable):
            if time.monotonic() > until:
                raise


def wait_until_serving(cluster: Cluster, keyspace: str) -> None:
    """Return once each node has written to all copies within a second, and `_SETTLES` seconds more: so does an operator
    who restarts one node after the other.
    """
    for node in cluster.nodes:
        until(f"node {node.number} writes to all copies", partial(_writes_to_all, cluster, node, keyspace))
    time.sleep(_SETTLES)


def _writes_to_all(cluster: Cluster, node: Node, keyspace: str) -> bool:
    through = ExecutionProfile(
        load_balancing_policy=WhiteListRoundRobinPolicy([node.address]),
        consistency_level=ConsistencyLevel.ALL,
        request_timeout=1.0,
    )
    try:
        with Driver([node.address], port=cluster.native, execution_profiles={EXEC_PROFILE_DEFAULT: through}) as driver:
            driver.connect(keyspace).execute(_TO_ALL, (str(uuid4()),))
            return True
    except (DriverException, NoHostAvailable):
        return False


def repair(tell: Any) -> None:
    """Remove memories while a node is away without hints; look at that node alone before and after its repair."""
    with running(nodes()) as cluster:
        location = cluster.url("repair", copies=3)
        for node in cluster.nodes:
            node.nodetool("disablehandoff")
        third = cluster.nodes[2]
        asyncio.run(_write(location, 6))
        third.kill()
        left = asyncio.run(_forget(location, 3))
        third.start()
        for node in cluster.nodes[:2]:
            node.kill()
        before = len(ids_on(cluster, third, "repair"))
        for node in cluster.nodes[:2]:
            node.start()
        third.nodetool("repair", "-full", "repair")
        for node in cluster.nodes[:2]:
            node.kill()
        after = len(ids_on(cluster, third, "repair"))
    tell("repair", memories_left=left, on_the_node_before=before, on_the_node_after=after)
    require((left, before, after), (3, 6, 3))


def hints(tell: Any) -> None:
    """Write and erase while a node is away; look into the hints of the others, and at what that node has for itself
    before and after they were handed on.

    Their tables do not show hints that wait: `pending_hints` has no file that is still written to, which is every one
    as long as the node is away.
    """
    with running(nodes()) as cluster:
        location = cluster.url("hints", copies=3)
        away, *living = cluster.nodes  # the first is the seed: it starts also where it finds nobody
        asyncio.run(_write(location, 6))
        asyncio.run(_write(location, 3, BEN))
        away.kill()
        for node in living:
            until("the others see it away", partial(_sees, node, "DN ", 1))
        asyncio.run(_write(location, 2))
        asyncio.run(_tell_secret(location, BEN))
        traces = asyncio.run(_erased(location, BEN))
        until("hints are written", lambda: any(_with_secret(node, "hints") for node in living))
        _end(living)
        waiting = sum(_with_secret(node, "hints") for node in living)
        away.start()
        before = _held_alone(cluster, away)
        for node in living:
            node.start()
        until("hints are handed on", lambda: not any(map(_has_hints, living)))
        _end(living)
        after = _held_alone(cluster, away)
        arrived = _with_secret(away, "commitlog")
        for node in living:
            node.start()
        others = asyncio.run(_held(location))
    tell("hints", waiting=waiting, traces=traces, before=before, after=after, arrived=arrived, everywhere=others)
    require((waiting > 0, traces["unvacuumed"] > 0), (True, True))
    require((before, after, others), ({"ana": 6, "ben": 3}, {"ana": 8, "ben": 0}, {"ana": 8, "ben": 0}))


def _with_secret(node: Node, folder: str) -> int:
    """Return the number of a node's files in which what Ben said can be read."""
    return sum(SECRET.encode() in file.read_bytes() for file in (node.folder / folder).glob("*") if file.is_file())


def _has_hints(node: Node) -> bool:
    return any((node.folder / "hints").glob("*.hints"))


def _end(nodes: Sequence[Node]) -> None:
    """Stop nodes as an operator does."""
    for node in nodes:
        node.nodetool("drain")
        node.kill()


def _sees(node: Node, state: str, count: int) -> bool:
    """Check whether so many nodes are in a state, by what one of them knows."""
    return node.nodetool("status").count(state) == count


def until(what: str, good: Callable[[], bool]) -> None:
    """Return once this is true. Raises AssertionError where it takes too long."""
    end = time.monotonic() + _WAIT_SECONDS
    while not good():
        if time.monotonic() > end:
            raise AssertionError(f"not within {_WAIT_SECONDS} s: {what}")
        time.sleep(0.2)


def _held_alone(cluster: Cluster, node: Node) -> dict[str, int]:
    """Return how many memories of each user a node has for itself, the others being away."""
    return {owner: len(ids_on(cluster, node, "hints", owner)) for owner in ("ana", "ben")}


async def _tell_secret(location: str, actor: Actor) -> None:
    async with engine_on(location) as engine:
        await engine.add(Candidate(content=f"The door opens with {SECRET}", kind=Kind.EPISODIC), actor=actor)


async def _erased(location: str, actor: Actor) -> dict[str, int]:
    """Erase a user; return what is left of him by the receipt."""
    async with engine_on(location) as engine:
        receipt = await engine.erase(actor.user, actor=actor)
        return {name: count for name, count in receipt.traces.items() if count}


async def _held(location: str) -> dict[str, int]:
    """Return how many memories of each user there are."""
    async with engine_on(location) as engine:
        found = await engine.store.scan("acme", statuses=list(Status), limit=1000)
        return {owner: sum(memory.scope.owner == owner for memory in found) for owner in ("ana", "ben")}


async def _write(location: str, count: int, actor: Actor = ANA) -> None:
    async with engine_on(location) as engine:
        for number in range(count):
            await engine.add(Candidate(content=f"Fact {uuid4()} {number}", kind=Kind.EPISODIC), actor=actor)


async def _forget(location: str, count: int) -> int:
    async with engine_on(location) as engine:
        for memory in (await engine.store.scan("acme", statuses=list(Status), limit=1000))[:count]:
            await engine.forget(memory.memory_id, actor=ANA)
        return len(await contents(engine))


def datacenters(tell: Any) -> None:
    """Write in one of two datacenters, read in the other, and lose the other."""
    with running(nodes(2, datacenters=("east", "west"))) as cluster:
        both = {name: cluster.url("regions", copies=1, datacenter=name) for name in ("east", "west")}
        asyncio.run(_write(both["east"], 3))
        elsewhere = asyncio.run(_read(both["west"]))
        cluster.nodes[1].kill()
        refused = asyncio.run(_reason(both["east"]))
        asyncio.run(_write_more(both["east"] + "&consistency=local_quorum", 2))
        cluster.nodes[1].start()
        cluster.nodes[1].nodetool("repair", "-full", "regions")
        joined = asyncio.run(_read(both["west"] + "&consistency=local_quorum"))
    tell("datacenters", read_in_the_other=elsewhere, quorum_without_it=refused, local_writes_then_there=joined)
    require((elsewhere, refused != "written", joined), (3, True, 5))


async def _read(location: str) -> int:
    async with engine_on(location) as engine:
        return len(await contents(engine))


async def _write_more(location: str, count: int) -> None:
    async with engine_on(location) as engine:
        for number in range(count):
            await engine.add(Candidate(content=f"Later {number}", kind=Kind.EPISODIC), actor=ANA)


async def _reason(location: str) -> str:
    try:
        async with engine_on(location) as engine:
            await engine.add(Candidate(content="Never", kind=Kind.EPISODIC), actor=ANA)
    except MnemicError as error:
        return error.reason
    return "written"
