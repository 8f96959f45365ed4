"""Probability that a choice depends on a preference: how near the two are, and which words and topics they share.

A topic in common alone says little, as a request for a restaurant shares one with everything about food and health;
likeness alone misses the allergy. This is a logistic model of both. `training/preferences/fit.py` fits it to statements
and requests written for this project, a request with the statements on its subject against those of others; a word in
common adds nothing to the cosine. bench/retrieval.md reports its results on a public set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

WEIGHTS: Mapping[str, float] = MappingProxyType(
    {
        "cosine": 11.22,
        "word": 0.0,
        "words": 0.0,
        "topic": 1.29,
        "touched": 1.39,
        "no_topic": 1.17,
        "any_topic": 1.07,
        "base": -4.93,
    }
)
LEAST = 0.1
"""Probability from which a preference is shown, as one of ten matters: a missed one spoils an answer, a needless one
costs a line.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSimilarity:
    """A request and a memory compared: their cosine, the number of words they share, whether they share a topic
    (`topic`) or the request touches one of the memory's (`touched`), and whether no topic is known of the memory
    (`no_topic`) or of the request (`any_topic`).
    """

    cosine: float
    shared: int
    topic: bool
    touched: bool
    no_topic: bool
    any_topic: bool

    @property
    def has_in_common(self) -> bool:
        """Return True if they share a word or a topic."""
        return self.shared > 0 or self.touched

    def features(self) -> tuple[float, ...]:
        """Return the values in the order of the weights, without the base."""
        flags = (self.shared > 0, self.shared > 1, self.topic, self.touched, self.no_topic, self.any_topic)
        return (self.cosine, *map(float, flags))

    def probability(self) -> float:
        """0 to 1."""
        *weights, base = WEIGHTS.values()
        found = sum(weight * value for weight, value in zip(weights, self.features(), strict=True))
        return 1 / (1 + math.exp(-(found + base)))
