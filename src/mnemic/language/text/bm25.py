"""BM25 over two fields, the formula of every store's keyword list.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), section 3.6 (BM25F): the term
frequencies of the fields are length-normalised and weighted before they saturate together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25:
    """Parameters of the keyword list.

    `k1` (above 0) sets how soon repetition stops helping, `b` (0 to below 1) how strongly long fields are penalised;
    `content_weight` and `context_weight` are the weights of an occurrence in each field.
    """

    k1: float = 1.2
    b: float = 0.75
    content_weight: float = 1.0
    context_weight: float = 0.5

    def idf(self, total: int, containing: int) -> float:
        """Return the weight of a term that `containing` of `total` memories contain; always positive."""
        return math.log1p((total - containing + 0.5) / (containing + 0.5))

    def frequency(self, weight: float, count: Any, length: Any, average: float) -> Any:
        """Return a term's weighted, length-normalised frequency in a field; `count` and `length` may be arrays."""
        return weight * count / (1.0 - self.b + self.b * length / average)

    def gain(self, idf: float, frequency: Any) -> Any:
        """Return the contribution of one term to the score; `frequency` may be an array."""
        return idf * frequency / (self.k1 + frequency)


BM25 = Bm25()
"""The parameters of every keyword list."""
