"""Importance of a memory, independent of the query: a figure from 0 to 1 derived from the memory itself.

Park et al., "Generative Agents" (UIST 2023), combine recency and relevance with importance, and ask a language model to
rate it from 1 to 10. No model is asked here, and nothing is counted on reads: the figure comes from the writer, or else
from the confidence of the memory, the trust in its channel, its confirmations and corrections, and whether it guides
answers. 0.5 is an ordinary memory: stated once, with the usual confidence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mnemic.types import Kind, Memory, Rank, Trust

IMPORTANCE = "importance"
"""Field of a memory's `data` with the importance given by its writer, 0 to 1; also the name of the signal."""
ORDINARY = 0.5
USUAL_CONFIDENCE = 0.8
RUNNERS_UP = 5
"""Hits read for their importance: if a hundred memories are about as relevant, reading all of them cost a search more
than all its lists.
"""
# Small steps: no single property moves a figure to 0 or 1.
_FOR_CONFIDENCE, _FOR_LOW_TRUST, _FOR_VERSION, _FOR_GUIDING = 0.5, 0.2, 0.05, 0.15
_MAX_VERSIONS = 4
_GUIDING = frozenset({"preference", "instruction"})


def importance(memory: Memory) -> float:
    """Return the importance, 0 to 1. The writer's figure counts; a channel of low trust can lower it but not raise it.
    A figure outside 0 to 1 is ignored.
    """
    if _is_ordinary(memory):
        return ORDINARY
    low = memory.trust is Trust.LOW
    rated = memory.data.get(IMPORTANCE)
    if isinstance(rated, int | float) and not isinstance(rated, bool) and 0 <= rated <= 1:
        return min(ORDINARY, float(rated)) if low else float(rated)
    guiding = memory.category in _GUIDING or memory.kind is Kind.PERSONA
    shown = (
        ORDINARY
        + _FOR_CONFIDENCE * (memory.confidence - USUAL_CONFIDENCE)
        - _FOR_LOW_TRUST * low
        + _FOR_VERSION * min(memory.version - 1, _MAX_VERSIONS)
        + _FOR_GUIDING * guiding
    )
    return round(min(1.0, max(0.0, shown)), 4)


def _is_ordinary(memory: Memory) -> bool:
    """Return True for an ordinary memory: most are, and a search checks thirty and more."""
    return (
        memory.confidence == USUAL_CONFIDENCE
        and memory.version == 1
        and memory.category not in _GUIDING
        and memory.trust is not Trust.LOW
        and memory.kind is not Kind.PERSONA
        and IMPORTANCE not in memory.data
    )


def contenders(scores: Mapping[str, float], top_k: int, weight: float, order: Sequence[str] | None = None) -> list[str]:
    """Those that can be among the `top_k` best once importance has moved every score by at most half of `weight`, best
    first, and no more than `RUNNERS_UP` beyond `top_k`: each of them is read. `order`: the memories by their scores, if
    they are in order already.
    """
    order = sorted(scores, key=scores.__getitem__, reverse=True) if order is None else order
    most = enough = top_k + RUNNERS_UP
    # Equal scores at the cut: all of them are ordered by id first, so that the choice is the same every time.
    while 0 < enough < len(order) and scores[order[enough]] == scores[order[enough - 1]]:
        enough += 1
    best = sorted(order[:enough], key=lambda one: (-scores[one], one))[:most]  # equals by their ids
    least = scores[best[:top_k][-1]] - weight if best else 0.0
    return [memory_id for memory_id in best if scores[memory_id] >= least]


def weigh_importance(scores: Mapping[str, float], memories: Mapping[str, Memory], weight: float) -> dict[str, float]:
    """Return the scores; of `memories` up to half of `weight` more for the important ones, less for the unimportant."""
    moved = dict(scores)
    for memory_id, memory in memories.items():
        # Most memories are ordinary, and are not moved.
        if (figure := importance(memory)) != ORDINARY and memory_id in moved:
            moved[memory_id] += weight * (figure - ORDINARY)
    return moved


def importance_ranks(memory_ids: Sequence[str], memories: Mapping[str, Memory]) -> dict[str, Rank]:
    """Return the importance of those that are not ordinary, and their place by it among `memory_ids`."""
    figures = {one: importance(memories[one]) for one in memory_ids if one in memories}
    if all(figure == ORDINARY for figure in figures.values()):
        return {}
    places = {one: place for place, one in enumerate(sorted(figures, key=lambda one: (-figures[one], one)), start=1)}
    return {one: Rank(places[one], figure) for one, figure in figures.items() if figure != ORDINARY}
