"""Ratings of a search's user: they move a memory by a fixed amount, however often it is rated.

The amount is that of two small signs, so that a memory rated useful does not precede one that answers a question much
better, and one rated wrong is still found where nothing else answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

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
    shifts = _shifts(scores, memories, ratings)
    if not shifts:
        return scores
    return {**scores, **{one: max(0.0, scores[one] + shift) for one, shift in shifts.items()}}


def rated_relevances(
    relevances: Mapping[str, float], memories: Mapping[str, Memory], ratings: Mapping[str, Rating]
) -> Mapping[str, float]:
    """Return the probabilities, those of rated `memories` shifted."""
    shifts = _shifts(relevances, memories, ratings)
    if not shifts:
        return relevances
    return {**relevances, **{one: _moved(relevances[one], shift / SHIFT) for one, shift in shifts.items()}}


def _moved(chance: float, times: float) -> float:
    """Return the probability whose odds are e to the power of `ODDS` as large, `times` times."""
    odds = chance * math.exp(ODDS * times)
    return odds / (odds + 1.0 - chance)


def _shifts(
    figures: Mapping[str, float], memories: Mapping[str, Memory], ratings: Mapping[str, Rating]
) -> dict[str, float]:
    rated = ratings.keys() & figures.keys() & memories.keys()
    return {one: shift for one in rated if (shift := shift_of(memories[one], ratings))}
