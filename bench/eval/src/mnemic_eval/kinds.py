"""Every verb of every kind against its budget: one call after the other, each durable before the next."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.runtime.sync_facade import Awaited, async_mode
from mnemic.types import Actor, Kind
from mnemic.types.memory_kinds import CATALOG
from mnemic_eval.floors import WARM
from mnemic_eval.latency import Bench
from mnemic_eval.metrics import percentiles

MEMORIES_PER_KIND = 200
"""Memories of each durable kind that are there before anything is timed."""
_REVIEWER = Actor(user="reviewer", agent="measured")
_STEPS = [{"action": "look", "result": "sold out", "ok": False}, {"action": "ask", "result": "found one", "ok": True}]

Call = Callable[[], Awaitable[object]]


async def kind_latencies(bench: Bench, repeats: int, memories: int = MEMORIES_PER_KIND) -> dict[str, Any]:
    """`{"kind.verb": {percentiles, "calls", "budget_p95_ms"}}` on an engine of `bench` with `memories` of each kind."""
    actor = Actor(user="every-kind", agent="measured", session="measured")
    async with bench.engine() as engine:
        kinds = SevenKinds(engine, actor, async_mode())
        with bench.embedder.filling():
            await _fill(kinds, engine, bench, memories)
        await engine.hot(actor=actor)
        bench.embedder.take()
        figures = {}
        for kind, name, call in _calls(kinds, lambda: engine.hot(actor=actor), bench, memories):
            figures[f"{kind}.{name}"] = await _time_calls(call, repeats) | {
                "budget_p95_ms": round(1000 * CATALOG[kind].p95.total_seconds(), 3)
            }
            bench.progress("verbs of the kinds", len(figures), len(figures))
        return figures


async def _fill(kinds: SevenKinds[Awaited], engine: MemoryEngine, bench: Bench, memories: int) -> None:
    for number in range(memories):
        await kinds.long_term.add(next(bench.statements))
        await kinds.episodic.record(next(bench.statements), _STEPS, outcome="success")
        await kinds.structured.put("FlightReservation", _flight(number))
        await kinds.entity.relate(_person(number), "knows", _person(number // 2))
    for _ in range(5):
        receipt = await kinds.persona.learn(next(bench.statements))
        await engine.approve(receipt.memory_id or "", actor=_REVIEWER, whole_tenant=True)


def _flight(number: int) -> dict[str, Any]:
    about = {"flightNumber": str(number), "departureTime": "2027-03-04T20:15:00-08:00"}
    return {"@type": "FlightReservation", "reservationNumber": f"QX{number:04}", "reservationFor": about}


def _person(number: int) -> str:
    return f"Person {number}"


def _calls(kinds: SevenKinds[Awaited], hot: Call, bench: Bench, memories: int) -> Iterator[tuple[Kind, str, Call]]:
    said, asked, numbers = bench.statements, bench.questions, count(memories)

    async def work() -> None:
        kinds.working.set("place", "Paris")
        kinds.working.get("place")

    yield Kind.WORKING, "set and get", work
    yield Kind.SHORT_TERM, "append", lambda: kinds.short_term.append("user", next(said))
    yield Kind.SHORT_TERM, "tail", lambda: kinds.short_term.tail(10)
    yield Kind.LONG_TERM, "add", lambda: kinds.long_term.add(next(said))
    yield Kind.LONG_TERM, "search", lambda: kinds.long_term.search(next(asked))
    yield Kind.LONG_TERM, "hot", hot
    yield Kind.PERSONA, "learn", lambda: kinds.persona.learn(next(said))
    yield Kind.PERSONA, "prompt", kinds.persona.prompt
    yield Kind.EPISODIC, "record", lambda: kinds.episodic.record(next(said), _STEPS, outcome="success")
    yield Kind.EPISODIC, "similar", lambda: kinds.episodic.similar(next(asked))
    yield Kind.ENTITY, "mention", lambda: kinds.entity.mention(_person(next(numbers)))
    yield Kind.ENTITY, "relate", lambda: kinds.entity.relate(_person(next(numbers)), "knows", _person(1))
    yield Kind.ENTITY, "neighbours", lambda: kinds.entity.neighbours(_person(next(numbers) % memories), hops=2)
    yield Kind.STRUCTURED, "put", lambda: kinds.structured.put("FlightReservation", _flight(next(numbers)))
    yield (
        Kind.STRUCTURED,
        "query",
        lambda: kinds.structured.query(
            "FlightReservation", {"reservationFor.flightNumber": str(next(numbers) % memories)}
        ),
    )


async def _time_calls(call: Call, repeats: int) -> dict[str, Any]:
    times = []
    for _ in range(repeats + WARM):
        began = time.perf_counter()
        await call()
        times.append(1000 * (time.perf_counter() - began))
    return {**percentiles(times[WARM:]), "calls": repeats}
