"""Latencies of graph writes and traversals, one call after the other."""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from mnemic.ports.graph import GraphStore
from mnemic.types import Fragment, Level, Node, Relation, Scope
from mnemic_eval.metrics import percentiles

BUDGET_MS = 200.0
"""The p95 that ADR-049 gives entity memory."""

RELATIONS = 1_000
"""Default number of relations of the measured graph."""

_BATCH = 100
_WARM = 5
_SEEN = datetime(2026, 1, 5, tzinfo=UTC)


async def graph_figures(
    graph: GraphStore, *, relations: int = RELATIONS, repeats: int = 100, seed: int = 7
) -> dict[str, Any]:
    """Milliseconds of a link, of the neighbours within one and two hops, of a path, and of a forget, in one scope with
    `relations` relations between a third as many nodes. The scope is filled before and emptied afterwards.
    """
    chance = random.Random(seed)  # noqa: S311 - the same graph every time
    scope = Scope(tenant="bench", level=Level.USER, owner="mnemic-bench")
    names = [f"person:n{number}" for number in range(max(2, relations // 3))]

    def pair() -> tuple[str, str]:
        one, other = chance.sample(names, 2)
        return one, other

    said = [_fragment(f"m{number:06}", *pair()) for number in range(relations)]
    for start in range(0, len(said), _BATCH):
        await graph.link(scope, said[start : start + _BATCH])
    calls: dict[str, Callable[[int], Awaitable[object]]] = {
        "link": lambda number: graph.link(scope, [_fragment(f"x{number:06}", *pair())]),
        "neighbours_1_hop": lambda _: graph.neighbours(scope, pair()[0], hops=1),
        "neighbours_2_hops": lambda _: graph.neighbours(scope, pair()[0], hops=2),
        "path": lambda _: graph.path(scope, *pair(), hops=4),
        "forget": lambda number: graph.forget(scope, [f"x{number:06}"]),
    }
    figures = {name: percentiles(await _time_calls(call, repeats)) for name, call in calls.items()}
    await graph.clear(scope.tenant)
    return {"relations": relations, "nodes": len(names), "budget_p95_ms": BUDGET_MS, **figures}


async def _time_calls(call: Callable[[int], Awaitable[object]], repeats: int) -> list[float]:
    spent = []
    for number in range(repeats + _WARM):
        began = time.perf_counter()
        await call(number)
        spent.append(1000 * (time.perf_counter() - began))
    return spent[_WARM:]


def _fragment(memory_id: str, source: str, target: str) -> Fragment:
    return Fragment(
        memory_id=memory_id,
        seen_at=_SEEN,
        nodes=(Node(node=source, name=source, label="person"), Node(node=target, name=target, label="person")),
        relations=(Relation(source=source, relation="knows", target=target),),
    )
