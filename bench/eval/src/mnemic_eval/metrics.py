"""Figures of retrieval, and how sure they are.

Every figure is a fraction in 0..1. Ranked lists hold each id once, best first.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import log2
from typing import Any

import numpy as np

RESAMPLES = 2_000
CONFIDENCE = 0.95
_AT_ONCE = 100


def recall_at(ranked: Sequence[str], wanted: Collection[str], k: int) -> float:
    """Return the share of `wanted` among the first `k`. Raises ValueError if nothing is wanted."""
    if not wanted:
        raise ValueError("wanted")
    return len(set(ranked[:k]) & set(wanted)) / len(set(wanted))


def any_at(ranked: Sequence[str], wanted: Collection[str], k: int) -> float:
    """1 if one of `wanted` is among the first `k`, else 0."""
    return float(not set(wanted).isdisjoint(ranked[:k]))


def all_at(ranked: Sequence[str], wanted: Collection[str], k: int) -> float:
    """1 if all of `wanted` are among the first `k`, else 0."""
    return float(set(wanted) <= set(ranked[:k]))


def ndcg_at(ranked: Sequence[str], wanted: Collection[str], k: int) -> float:
    """Normalised discounted cumulative gain with gains of 0 and 1 (Jaervelin and Kekaelaeinen, ACM TOIS 2002).

    Raises ValueError if nothing is wanted.
    """
    if not wanted:
        raise ValueError("wanted")
    gained = sum(1 / log2(place + 1) for place, one in enumerate(ranked[:k], start=1) if one in wanted)
    best = sum(1 / log2(place + 1) for place in range(1, min(k, len(set(wanted))) + 1))
    return gained / best


def interval(values: Sequence[float], seed: int) -> list[float]:
    """Return the 95 % confidence interval of the mean of `values`: percentile bootstrap (Efron 1979), 2,000 resamples
    of questions.
    """
    sample = np.asarray(values, np.float64)
    random = np.random.default_rng(seed)
    size = (_AT_ONCE, len(sample))
    means = [sample[random.integers(0, len(sample), size)].mean(axis=1) for _ in range(RESAMPLES // _AT_ONCE)]
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(np.concatenate(means), [tail, 1 - tail])
    return [round(float(low), 4), round(float(high), 4)]


def summary(rows: Sequence[Mapping[str, float]], names: Sequence[str], seed: int) -> dict[str, Any]:
    """Return the mean of each of `names` over `rows` (one row a question), with `questions` and the intervals in
    `ci95`.
    """
    columns = {name: [row[name] for row in rows] for name in names}
    return {
        **{name: round(sum(values) / len(values), 4) if values else None for name, values in columns.items()},
        "questions": len(rows),
        "ci95": {name: interval(values, seed) for name, values in columns.items() if values},
    }


def percentiles(milliseconds: Sequence[float], prefix: str = "") -> dict[str, float]:
    """Return the median, the 95th and the 99th percentile (linear interpolation), as `<prefix>p50_ms` and so on."""
    points = np.percentile(np.asarray(milliseconds, np.float64), [50, 95, 99])
    return {f"{prefix}p{name}_ms": round(float(point), 3) for name, point in zip((50, 95, 99), points, strict=True)}
