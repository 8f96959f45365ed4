"""Ratings of a search's user: they move a memory by a fixed amount, however often it is rated.

The amount is that of two small signs, so that a memory rated useful does not precede one that answers a question much
better, and one rated wrong is still found where nothing else answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from mnemic.types import Memory
from mnemic.types.ratings import Rating

RATED = "rating"
"""Name of the shift by a rating among the signs of a hit."""
SHIFT = 0.2
"""Points added to the fused score of a memory rated useful, and taken from that of one rated wrong."""
ODDS = 1.0
"""The same for the logarithm of the odds that it is relevant."""


def shift_of(memory: Memory, ratings: Mapping[str, Rating]) -> float:
    """Return the shift of a memory's score, 0 without a rating that still counts for it."""
    rating = ratings.get(memory.memory_id)
    if rating is None or not rating.counts_for(memory):
        return 0.0
    return SHIFT if rating.verdict == "useful" else -SHIFT


def weigh_ratings(
    scores: Mapping[str, float], memories: Mapping[str, Memory], ratings: Mapping[str, Rating]
) -> Mapping[str, float]:
    """Return the scores, those of rated `memories` shifted."""
    return _moved(scores, memories, ratings, lambda score, shift: max(0.0, score + shift))


def rated_relevances(
    relevances: Mapping[str, float], memories: Mapping[str, Memory], ratings: Mapping[str, Rating]
) -> Mapping[str, float]:
    """Return the probabilities, those of rated `memories` with odds that are e to the power of `ODDS` as large."""

    def move(chance: float, shift: float) -> float:
        odds = chance * math.exp(ODDS * shift / SHIFT)
        return odds / (odds + 1.0 - chance)

    return _moved(relevances, memories, ratings, move)


def _moved(
    figures: Mapping[str, float],
    memories: Mapping[str, Memory],
    ratings: Mapping[str, Rating],
    move: Callable[[float, float], float],
) -> Mapping[str, float]:
    rated = ratings.keys() & figures.keys() & memories.keys()
    shifts = {one: shift for one in rated if (shift := shift_of(memories[one], ratings))}
    return {**figures, **{one: move(figures[one], shift) for one, shift in shifts.items()}} if shifts else figures
