"""Fusion of several ranked lists into one.

A convex combination of normalised scores (Bruch, Gai and Ingber, "An Analysis of Fusion Functions for Hybrid
Retrieval", ACM TOIS 2023): it preserves the distance between two hits, which reciprocal ranks discard.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from mnemic.types import Rank, Scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """Weight of each list in the fused score. `graph` and `near` are lists for queries that name something with
    relations (`mnemic.retrieve.graph_neighbourhood`); with both at 0 they are not made. `search_index` weighs the list
    of a search service, if one is set up.
    """

    # Round numbers, set by hand on five conversations of LoCoMo and measured on the other five.
    vector: float = 0.4
    keyword: float = 0.5
    key: float = 0.3
    recency: float = 0.01
    graph: float = 0.3
    near: float = 0.3
    search_index: float = 0.3

    @property
    def most(self) -> float:
        """Return the highest score that the lists of every query can give together."""
        # Without graph and search service: few queries have these lists, and scores must compare between queries.
        return self.vector + self.keyword + self.key + self.recency

    def weight_of(self, name: str) -> float:
        """Return the weight of the list `name`, 0 for an unknown one."""
        return float(getattr(self, name, 0.0))


FROM_ZERO = frozenset({"keyword", "key", "near"})
"""Lists whose scores mean something at zero."""
SHARES = frozenset({"graph"})
"""Lists whose scores are shares already, 0 to 1: the best of such a list may be worth little."""


def normalise_scores(scores: Sequence[float], *, from_zero: bool) -> Sequence[float]:
    """Return the scores mapped so that the best is 1: from zero for scores that mean something at zero (BM25), else
    from the list's own lowest (cosines, times). Equal scores map to 1.
    """
    if not scores:
        return []
    low, high = (0.0 if from_zero else min(scores)), max(scores)
    # Equal scores would divide by zero; none of them is better than another.
    if high - low <= 1e-12:
        return [1.0] * len(scores)
    span = high - low
    return [(score - low) / span for score in scores]


WEAK = 0.2
"""Fraction of the score that all query words in one memory would give, below which a best keyword hit counts as weak.
"""
UNREAD = 0.25
"""Share of its weight that the list of meaning keeps if the model does not know the letters of the query."""
# As many as a list has at most (`Searcher.depth`).
_USUAL_MEMORIES = 100
# Like `relevance.MIN_MEMORIES`: below it BM25 depends more on the scope than on the match.
_ENOUGH_MEMORIES = 30


def rarity(memories: int) -> float:
    """Return the weight that BM25 gives a word that occurs in one of `memories` memories."""
    # The usual idf, log(1 + (N - n + 0.5) / (n + 0.5)), for n = 1.
    return math.log(1 + (max(1, memories) - 0.5) / 1.5)


def fuse(lists: Mapping[str, Sequence[Scored]], weights: Weights, *, words: int = 0) -> dict[str, float]:
    """Return the fused score of each memory of any list; at most the sum of the weights of the non-empty lists. The
    keyword list of a query of `words` words weighs in proportion to its best match, so that a weak best hit does not
    count as a full one.
    """
    fused: dict[str, float] = {}
    # The list of meaning names every memory of a small scope; without it, a usual number.
    memories = len(lists.get("vector", ())) or _USUAL_MEMORIES
    # Among few memories every word is common, so a low score does not mean a bad match.
    full = WEAK * words * rarity(memories) if memories >= _ENOUGH_MEMORIES else 0.0
    for name, entries in lists.items():
        if not entries:
            continue
        weight, (ids, scores) = weights.weight_of(name), zip(*entries, strict=True)
        # The best hit of a list is mapped to 1 regardless of its score: without this, one common word would count like
        # all.
        if name == "keyword" and full:
            weight *= min(1.0, max(scores) / full)
        shares = scores if name in SHARES else normalise_scores(scores, from_zero=name in FROM_ZERO)
        # The first list needs no lookups; in most searches it is the longest.
        if not fused:
            fused = {memory_id: weight * share for memory_id, share in zip(ids, shares, strict=True)}
            continue
        so_far = fused.get
        for memory_id, share in zip(ids, shares, strict=True):
            fused[memory_id] = so_far(memory_id, 0.0) + weight * share
    return fused


def shares_of(scores: Mapping[str, float], most: float) -> dict[str, float]:
    """Return the scores as parts of `most`, 0 to 1."""
    return {one: score / most if 0.0 <= score <= most else float(score > most) for one, score in scores.items()}


def either(one: Mapping[str, float], other: Mapping[str, float]) -> dict[str, float]:
    """Return the higher of two scores of each memory: a memory that answers one part of a question counts fully."""
    # The maximum, not the sum: a memory that touches every part a little answers none of them.
    return {memory_id: max(one.get(memory_id, 0.0), other.get(memory_id, 0.0)) for memory_id in {**one, **other}}


def longer(lists: Mapping[str, Sequence[Scored]], more: Mapping[str, Sequence[Scored]]) -> dict[str, Sequence[Scored]]:
    """Return `lists`, each followed by the further entries of the list with its name in `more`."""
    joined = dict(lists)
    for name, entries in more.items():
        known = {entry.memory_id for entry in joined.get(name, ())}
        joined[name] = [*joined.get(name, ()), *(entry for entry in entries if entry.memory_id not in known)]
    return joined


def nearest(one: Sequence[Scored], other: Sequence[Scored]) -> list[Scored]:
    """Return the list with the higher of two scores of each memory, as long as `one`."""
    best = either(dict(one), dict(other))
    return sorted((Scored(*entry) for entry in best.items()), key=lambda entry: -entry.score)[: len(one)]


def ranks_of(memory_ids: Iterable[str], lists: Mapping[str, Sequence[Scored]]) -> dict[str, dict[str, Rank]]:
    """For each of the memories, its place in each list it is in."""
    ranks: dict[str, dict[str, Rank]] = {memory_id: {} for memory_id in memory_ids}
    for name, entries in lists.items():
        for position, (memory_id, score) in enumerate(entries, start=1):
            if memory_id in ranks:
                ranks[memory_id][name] = Rank(position, score)
    return ranks
