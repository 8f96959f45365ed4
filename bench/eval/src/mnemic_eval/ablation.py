"""Contribution of each ranked list and each feature: the same memories and questions, with one weight at a time set to
zero.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from mnemic.engine import MemoryEngine
from mnemic.retrieve.fusion import Weights
from mnemic.retrieve.search import Searcher
from mnemic.retrieve.signals import SignalWeights
from mnemic.types import Level, Where
from mnemic_eval.metrics import percentiles
from mnemic_eval.replay import Replayed

Measure = Callable[[Sequence[str]], Mapping[str, float]]

NO_SIGNS = SignalWeights(**{weight.name: 0.0 for weight in fields(SignalWeights)})


def variants(engine: MemoryEngine) -> dict[str, Searcher]:
    """Return the compared searches by name; `full` is the engine's default."""
    full = engine.gateway.searcher
    plain = replace(full, ranker=None)
    signless = replace(plain, signal_weights=NO_SIGNS)
    alone = {name: Weights(**{**dict.fromkeys(_names(Weights), 0.0), name: 1.0}) for name in ("vector", "keyword")}
    return {
        "full": full,
        **{f"{name} alone": replace(signless, weights=weights) for name, weights in alone.items()},
        "lists without signs": signless,
        "without the learned order": plain,
        **{f"without {name}": replace(full, weights=replace(full.weights, **{name: 0.0})) for name in _names(Weights)},
        **{
            f"without {name}": replace(full, signal_weights=replace(full.signal_weights, **{name: 0.0}))
            for name in _names(SignalWeights)
        },
    }


class Ablation:
    """Collects the figures and the duration of every question for each variant."""

    def __init__(self, engine: MemoryEngine) -> None:
        self._searchers = variants(engine)
        self._engine = engine
        self._rows: dict[str, list[tuple[str, Mapping[str, float]]]] = {name: [] for name in self._searchers}
        self._seconds: dict[str, list[float]] = {name: [] for name in self._searchers}

    async def ask(
        self,
        conversation: Replayed,
        question: str,
        split: str,
        measure: Measure,
        *,
        top_k: int,
        asked_at: datetime | None = None,
    ) -> None:
        """Ask every variant on the day of `asked_at`; `measure` computes the figures of a ranking."""
        where = Where(scopes=(conversation.actor.scope(Level.USER),), live_at=self._engine.clock.now())
        for name, searcher in self._searchers.items():
            began = time.perf_counter()
            result = await searcher.search(question, where, top_k=top_k, asked_at=asked_at)
            self._seconds[name].append(time.perf_counter() - began)
            self._rows[name].append((split, measure(conversation.refs(result))))

    def report(self, names: Sequence[str]) -> dict[str, Any]:
        """Means of each variant over all, dev and test questions, and the median of its search time."""
        return {
            name: {
                "overall": _means([row for _, row in rows], names),
                "dev": _means([row for split, row in rows if split == "dev"], names),
                "test": _means([row for split, row in rows if split == "test"], names),
                "search_p50_ms": percentiles([1000 * second for second in self._seconds[name]])["p50_ms"],
            }
            for name, rows in self._rows.items()
        }


def _names(weights: type[Weights] | type[SignalWeights]) -> list[str]:
    return [weight.name for weight in fields(weights)]


def _means(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> dict[str, float | None]:
    return {name: round(sum(row[name] for row in rows) / len(rows), 4) if rows else None for name in names}
