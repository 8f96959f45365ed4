"""Every verb of every kind against its budget: one call after the other, each durable before the next."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

from mnemic.catalog import CATALOG
from mnemic.engine import MemoryEngine
from mnemic.evaluate.latency import WARM, Bench
from mnemic.evaluate.metrics import percentiles
from mnemic.face import Awaited, awaited
from mnemic.kinds.seven import SevenKinds
from mnemic.maintain.graph import GraphProjection
from mnemic.ports import RecordStore
from mnemic.ports.graph import GraphStore
from mnemic.stores.session import InProcessSessions
from mnemic.types import Actor, Kind

HELD = 200
"""Memories of each durable kind that are there before anything is timed."""
_REVIEWER = Actor(user="reviewer", agent="measured")
_STEPS = [{"action": "look", "result": "sold out", "ok": False}, {"action": "ask", "result": "found one", "ok": True}]

Call = Callable[[], Awaitable[object]]


async def kind_latencies(
    store: RecordStore, graph: GraphStore, bench: Bench, repeats: int, held: int = HELD, *, fed: bool = False
) -> dict[str, Any]:
    """`{"kind.verb": {percentiles, "calls", "budget_p95_ms"}}` on `store`, with `held` memories of each kind there.
    `fed`: the store does not write `graph` itself, the outbox does.
    """
    copies = [GraphProjection(graph)] if fed else []
    engine = MemoryEngine(store=store, embedder=bench.embedder, graph=graph, projections=copies)
    engine.sessions = InProcessSessions(engine.clock)
    actor = Actor(user="every-kind", agent="measured", session="measured")
    async with _opened(engine):
        kinds = SevenKinds(engine, actor, awaited())
        with bench.embedder.filling():
            await _fill(kinds, engine, bench, held)
        bench.embedder.take()
        figures = {}
        for kind, name, call in _calls(kinds, bench, held):
            figures[f"{kind}.{name}"] = await _timed(call, repeats) | {
                "budget_p95_ms": round(1000 * CATALOG[kind].p95.total_seconds(), 3)
            }
            bench.progress("verbs of the kinds", len(figures), len(figures))
        return figures


@asynccontextmanager
async def _opened(engine: MemoryEngine) -> AsyncIterator[None]:
    """The engine open, and closed but for its embedder, which others use."""
    await engine.store.open(engine.embedder.space)
    assert engine.graph is not None
    await engine.graph.open()
    try:
        yield
    finally:
        await engine.graph.close()
        await engine.store.close()


async def _fill(kinds: SevenKinds[Awaited], engine: MemoryEngine, bench: Bench, held: int) -> None:
    for number in range(held):
        await kinds.long_term.add(next(bench.statements))
        await kinds.episodic.record(next(bench.statements), _STEPS, outcome="success")
        await kinds.structured.put("FlightReservation", _flight(number))
        await kinds.entity.relate(f"Person {_roman(number)}", "knows", f"Person {_roman(number // 2)} Junior")
    for _ in range(5):
        receipt = await kinds.persona.learn(next(bench.statements))
        await engine.approve(receipt.memory_id or "", actor=_REVIEWER, whole_tenant=True)


def _flight(number: int) -> dict[str, Any]:
    about = {"flightNumber": str(number), "departureTime": "2027-03-04T20:15:00-08:00"}
    return {"@type": "FlightReservation", "reservationNumber": f"QX{number:04}", "reservationFor": about}


def _calls(kinds: SevenKinds[Awaited], bench: Bench, held: int) -> Iterator[tuple[Kind, str, Call]]:
    said, asked, numbers = bench.statements, bench.questions, count(held)

    async def work() -> None:
        kinds.working.set("place", "Paris")
        kinds.working.get("place")

    yield Kind.WORKING, "set and get", work
    yield Kind.SHORT_TERM, "append", lambda: kinds.short_term.append("user", next(said))
    yield Kind.SHORT_TERM, "tail", lambda: kinds.short_term.tail(10)
    yield Kind.LONG_TERM, "add", lambda: kinds.long_term.add(next(said))
    yield Kind.LONG_TERM, "search", lambda: kinds.long_term.search(next(asked))
    yield Kind.PERSONA, "learn", lambda: kinds.persona.learn(next(said))
    yield Kind.PERSONA, "prompt", kinds.persona.prompt
    yield Kind.EPISODIC, "record", lambda: kinds.episodic.record(next(said), _STEPS, outcome="success")
    yield Kind.EPISODIC, "similar", lambda: kinds.episodic.similar(next(asked))
    yield Kind.STRUCTURED, "put", lambda: kinds.structured.put("FlightReservation", _flight(next(numbers)))
    yield (
        Kind.STRUCTURED,
        "query",
        lambda: kinds.structured.query("FlightReservation", {"reservationFor.flightNumber": str(next(numbers) % held)}),
    )
    yield from ((Kind.ENTITY, name, call) for name, call in _entity_calls(kinds, numbers, held))


def _entity_calls(kinds: SevenKinds[Awaited], numbers: Iterator[int], held: int) -> Iterator[tuple[str, Call]]:
    def known() -> str:
        return f"Person {_roman(next(numbers) % held)}"

    yield "relate", lambda: kinds.entity.relate(known(), "knows", f"Person {_roman(next(numbers))}")
    yield "neighbours, 2 hops", lambda: kinds.entity.neighbours(known(), hops=2)
    yield "path", lambda: kinds.entity.path(known(), known())
    yield "of_user", lambda: kinds.entity.of_user("person")


def _roman(number: int) -> str:
    """A number in letters: names hold few digits."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number)).title()


async def _timed(call: Call, repeats: int) -> dict[str, Any]:
    times = []
    for _ in range(repeats + WARM):
        began = time.perf_counter()
        await call()
        times.append(1000 * (time.perf_counter() - began))
    return {**percentiles(times[WARM:]), "calls": repeats}
