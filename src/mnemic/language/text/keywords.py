"""A few texts ordered by the words of a query, with the statistics of those texts alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import TypeVar

from mnemic.language.text.analyse import parse_query, terms
from mnemic.language.text.bm25 import BM25

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
