"""Scores of the memories of a scope for the terms of a query: BM25 over two fields."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from mnemic_language.text.bm25 import BM25
from mnemic_stores.postings import Postings


def text_scores(
    fields: tuple[Postings, Postings], active: NDArray[np.bool_], terms: Iterable[int]
) -> NDArray[np.float64]:
    """Return the score of every place; `fields` are the contents and the contexts, `active` the places that count."""
    scores = np.zeros(len(active))
    weighted = list(zip(fields, (BM25.content_weight, BM25.context_weight), strict=True))
    total = int(np.count_nonzero(active))
    averages = [int(field.lengths.all[active].sum(dtype=np.int64)) / max(total, 1) or 1.0 for field in fields]
    frequency = np.zeros_like(scores)
    for term in terms:
        holders = np.zeros(0, np.int64)
        for (field, weight), average in zip(weighted, averages, strict=True):
            places, counts = field.of(term)
            holders = np.concatenate([holders, places[frequency[places] == 0]])
            frequency[places] += BM25.frequency(weight, counts, field.lengths.all[places], average)
        idf = BM25.idf(total, int(np.count_nonzero(active[holders])))
        scores[holders] += BM25.gain(idf, frequency[holders])
        frequency[holders] = 0.0
    return scores
