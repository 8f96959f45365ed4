"""How the cost of a write and a search grows with the memories of one user: `make bench-growth`.

Each size is a store of its own. It is filled by transactions that insert memories with random unit vectors and the
words of made-up sentences, past the pipeline, which would take an hour for the largest. Every timed call is a whole
one, with vectors that cost next to nothing, so that all of it is overhead. Beside it stand the floors: a bare row and
commit, and one pass over all vectors as fast as this machine's memory is now. Prints a table.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any

import numpy as np

from mnemic.bootstrap import build_store
from mnemic.engine import MemoryEngine
from mnemic.ports import Transaction
from mnemic.types import Actor, Kind, Level, Memory, VectorSpace
from mnemic.types.scope import new_id
from mnemic_eval.commit_floor import bare_commits
from mnemic_eval.conditions import conditions, file_system, load
from mnemic_eval.floors import scan
from mnemic_eval.metrics import percentiles
from mnemic_eval.texts import questions, statements
from mnemic_eval.vectors import HashedEmbedder

SPACE = VectorSpace(model="all-MiniLM-L6-v2-int8", dimension=384)
ACTOR = Actor(user="measured")
SEED, CHUNK, WARM = 20240229, 2_000, 5


def memories(count: int, texts: Iterator[str], random: np.random.Generator) -> list[Memory]:
    """As many new memories, each with a vector of its own."""
    vectors = random.standard_normal((count, SPACE.dimension), np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    now = datetime.now(UTC)
    return [
        Memory(
            memory_id=new_id(now),
            kind=Kind.LONG_TERM,
            scope=ACTOR.scope(Level.USER),
            content=text,
            created_at=now,
            updated_at=now,
            vector=vector.tobytes(),
        )
        for text, vector in zip(islice(texts, count), vectors, strict=True)
    ]


async def fill(path: Path, rows: int, texts: Iterator[str]) -> None:
    """A new store with `rows` memories of one user."""
    random = np.random.default_rng(SEED)
    store = build_store(str(path), durability="fast")
    await store.open(SPACE)

    async def work(batch: Sequence[Memory], tx: Transaction) -> None:
        for memory in batch:
            await tx.insert(memory)

    for first in range(0, rows, CHUNK):
        await store.transact(partial(work, memories(min(CHUNK, rows - first), texts, random)))
    await store.close()


async def timed(call: Callable[[str], Awaitable[Any]], texts: Sequence[str]) -> dict[str, float]:
    """Milliseconds of wall clock of each call, and of this process's CPU on average."""
    for text in texts[:WARM]:
        await call(text)
    taken, busy = [], time.process_time()
    for text in texts[WARM:]:
        began = time.perf_counter()
        await call(text)
        taken.append(1000 * (time.perf_counter() - began))
    busy = 1000 * (time.process_time() - busy) / len(taken)
    return {**percentiles(taken), "cpu_ms": round(busy, 3)}


async def measured(folder: Path, rows: int, repeats: int) -> dict[str, Any]:
    """The figures of one size."""
    said, asked, path = statements(SEED), questions(SEED), folder / "growth.db"
    await fill(path, rows, said)
    store = build_store(str(path), durability="durable")
    async with MemoryEngine(store=store, embedder=HashedEmbedder(SPACE)) as engine:
        began = time.perf_counter()
        await engine.search(next(asked), actor=ACTOR, top_k=10)
        first = 1000 * (time.perf_counter() - began)
        search = await timed(
            lambda text: engine.search(text, actor=ACTOR, top_k=10), list(islice(asked, repeats + WARM))
        )
        write = await timed(lambda text: engine.add(text, actor=ACTOR), list(islice(said, repeats + WARM)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
    commits = bare_commits(folder / "floor.db", [("x" * 80, bytes(4 * SPACE.dimension))] * (repeats + WARM))
    return {
        "rows": rows,
        "write": write,
        "search": search,
        "first_search_ms": round(first, 1),
        "peak_rss_mb": round(peak, 1),
        "floor": {
            "commit": percentiles([1000 * one for one in commits[WARM:]]),
            "scan_ms": scan(rows, SPACE.dimension)["p50_ms"],
        },
    }


def one_size(rows: int, repeats: int, folder: Path | None) -> dict[str, Any]:
    """The figures of one size, measured in a process of its own: its peak of memory is nobody else's."""
    command = [sys.executable, "-m", "bench.growth", "--only", str(rows), "--repeats", str(repeats)]
    command += ["--folder", str(folder)] if folder else []
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def table(results: Sequence[dict[str, Any]]) -> str:
    """The figures as a Markdown table."""
    names = ["memories", "write p50 / p95 / p99", "its CPU", "bare commit p50", "search p50 / p95 / p99", "its CPU"]
    names += ["scan of all vectors", "first search", "peak memory", "bytes a memory"]
    rows = [f"| {' | '.join(names)} |", "|" + "---|" * len(names)]
    for one in results:
        write, search = (
            " / ".join(f"{one[call][f'p{point}_ms']:.1f}" for point in (50, 95, 99)) for call in ("write", "search")
        )
        rows.append(
            f"| {one['rows']:,} | {write} | {one['write']['cpu_ms']:.1f} | {one['floor']['commit']['p50_ms']:.2f} "
            f"| {search} | {one['search']['cpu_ms']:.1f} | {one['floor']['scan_ms']:.1f} "
            f"| {one['first_search_ms']:,.0f} | {one['peak_rss_mb']:,.0f} MB | {one['bytes_per_memory']:,} |"
        )
    return "\n".join(rows)


def main() -> None:
    """Measure every size, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000", help="memories of the user, with commas")
    parser.add_argument("--repeats", type=int, default=100, help="timed calls of each kind (100)")
    parser.add_argument("--folder", type=Path, help="where the stores are made (the temporary folder)")
    parser.add_argument("--only", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.only:
        with TemporaryDirectory(prefix="mnemic-growth-", dir=given.folder) as folder:
            result = asyncio.run(measured(Path(folder), given.only, given.repeats))
            size = sum(file.stat().st_size for file in Path(folder).glob("growth.db*"))
        stored = given.only + given.repeats + WARM
        print(json.dumps({**result, "bytes_per_memory": size // stored}))
        return
    before = conditions(seed=SEED, file_system=file_system(given.folder or Path(gettempdir())))
    results = [one_size(int(size), given.repeats, given.folder) for size in given.sizes.split(",")]
    print(f"{before['measured_at']}, load {before['machine']['load_1min']} to {load()}; milliseconds\n")
    print(table(results))


if __name__ == "__main__":
    main()
