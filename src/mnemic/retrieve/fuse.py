"""Several ranked lists into one.

Convex combination of min-max normalised scores (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
Retrieval", ACM TOIS 2023), which keeps how far apart two hits are; reciprocal ranks would throw that away.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from mnemic.types import Rank, Scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What each list is worth. They need not add up to one; the fused score is divided by their sum."""

    vector: float = 0.5
    keyword: float = 0.5
    key: float = 0.3
    recency: float = 0.02

    def of(self, name: str) -> float:
        """The weight of the list called `name`, 0 for one that is not known."""
        return float(getattr(self, name, 0.0))


@dataclass(slots=True)
class Fused:
    """One memory after fusion: its score in 0..1 and its place in each list it was in."""

    memory_id: str
    score: float = 0.0
    ranks: dict[str, Rank] = field(default_factory=dict)


def normalised(entries: Sequence[Scored]) -> list[float]:
    """The entries' scores, mapped to 0..1 by their own minimum and maximum; a list of equal scores maps to ones."""
    if not entries:
        return []
    scores = [entry.score for entry in entries]
    low, high = min(scores), max(scores)
    if high - low <= 1e-12:
        return [1.0] * len(scores)
    return [(score - low) / (high - low) for score in scores]


def fuse(lists: Mapping[str, Sequence[Scored]], weights: Weights) -> list[Fused]:
    """All memories of all lists, best first; equal scores in order of memory_id, newest first."""
    total = sum(weights.of(name) for name, entries in lists.items() if entries) or 1.0
    fused: dict[str, Fused] = {}
    for name, entries in lists.items():
        share = weights.of(name) / total
        for position, (entry, score) in enumerate(zip(entries, normalised(entries), strict=True), start=1):
            one = fused.setdefault(entry.memory_id, Fused(entry.memory_id))
            one.score += share * score
            one.ranks[name] = Rank(position=position, score=entry.score)
    return sorted(fused.values(), key=lambda one: (one.score, one.memory_id), reverse=True)
