"""A process that has just started: its first search of a scope, a warm one, and what it keeps in memory for it.

    python -m bench.warmup [--only sqlite,postgres,cassandra,limit] [--sizes 1000,10000]

Each figure is of a separate process, which opens the store, searches the scope once, and again. Memory is the growth of
the process (resident set) from before its first search to after it. `limit`: its growth when it has searched many
scopes, of which its budget (`index_bytes`) takes a part.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mnemic.bootstrap import build_store
from mnemic.engine import MemoryEngine
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.record_store.fixtures import day, memory
from mnemic.types import Actor, Kind, VectorSpace, Where
from mnemic_eval.texts import questions, statements
from mnemic_eval.vectors import HashedEmbedder
from tests.cassandra_nodes import Cluster, at_hand
from tests.servers import PostgresServer

SPACE = VectorSpace(model="all-MiniLM-L6-v2-int8", dimension=384)
ANA = Actor(tenant="acme", user="ana")
OTHER = Actor(tenant="acme", user="ben")
ROUNDS = 5
SCOPES, IN_SCOPE = 40, 500
BUDGETS = (1, 8 * 2**20, 16 * 2**20, 256 * 2**20)


async def fill(location: str, count: int, user: Actor = ANA) -> None:
    """Write so many memories of one user."""
    store, embedder, said = build_store(location, durability="fast"), HashedEmbedder(SPACE), statements(3)
    await store.open(SPACE)
    for first in range(0, count, 100):
        texts = [f"{text} ({first})" for text in islice(said, min(100, count - first))]
        vectors = await embedder.embed(texts)
        batch = [
            memory(text, at=day(number % 300), kind=Kind.EPISODIC, scope=user.scope("user"), vector=vector)
            for number, (text, vector) in enumerate(zip(texts, vectors, strict=True), first)
        ]

        async def insert(transaction: Any, batch: Any = batch) -> None:
            for each in batch:
                await transaction.insert(each)

        await store.transact(insert)
    await store.close()


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def measure(location: str) -> dict[str, float]:
    """Search in this process for the first time, and again."""
    asked = questions(5)
    engine = MemoryEngine(store=build_store(location, durability="fast"), embedder=HashedEmbedder(SPACE))
    async with engine:
        # What is loaded once for a process, whatever it searches, is not what a scope costs.
        for _ in range(3):
            await engine.search(next(asked), actor=OTHER, top_k=10)
        before, spent, began = _resident(), time.process_time(), time.perf_counter()
        await engine.search(next(asked), actor=ANA, top_k=10)
        first, cpu = time.perf_counter() - began, time.process_time() - spent
        grown, warm = _resident() - before, []
        for _ in range(9):
            began = time.perf_counter()
            await engine.search(next(asked), actor=ANA, top_k=10)
            warm.append(time.perf_counter() - began)
        held = await engine.store.count(Where(scopes=(ANA.scope("user"),)))
    return {
        "memories": held,
        "first_ms": round(1000 * first, 1),
        "first_cpu_ms": round(1000 * cpu, 1),
        "warm_ms": round(1000 * sorted(warm)[4], 1),
        "bytes_a_memory": round(grown / max(1, held)),
    }


def _user(number: int) -> Actor:
    return Actor(tenant="acme", user=f"u{number}")


async def measure_limit(location: str, budget: int) -> dict[str, float]:
    """Search many scopes with an index cache of so many bytes."""
    asked = questions(5)
    engine = MemoryEngine(store=SqliteStore(location, index_bytes=budget), embedder=HashedEmbedder(SPACE))
    async with engine:
        for _ in range(3):
            await engine.search(next(asked), actor=OTHER, top_k=10)
        before = _resident()
        for number in range(SCOPES):
            await engine.search(next(asked), actor=_user(number), top_k=10)
        grown = _resident() - before
    return {"budget": budget, "scopes": SCOPES, "memories": SCOPES * IN_SCOPE, "grown": grown}


def limit() -> None:
    """Print the growth at budgets below and above the need."""
    with TemporaryDirectory() as folder:
        location = f"{folder}/memories.db"
        for number in range(SCOPES):
            asyncio.run(fill(location, IN_SCOPE, _user(number)))
        for budget in BUDGETS:
            command = [sys.executable, "-m", "bench.warmup", "--measure", location, "--budget", str(budget)]
            print(subprocess.check_output(command, text=True).strip(), flush=True)


@contextmanager
def locations(name: str, folder: Path, size: int) -> Iterator[str]:
    """Yield the address of an empty store."""
    if name == "sqlite":
        yield f"{folder}/m{size}.db"
    elif name == "postgres":
        server = PostgresServer()
        server.start()
        try:
            yield server.dsn()
        finally:
            server.stop()
    else:
        cluster = Cluster()
        try:
            cluster.start()
            yield cluster.url(copies=1, timeout=10)
        finally:
            cluster.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="sqlite,postgres,cassandra,limit")
    parser.add_argument("--sizes", default="1000,10000")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--budget", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.budget:
        print(json.dumps(asyncio.run(measure_limit(given.measure, given.budget))))
        return
    if given.measure:
        print(json.dumps(asyncio.run(measure(given.measure))))
        return
    for name in given.only.split(","):
        if name == "limit":
            limit()
            continue
        if name == "cassandra" and not at_hand():
            print("NOT RUN on Cassandra: it needs java (17) and what `make cassandra` fetches.", file=sys.stderr)
            continue
        for size in map(int, given.sizes.split(",")):
            with TemporaryDirectory() as folder, locations(name, Path(folder), size) as location:
                asyncio.run(fill(location, size))
                command = [sys.executable, "-m", "bench.warmup", "--measure", location]
                ran = [json.loads(subprocess.check_output(command, text=True)) for _ in range(ROUNDS)]
                median = {key: sorted(one[key] for one in ran)[ROUNDS // 2] for key in ran[0]}
            print(json.dumps({"store": name, **median, "load": round(os.getloadavg()[0], 1)}), flush=True)


if __name__ == "__main__":
    main()
