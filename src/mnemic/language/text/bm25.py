"""BM25 over two fields, the formula of every store's keyword list, and the order of a few texts with the statistics of
those alone.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), section 3.6 (BM25F): the term
frequencies of the fields are length-normalised and weighted before they saturate together.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from mnemic.language.text.analyse import parse_query, terms


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


N = TypeVar("N")
"""Identifier of a text: a row's number, a place in a list."""


def keyword_scores(texts: Mapping[N, str], query: str) -> dict[N, float]:
    """Return the BM25 of each text that shares a word with `query`, with the statistics of the given texts."""
    counts = {name: _count_terms(text) for name, text in texts.items()}
    if not counts:
        return {}
    average = sum(count.total() for count in counts.values()) / len(counts) or 1.0
    scores: Counter[N] = Counter()
    for word in parse_query(query).terms:
        holding = [name for name, count in counts.items() if word in count]
        idf = BM25.idf(len(counts), len(holding))
        for name in holding:
            frequency = BM25.frequency(1.0, counts[name][word], counts[name].total(), average)
            scores[name] += BM25.gain(idf, frequency)
    return dict(scores)


@lru_cache(maxsize=4096)
def _count_terms(text: str) -> Counter[str]:
    return Counter(terms(text))
