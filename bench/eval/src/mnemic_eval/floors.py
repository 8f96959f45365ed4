"""Lower bounds on the time of any engine: the embedder alone, a bare commit, one pass over all vectors."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mnemic.ports import Embedder
from mnemic_eval.metrics import percentiles
from mnemic_eval.progress import Progress

WARM = 5
_SCANS = 20
UNDER = {
    "write": ("embed", "commit"),
    "search": ("embed", "scan"),
    "injection": ("embed", "scan"),
}
"""Unavoidable costs of each call, whose sum is its lower bound."""


async def embedding_alone(embedder: Embedder, texts: Sequence[str], progress: Progress) -> dict[str, Any]:
    """Measure the embedder alone, one text at a time: a lower bound of every write and search."""
    await embedder.embed(texts[:WARM])
    times = []
    for done, text in enumerate(texts[WARM:], start=1):
        began = time.perf_counter()
        await embedder.embed([text])
        times.append(1000 * (time.perf_counter() - began))
        progress("embedder alone", done, len(texts) - WARM)
    return {**percentiles(times), "calls": len(times)}


def scan(rows: int, dimension: int) -> dict[str, float]:
    """Return the milliseconds of one product of a query with `rows` vectors, which is bound by memory bandwidth."""
    matrix, vector = np.ones((rows, dimension), np.float32), np.ones(dimension, np.float32)
    taken = []
    for _ in range(_SCANS):
        began = time.perf_counter()
        np.vecdot(matrix, vector)
        taken.append(1000 * (time.perf_counter() - began))
    return percentiles(taken)


def times_floor(call: str, measured: Mapping[str, Any], floor: Mapping[str, Mapping[str, float]]) -> float:
    """Return the ratio of a call's median to the sum of the medians of its unavoidable costs, measured in the same
    run.
    """
    taken: float = measured["p50_ms"]
    return round(taken / sum(floor[name]["p50_ms"] for name in UNDER[call]), 2)
