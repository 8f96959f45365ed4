"""Several ranked lists into one.

A convex combination of normalised scores (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
Retrieval", ACM TOIS 2023): it keeps how far apart two hits are, which reciprocal ranks throw away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mnemic.types import Rank, Scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each list is worth, as a part of the fused score."""

    vector: float = 0.5
    keyword: float = 0.5
    key: float = 0.3
    recency: float = 0.01

    def of(self, name: str) -> float:
        """The weight of the list called `name`, 0 for one that is not known."""
        return float(getattr(self, name, 0.0))


@dataclass(slots=True)
class Fused:
    """One memory after fusion: its score and its place in each list it was in."""

    memory_id: str
    score: float = 0.0
    ranks: dict[str, Rank] = field(default_factory=dict)


def normalised(entries: Sequence[Scored], *, from_zero: bool) -> list[float]:
    """Scores mapped so that the best is 1: from zero for scores that mean something at zero (BM25), else from the
    list's own lowest (cosines, times). Equal scores map to 1.
    """
    if not entries:
        return []
    scores = [entry.score for entry in entries]
    low, high = (0.0 if from_zero else min(scores)), max(scores)
    if high - low <= 1e-12:
        return [1.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def fuse(lists: Mapping[str, Sequence[Scored]], weights: Weights) -> dict[str, Fused]:
    """All memories of all lists, by id. A score is at most the sum of the weights of the lists that have entries."""
    fused: dict[str, Fused] = {}
    for name, entries in lists.items():
        weight = weights.of(name)
        shares = normalised(entries, from_zero=name in {"keyword", "key"})
        for position, (entry, share) in enumerate(zip(entries, shares, strict=True), start=1):
            one = fused.setdefault(entry.memory_id, Fused(entry.memory_id))
            one.score += weight * share
            one.ranks[name] = Rank(position=position, score=entry.score)
    return fused
