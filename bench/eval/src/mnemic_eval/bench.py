"""Speed of mnemic: `mnemic bench`. One store, one user with many memories, then many other users in the same file.

Overhead is what a call takes beyond the embedder: total minus the time inside the embedder, measured in the same
call. The store is filled through the whole pipeline with hashed vectors in the embedder's space; every measured call
uses the real one. Nothing is trimmed; percentiles are over all calls after five for warming up.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mnemic.bootstrap import build_embedder
from mnemic.config import Settings
from mnemic.ports import Embedder
from mnemic.runtime.clock import SystemClock
from mnemic.types import Actor, Kind
from mnemic_eval.cold_start import cold_starts, peak_mb
from mnemic_eval.conditions import conditions, file_system, load
from mnemic_eval.floors import UNDER, WARM, embedding_alone, scan, times_floor
from mnemic_eval.footprint import footprint
from mnemic_eval.kinds import MEMORIES_PER_KIND, kind_latencies
from mnemic_eval.latency import Bench
from mnemic_eval.metrics import percentiles
from mnemic_eval.outcome import SEED
from mnemic_eval.progress import Progress, silent
from mnemic_eval.temporary_store import Place, place
from mnemic_eval.texts import questions, statements
from mnemic_eval.vectors import TimedEmbedder

USER, IMPORTER = "measured", "importing"
IN_PROCESS = "memory:"


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchOptions:
    """Extent of a benchmark. `rows` of the measured user, `others` users with `rows_per_other` each, `repeats` of every
    timed call, `imports` rows of a batch, `starts` of every process; `folder` is where the file is made (default: the
    temporary folder); with `store`, a `postgresql://` address, a database is made there instead. `sessions`, a
    `redis://` address, moves conversations there and feeds the hot set there with every write.
    """

    rows: int = 10_000
    others: int = 100
    rows_per_other: int = 1_000
    repeats: int = 200
    imports: int = 500
    starts: int = 7
    durability: str = "durable"
    folder: Path | None = None
    store: str | None = None
    sessions: str | None = None
    seed: int = SEED

    def quick(self) -> BenchOptions:
        """Return reduced options for a smoke test, whose figures mean little."""
        return replace(self, rows=500, others=3, rows_per_other=100, repeats=20, imports=64, starts=3)

    def as_dict(self) -> dict[str, Any]:
        """Return the options as JSON data, without the folder."""
        names = ("rows", "others", "rows_per_other", "repeats", "imports", "starts", "durability")
        return {name: getattr(self, name) for name in names}


def run(
    options: BenchOptions | None = None, *, progress: Progress = silent, embedder: Embedder | None = None
) -> dict[str, Any]:
    """Measure, and return nested JSON data; times are milliseconds, sizes MB of 10^6 bytes. `embedder` replaces the
    default one.
    """
    options = options or BenchOptions()
    made = embedder or build_embedder(Settings.load(), SystemClock())
    seed = options.seed
    with (
        TemporaryDirectory(prefix="mnemic-bench-", dir=options.folder) as name,
        place(Path(name), options.store, options.durability) as where,
    ):
        folder = Path(name)
        settings = conditions(
            seed=seed, embedder=made.space.model, file_system=file_system(folder), options=options.as_dict()
        )
        figures = asyncio.run(_run(options, where, folder, TimedEmbedder(made), progress))
        if options.starts:
            question = next(questions(seed))
            figures["cold_start"] = cold_starts(
                where.location, USER, question, starts=options.starts, progress=progress
            )
    return {**figures, "footprint": footprint(), "settings": {**settings, "load_1min_after": load()}}


async def _run(
    options: BenchOptions, where: Place, folder: Path, embedder: TimedEmbedder, progress: Progress
) -> dict[str, Any]:
    said, asked = statements(options.seed), questions(options.seed)
    floor = await _floors(where, embedder.inner, list(islice(said, options.repeats + WARM)), options.rows, progress)
    bench = Bench(
        location=where.location,
        folder=folder,
        durability=options.durability,
        sessions=options.sessions or IN_PROCESS,
        embedder=embedder,
        statements=said,
        questions=asked,
        progress=progress,
    )
    figures = await _calls(bench, options)
    for call in UNDER:
        figures[call]["times_floor"] = times_floor(call, figures[call], floor)
    async with bench.engine() as engine:
        stored = sum([await engine.count(actor=Actor(user=user)) for user in _users(options)])
    await embedder.inner.close()
    size = await asyncio.to_thread(where.size)
    memory = {
        "peak_rss_mb": peak_mb(),
        "stored": stored,
        "file_mb": round(size / 1e6, 1),
        "bytes_per_memory": size // stored,
    }
    return {**figures, "floor": floor, "memory": memory}


def _users(options: BenchOptions) -> list[str]:
    return [USER, IMPORTER, *(f"other-{number}" for number in range(1, options.others + 1))]


async def _floors(
    where: Place, embedder: Embedder, texts: Sequence[str], rows: int, progress: Progress
) -> dict[str, Any]:
    alone = await embedding_alone(embedder, texts, progress)
    bare = [(text, bytes(4 * embedder.space.dimension)) for text in texts]
    seconds = await asyncio.to_thread(where.commits, bare)
    return {
        "embed": alone,
        "commit": percentiles([1000 * second for second in seconds[WARM:]]),
        "scan": await asyncio.to_thread(scan, rows, embedder.space.dimension),
    }


async def _calls(bench: Bench, options: BenchOptions) -> dict[str, Any]:
    user = Actor(user=USER)
    filled = await bench.fill([user], options.rows, Kind.LONG_TERM)
    async with bench.engine() as engine:
        await engine.hot(actor=user)
        write = await bench.writes(engine, user, options.repeats)
        search = await bench.searches(engine, user, options.repeats)
        injection = await bench.injections(engine, user, options.repeats)
        context = await bench.contexts(engine, user, options.repeats)
        imported = await bench.imports(engine, Actor(user=IMPORTER), options.imports)
    figures: dict[str, Any] = {
        "write": {**write, "rows": options.rows},
        "search": {**search, "rows": options.rows},
        "injection": {**injection, "rows": options.rows},
        "context": context,
        "import": imported,
        "fill": {"memories_per_s": filled},
        "kinds": await _kinds(bench, options),
    }
    if options.others:
        figures["shared"] = await _among_others(bench, options, user, search)
    return figures


async def _kinds(bench: Bench, options: BenchOptions) -> dict[str, Any]:
    """Return the latencies of every kind's verbs on a separate file, in this process and on the given servers."""
    homes = {
        "sqlite": replace(bench, location=str(bench.folder / "kinds.db"), sessions=IN_PROCESS),
        "in-process": replace(bench, location=IN_PROCESS, sessions=IN_PROCESS),
    }
    if options.store or options.sessions:
        homes["servers"] = bench if options.store else replace(bench, location=IN_PROCESS)
    memories = min(MEMORIES_PER_KIND, options.rows)
    return {name: await kind_latencies(home, options.repeats, memories) for name, home in homes.items()}


async def _among_others(bench: Bench, options: BenchOptions, user: Actor, alone: dict[str, Any]) -> dict[str, Any]:
    """Return the figures of the same user with the other users' rows in the same file; ratios are relative to the user
    alone.
    """
    await bench.fill([Actor(user=name) for name in _users(options)[2:]], options.rows_per_other, Kind.EPISODIC)
    async with bench.engine() as engine:
        search = await bench.searches(engine, user, options.repeats, "searches among others")
        write = await bench.writes(engine, user, options.repeats, "writes among others")
    return {
        "other_users": options.others,
        "other_rows": options.others * options.rows_per_other,
        "write": write,
        "search": search,
        "search_p95_ratio": round(search["p95_ms"] / alone["p95_ms"], 3),
        "search_overhead_p50_ratio": round(search["overhead_p50_ms"] / alone["overhead_p50_ms"], 3),
    }
