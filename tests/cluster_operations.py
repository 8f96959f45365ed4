"""Clocks that are wrong, repair and datacenters, on clusters of their own: rows of `python -m tests.cluster`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from cassandra import ConsistencyLevel, DriverException
from cassandra.cluster import EXEC_PROFILE_DEFAULT, ExecutionProfile
from cassandra.cluster import Cluster as Driver
from cassandra.policies import WhiteListRoundRobinPolicy

from mnemic.bootstrap import build_store
from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError
from mnemic.types import Actor, Candidate, Kind, Status, VectorSpace
from mnemic_eval.vectors import HashedEmbedder
from tests.cassandra_nodes import Cluster, Node

SPACE = VectorSpace(model="all-MiniLM-L6-v2-int8", dimension=384)
ANA = Actor(tenant="acme", user="ana")
HOUR = 3600
_MEMORIES = "SELECT key FROM rows WHERE tenant = 'acme' AND level = 'user' AND owner = 'ana' AND name = 'memory'"


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
        with running(Cluster(3, clocks=wrong)) as cluster:
            found = asyncio.run(through_all_clocks(cluster, cluster.url("clock", copies=3, timeout=3), rounds))
        tell("clock", nodes=str(wrong), **found)
        require((found["differing"], found["broken"], found["notes_left"]), (0, False, 0))


def ids_on(node: Node, port: int) -> set[bytes]:
    """Return the keys of the memories that one node has for itself, once it has noticed that it is alone."""
    alone = ExecutionProfile(
        load_balancing_policy=WhiteListRoundRobinPolicy([node.address]), consistency_level=ConsistencyLevel.ONE
    )
    until = time.monotonic() + 120
    with Driver([node.address], port=port, execution_profiles={EXEC_PROFILE_DEFAULT: alone}) as driver:
        session = driver.connect("repair")
        while True:
            try:
                return {row.key for row in session.execute(_MEMORIES)}
            except DriverException:
                if time.monotonic() > until:
                    raise


def repair(tell: Any, _: int) -> None:
    """Remove memories while a node is away without hints; look at that node alone before and after its repair."""
    with running(Cluster(3)) as cluster:
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
        before = len(ids_on(third, cluster.native))
        for node in cluster.nodes[:2]:
            node.start()
        third.nodetool("repair", "-full", "repair")
        for node in cluster.nodes[:2]:
            node.kill()
        after = len(ids_on(third, cluster.native))
    tell("repair", memories_left=left, on_the_node_before=before, on_the_node_after=after)
    require((left, before, after), (3, 6, 3))


async def _write(location: str, count: int) -> None:
    async with engine_on(location) as engine:
        for number in range(count):
            await engine.add(Candidate(content=f"Fact {number}", kind=Kind.EPISODIC), actor=ANA)


async def _forget(location: str, count: int) -> int:
    async with engine_on(location) as engine:
        for memory in (await engine.store.scan("acme", statuses=list(Status), limit=1000))[:count]:
            await engine.forget(memory.memory_id, actor=ANA)
        return len(await contents(engine))


def datacenters(tell: Any, _: int) -> None:
    """Write in one of two datacenters, read in the other, and lose the other."""
    with running(Cluster(2, datacenters=("east", "west"))) as cluster:
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
