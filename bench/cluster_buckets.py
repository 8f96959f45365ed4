"""A scope in buckets on three nodes: its move is killed, a node too, and its searches are compared: a row of
`python -m bench.cluster`.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

from bench.cluster_operations import ANA, SPACE, engine_on
from mnemic.bootstrap import build_store
from mnemic.stores.cassandra import CassandraStore
from mnemic.stores.cassandra.buckets import named_by
from mnemic.stores.cassandra.routing import SPLIT, Partition
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.types import Candidate, Kind, Status, Where
from mnemic_eval.texts import questions, statements
from mnemic_eval.vectors import HashedEmbedder
from tests.cassandra_nodes import Cluster

HOME = Partition("acme", "user", "ana")
WHERE = Where(scopes=(ANA.scope("user"),))
QUESTIONS = 50


async def _opened(location: str) -> CassandraStore:
    store = build_store(location, durability="durable")
    assert isinstance(store, CassandraStore)
    await store.open(SPACE)
    return store


async def fill(location: str, said: list[str]) -> None:
    """Write so many memories of one user."""
    async with engine_on(location) as engine:
        for first in range(0, len(said), 25):
            batch = [Candidate(content=text, kind=Kind.EPISODIC) for text in said[first : first + 25]]
            await engine.add_many(batch, actor=ANA)


async def tidy(location: str) -> None:
    """Bring all buckets to their end, saying how far they are."""
    store = await _opened(location)
    while not await store._database.upkeep.move_some(HOME):
        print("moved", flush=True)
    await store.tidy()
    await store.close()


async def _state(location: str) -> dict[str, Any]:
    """Return how much is there, is damaged, is moved, and lies in buckets without a name in a row."""
    store = await _opened(location)
    rows = await store._database.partitions.every(HOME, "memory")
    split = await store._database.read(lambda reads: reads.get(SPLIT, [HOME]))
    listed = await store._database._buckets.values_in_buckets(HOME, 0)
    found = {
        "held": len(await store.scan("acme", statuses=list(Status), scope=ANA.scope("user"), limit=10**6)),
        "damaged": len(await store.find_damage("acme")),
        "in_buckets": None if rows is None else sum(named_by(stored) is not None for _, stored in rows),
        "values": len(listed),
        "buckets": len(split[0][4].split(",")) if split else 0,
        "moved": bool(split) and split[0][3] is None,
    }
    await store.close()
    return found


async def _searched(location: str) -> dict[str, Any]:
    """Compare the ten nearest with the exact ones."""
    store, exact = await _opened(location), InProcessStore()
    await exact.open(SPACE)
    kept = await store.newest(WHERE, limit=10**6)

    async def copy(transaction: Any) -> None:
        for memory in kept:
            await transaction.insert(memory)

    await exact.transact(copy)
    wanted = await HashedEmbedder(SPACE).embed(list(islice(questions(7), QUESTIONS)))
    same, spent = 0, []
    for vector in wanted:
        began = time.perf_counter()
        near = await store.nearest(WHERE, vector, limit=10)
        spent.append(time.perf_counter() - began)
        best = await exact.nearest(WHERE, vector, limit=10)
        same += sum(abs(one.score - other.score) < 1e-5 for one, other in zip(near, best, strict=True))
    await store.close()
    return {"recall_at_10": same / (10 * len(wanted)), "nearest_ms_median": round(1000 * sorted(spent)[25], 1)}


def buckets(tell: Callable[..., None], cluster: Cluster, size: int) -> None:
    """Fill a scope, move it to buckets, kill the process that moves it, and a node; go on until all is moved."""
    whole = cluster.url("buckets", copies=3, split_above=10 * size)
    split = cluster.url("buckets", copies=3, split_above=size // 3, bucket_size=max(1, size // 12))
    said = [f"{text} ({number})" for number, text in enumerate(islice(statements(5), size))]
    asyncio.run(fill(whole, said[:-25]))
    asyncio.run(fill(split, said[-25:]))
    command = [sys.executable, "-m", "bench.cluster", "--tidy", split]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as moving:
        assert moving.stdout is not None
        for _ in range(3):
            moving.stdout.readline()
        moving.kill()
    killed = asyncio.run(_state(split))
    cluster.nodes[1].kill()
    began = time.time()
    asyncio.run(tidy(split))
    away = asyncio.run(_state(split))
    cluster.nodes[1].start()
    asyncio.run(tidy(split))
    told = asyncio.run(_state(split)) | asyncio.run(_searched(split))
    tell("buckets", memories=size, after_kill=killed, node_away=away, moved_s=round(time.time() - began, 1), **told)
    if told["held"] != size or told["values"] != size or not told["moved"] or told["damaged"]:
        raise RuntimeError("a memory is lost, damaged or not moved")
