"""One call after the other, timed: writes, searches, injections, contexts, imports."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from mnemic.bootstrap import build_graph, build_sessions, build_store, keeps_graph
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.graph.projection import GraphProjection
from mnemic.inject import InjectionConfig, Injector
from mnemic.inject.engine_injector import ActorMemories, injector_for
from mnemic.inject.memory_source import SourceEntry
from mnemic.ports import Embedder
from mnemic.runtime.clock import SystemClock
from mnemic.types import Actor, Candidate, Deadline, Kind
from mnemic_eval.floors import WARM
from mnemic_eval.metrics import percentiles
from mnemic_eval.progress import Progress
from mnemic_eval.vectors import TimedEmbedder

FILL_CHUNK = 500
TOP_K = 10


@dataclass(frozen=True, slots=True)
class _Found:
    """A source that has searched already."""

    entries: Sequence[SourceEntry]
    name: str = "memory"

    async def search(self, query: str, *, limit: int, deadline: Deadline) -> Sequence[SourceEntry]:
        return self.entries[:limit]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """The store under test, the session store, a folder for further files, the timed embedder, and an endless supply of
    texts.
    """

    location: str
    folder: Path
    durability: str
    sessions: str
    embedder: TimedEmbedder
    statements: Iterator[str]
    questions: Iterator[str]
    progress: Progress

    def engine(self, durability: str | None = None) -> MemoryEngine:
        """Return an engine on the store, not yet open."""
        clock = SystemClock()
        settings = Settings(store=self.location)
        graph = build_graph(settings)
        sessions, copies = build_sessions(self.sessions, clock)
        return MemoryEngine(
            store=build_store(self.location, durability=durability or self.durability),
            embedder=self.embedder,
            clock=clock,
            graph=graph,
            sessions=sessions,
            projections=copies if keeps_graph(settings) else [*copies, GraphProjection(graph)],
        )

    async def fill(self, actors: Sequence[Actor], rows: int, kind: Kind) -> float:
        """Write `rows` memories of each actor through the whole pipeline with hashed vectors; memories per second."""
        began = time.perf_counter()
        total = rows * len(actors)
        with self.embedder.filling():
            async with self.engine("fast") as engine:
                for place, actor in enumerate(actors):
                    for start in range(0, rows, FILL_CHUNK):
                        texts = islice(self.statements, min(FILL_CHUNK, rows - start))
                        await engine.add_many([Candidate(content=text, kind=kind) for text in texts], actor=actor)
                        done = place * rows + min(start + FILL_CHUNK, rows)
                        self.progress(f"filling {total:,} memories", done, total)
        self.embedder.take()
        return round(total / (time.perf_counter() - began), 1)

    async def writes(self, engine: MemoryEngine, actor: Actor, repeats: int, what: str = "writes") -> dict[str, Any]:
        """`add`, one memory at a time, each durable before the next: total, embed and overhead, and how they ended."""
        outcomes: Counter[str] = Counter()

        async def write(text: str) -> None:
            receipt = await engine.add(text, actor=actor)
            outcomes[receipt.outcome.value] += 1

        figures = await self._time_calls(write, list(islice(self.statements, repeats + WARM)), what)
        return {**figures, "outcomes": dict(outcomes)}

    async def searches(
        self, engine: MemoryEngine, actor: Actor, repeats: int, what: str = "searches"
    ) -> dict[str, Any]:
        """`search` for the ten best, one question at a time: total, embed and overhead."""

        async def search(question: str) -> None:
            result = await engine.search(question, actor=actor, top_k=TOP_K)
            if result.errors or len(result.hits) < TOP_K:
                raise RuntimeError(f"a search that fails is not measured: {len(result.hits)} hits")

        return await self._time_calls(search, list(islice(self.questions, repeats + WARM)), what)

    async def injections(self, engine: MemoryEngine, actor: Actor, repeats: int) -> dict[str, Any]:
        """Return a block of memories put into the messages of one model call and logged, a search included: total,
        embed and overhead.
        """
        injector = injector_for(engine, actor, InjectionConfig(least_relevance=0))

        async def inject(question: str) -> None:
            injection = await injector.inject([{"role": "user", "content": question}])
            if not injection.injected or injection.degraded:
                raise RuntimeError(f"an injection that fails is not measured: {injection.reason}")

        return await self._time_calls(inject, list(islice(self.questions, repeats + WARM)), "injections")

    async def contexts(self, engine: MemoryEngine, actor: Actor, repeats: int) -> dict[str, Any]:
        """Return the part of an injection that is not its search: what was found chosen, rendered within the tokens,
        folded into the messages. Nothing is embedded or logged.
        """
        config = InjectionConfig(least_relevance=0)
        source = ActorMemories(engine, actor, pinned=0, min_similarity=-1, config=config)
        deadline = Deadline.after(timedelta(minutes=1), engine.clock.monotonic)
        found = await source.search(next(self.questions), limit=TOP_K, deadline=deadline)
        injector = Injector([_Found(found)], config, clock=engine.clock)

        async def build(question: str) -> None:
            injection = await injector.inject([{"role": "user", "content": question}])
            if not injection.injected:
                raise RuntimeError(f"a context that is empty is not measured: {injection.reason}")

        return await self._time_calls(build, list(islice(self.questions, repeats + WARM)), "contexts")

    async def _time_calls(
        self, call: Callable[[str], Awaitable[None]], texts: Sequence[str], what: str
    ) -> dict[str, Any]:
        total, embed = [], []
        for text in texts[:WARM]:
            await call(text)
        busy = time.process_time()
        for done, text in enumerate(texts[WARM:], start=1):
            self.embedder.take()
            began = time.perf_counter()
            await call(text)
            total.append(1000 * (time.perf_counter() - began))
            embed.append(1000 * self.embedder.take())
            self.progress(what, done, len(texts) - WARM)
        overhead = [whole - part for whole, part in zip(total, embed, strict=True)]
        return {
            **percentiles(total),
            **percentiles(embed, "embed_"),
            **percentiles(overhead, "overhead_"),
            "cpu_ms": round(1000 * (time.process_time() - busy) / len(total), 3),
            "calls": len(total),
        }

    async def imports(self, engine: MemoryEngine, actor: Actor, rows: int) -> dict[str, Any]:
        """`add_many` against the embedder alone on as many texts of the same kind, in memories and texts per second.

        The embedder alone runs before and after, so that a machine that changes its mind shows.
        """
        if not rows:
            return {}
        texts = list(islice(self.statements, 3 * rows))
        alone = [await batch_rate(self.embedder.inner, texts[:rows])]
        self.progress("batch import", 1, 3)
        began = time.perf_counter()
        receipts = await engine.add_many([Candidate(content=text) for text in texts[rows : 2 * rows]], actor=actor)
        rate = rows / (time.perf_counter() - began)
        self.progress("batch import", 2, 3)
        alone.append(await batch_rate(self.embedder.inner, texts[2 * rows :]))
        self.progress("batch import", 3, 3)
        self.embedder.take()
        return {
            "rows": rows,
            "memories_per_s": round(rate, 1),
            "embedder_alone_per_s": round(sum(alone) / 2, 1),
            "embedder_alone_runs": [round(one, 1) for one in alone],
            "share_of_embedder": round(rate / (sum(alone) / 2), 3),
            "outcomes": dict(Counter(receipt.outcome.value for receipt in receipts)),
        }


async def batch_rate(embedder: Embedder, texts: Sequence[str]) -> float:
    """Texts per second in one call."""
    began = time.perf_counter()
    await embedder.embed(texts)
    return len(texts) / (time.perf_counter() - began)
