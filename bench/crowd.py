"""How much many processes get done on one store, and how many users get on in one process: `make bench-crowd`.

Every process has an engine of its own on the same file (with `--postgres`, the same database). A call is a write or a
search of a user who is drawn by Zipf's law: few come often, most hardly ever. Vectors cost next to nothing, so that all
of it is overhead. Beside it stands the floor: as many processes that insert a bare row and commit, and nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from mnemic.bootstrap import build_store
from mnemic.engine import MemoryEngine
from mnemic.errors import MnemicError
from mnemic.types import Actor, Candidate, Kind, VectorSpace
from mnemic_eval.commit_floor import bare_commits as in_file
from mnemic_eval.conditions import conditions, load
from mnemic_eval.metrics import percentiles
from mnemic_eval.temporary_database import bare_commits as in_database
from mnemic_eval.temporary_store import place
from mnemic_eval.texts import questions, statements
from mnemic_eval.vectors import HashedEmbedder
from tests.processes import running
from tests.servers import PostgresServer

SPACE = VectorSpace(model="all-MiniLM-L6-v2-int8", dimension=384)
SEED, ROWS = 20240229, 20
CALLS = ("write", "search", "mixed", "bare")


def users(count: int, random: np.random.Generator) -> Iterator[Actor]:
    """Who comes next, without end: user n one n-th as often as the first (Zipf's law, exponent 1)."""
    weights = 1 / np.arange(1, count + 1)
    weights /= weights.sum()
    while True:
        yield from (Actor(user=f"user{number}") for number in random.choice(count, size=1000, p=weights))


def engine_on(location: str, durability: str = "durable") -> MemoryEngine:
    return MemoryEngine(store=build_store(location, durability=durability), embedder=HashedEmbedder(SPACE))


async def fill(location: str, count: int) -> None:
    """A store in which each of `count` users has twenty memories."""
    said = statements(SEED)
    async with engine_on(location, "fast") as engine:
        for number in range(count):
            batch = [Candidate(content=text, kind=Kind.EPISODIC) for text in islice(said, ROWS)]
            await engine.add_many(batch, actor=Actor(user=f"user{number}"))


async def work(location: str, call: str, number: int, times: int, count: int) -> dict[str, Any]:
    """What one process did: milliseconds of each call, and the reasons of those that failed."""
    said, asked = statements(SEED + 1 + number), questions(SEED + 1 + number)
    who = users(count, np.random.default_rng(number))
    taken, failed = [], Counter[str]()
    async with engine_on(location) as engine:
        await engine.search(next(asked), actor=next(who))
        ready()
        for turn in range(times):
            began = time.perf_counter()
            try:
                if call == "search" or (call == "mixed" and turn % 2):
                    await engine.search(next(asked), actor=next(who), top_k=10)
                else:
                    await engine.add(next(said), actor=next(who))
            except MnemicError as error:
                failed[error.reason] += 1
            taken.append(1000 * (time.perf_counter() - began))
    return {"taken": taken, "failed": dict(failed)}


def bare(location: str, times: int) -> dict[str, Any]:
    """The same of bare rows, beside the store."""
    on_server = location.startswith("postgresql://")
    commits = partial(in_database, location) if on_server else partial(in_file, Path(f"{location}.bare"))
    commits([])
    ready()
    seconds = commits([("x" * 80, bytes(4 * SPACE.dimension))] * times)
    return {"taken": [1000 * one for one in seconds], "failed": {}}


def ready() -> None:
    """Wait until all the others are."""
    print(flush=True)
    sys.stdin.readline()


def crowd(location: str, call: str, processes: int, times: int, count: int) -> dict[str, Any]:
    """So many processes at once, from the moment on when all are ready."""
    command = [sys.executable, "-m", "bench.crowd", "--worker", location]
    command += ["--call", call, "--times", str(times), "--users", str(count)]
    with ExitStack() as started:
        children = [
            started.enter_context(
                subprocess.Popen(
                    [*command, "--number", str(number)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            for number in range(processes)
        ]
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()
        for child in children:
            assert child.stdin is not None
            child.stdin.write("\n")
            child.stdin.flush()
        told = [json.loads(child.communicate()[0]) for child in children]
    taken = [one for child in told for one in child["taken"]]
    failed = sum((Counter(child["failed"]) for child in told), Counter())
    done = len(taken) - failed.total()
    seconds = max(sum(child["taken"]) for child in told) / 1000
    return {
        "call": call,
        "processes": processes,
        "per_second": round(done / seconds, 1),
        **percentiles(taken),
        "failed": dict(failed),
    }


def measured(location: str, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Every call by every number of processes."""
    asyncio.run(fill(location, given.users))
    results = []
    for call in CALLS:
        for processes in map(int, given.processes.split(",")):
            results.append(crowd(location, call, processes, given.times, given.users))
            print(f"  {call} {processes}", file=sys.stderr, flush=True)
    return results


def table(results: Sequence[dict[str, Any]]) -> str:
    """The figures as a Markdown table."""
    lines = ["| call | processes | a second | p50 / p95 / p99 ms | failed |", "|---|---|---|---|---|"]
    for one in results:
        times = " / ".join(f"{one[name]:.1f}" for name in ("p50_ms", "p95_ms", "p99_ms"))
        failed = sum(one["failed"].values())
        lines.append(f"| {one['call']} | {one['processes']} | {one['per_second']:,} | {times} | {failed} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, print the table, write the figures to build/crowd.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", default="1,2,4,8", help="how many at once, with commas")
    parser.add_argument("--users", type=int, default=1000, help="users in the store, twenty memories each (1000)")
    parser.add_argument("--times", type=int, default=200, help="calls of each process (200)")
    parser.add_argument("--postgres", action="store_true", help="on a private PostgreSQL server, not in a file")
    parser.add_argument("--folder", type=Path, help="where the store is made (the temporary folder)")
    for hidden in ("--worker", "--call"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        print(json.dumps(_worker(given)))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the server is stopped then, too
    before = conditions(seed=SEED)
    with ExitStack() as opened:
        folder = Path(opened.enter_context(TemporaryDirectory(prefix="mnemic-crowd-", dir=given.folder)))
        server = opened.enter_context(running(PostgresServer())).dsn() if given.postgres else None
        where = opened.enter_context(place(folder, server, "durable"))
        results = measured(where.location, given)
    Path("build").mkdir(exist_ok=True)
    told = {"conditions": before, "load_after": load(), "users": given.users, "results": results}
    Path("build/crowd.json").write_text(json.dumps(told, indent=2), encoding="utf-8")
    print(f"{before['measured_at']}, load {before['machine']['load_1min']} to {load()}\n\n{table(results)}")


def _worker(given: argparse.Namespace) -> dict[str, Any]:
    if given.call == "bare":
        return bare(given.worker, given.times)
    return asyncio.run(work(given.worker, given.call, given.number, given.times, given.users))


if __name__ == "__main__":
    main()
