"""The jobs that go over a store, one after the other: what each takes for so many memories of one user."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.maintenance.consolidate import ConsolidationRules
from mnemic.ports import Embedder
from mnemic.types import Actor, Deadline, Message, Vector, VectorSpace
from mnemic_eval.latency import Bench, batch_rate

_TURNS = 20
"""Messages of a conversation."""


class Successor:
    """`inner` under another name, as if it were another model: what a store is re-embedded with."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.space = VectorSpace(model=f"{inner.space.model}-again", dimension=inner.space.dimension)

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        """Return what `inner` says."""
        return await self._inner.embed(texts, deadline=deadline)

    async def close(self) -> None:
        """Leaves `inner` open, which others use."""


async def job_figures(bench: Bench, rows: int) -> dict[str, Any]:
    """`{"memories", "consolidate_ms", "doctor_ms", "maintain_ms", "reembed": {...}, "erase_ms"}` on an empty store of
    `bench`, in which one user has said `rows` things, in conversations of twenty turns.
    """
    if not rows:
        return {}
    user, operator = Actor(user="said-much"), Actor(user="operator")
    async with bench.engine() as engine:
        with bench.embedder.filling():
            await _converse(engine, bench, user, rows)
            drawn = await _milliseconds(engine.consolidate(actor=operator, rules=ConsolidationRules(most=rows)))
        figures: dict[str, Any] = {"memories": await engine.count(actor=user), "consolidate_ms": drawn}
        figures["doctor_ms"] = await _milliseconds(engine.doctor(actor=operator, limit=rows))
        figures["maintain_ms"] = await _milliseconds(engine.maintain(actor=operator))
        figures["reembed"] = await _reembedding(engine, bench, rows)
        figures["erase_ms"] = await _milliseconds(engine.erase(user.user, actor=operator))
    bench.embedder.take()
    bench.progress("jobs", 1, 1)
    return figures


async def _converse(engine: MemoryEngine, bench: Bench, user: Actor, rows: int) -> None:
    yesterday = engine.clock.now() - timedelta(days=1)
    for number, start in enumerate(range(0, rows, _TURNS)):
        said = partial(Message, role="user", session=f"conversation-{number}", sent_at=yesterday)
        texts = islice(bench.statements, min(_TURNS, rows - start))
        await engine.record([said(content=text) for text in texts], actor=user)


async def _milliseconds(job: Awaitable[object]) -> float:
    began = time.perf_counter()
    await job
    return round(1000 * (time.perf_counter() - began), 1)


async def _reembedding(engine: MemoryEngine, bench: Bench, rows: int) -> dict[str, Any]:
    """Memories a second, and what the embedder alone would do with as many texts."""
    alone = await batch_rate(bench.embedder.inner, list(islice(bench.statements, rows)))
    began = time.perf_counter()
    done = await engine.reembed(Successor(bench.embedder.inner))
    rate = done.filled / (time.perf_counter() - began)
    return {
        "memories_per_s": round(rate, 1),
        "embedder_alone_per_s": round(alone, 1),
        "share_of_embedder": round(rate / alone, 3),
    }
