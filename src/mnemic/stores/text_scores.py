"""Scores of the memories of a scope for the terms of a query: BM25 over two fields."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemic.language.text.bm25 import BM25
from mnemic.stores.postings import Postings


class Quoted(NamedTuple):
    """Phrases that a memory must contain, word next to word: their terms, and a function that says of each of some rows
    with all these terms whether it contains the phrases. An index does not know the order of terms.
    """

    terms: Collection[int]
    kept: Callable[[Sequence[int]], list[bool]]


def containing(fields: tuple[Postings, Postings], terms: Iterable[int], size: int) -> NDArray[np.bool_]:
    """Mark those of `size` places that have all of `terms`, in whichever field."""
    found = np.ones(size, np.bool_)
    for term in terms:
        holders = np.zeros(size, np.bool_)
        for field in fields:
            holders[field.places_with_term(term)[0]] = True
        found &= holders
    return found


class ActivePlaces(NamedTuple):
    """The places that count in a state of a scope, their number, and the average length of each field there."""

    places: NDArray[np.bool_]
    total: int
    averages: tuple[float, ...]

    def holding(self, holders: NDArray[np.int64]) -> int:
        """Return the number of `holders` that count."""
        return len(holders) if self.total == len(self.places) else int(np.count_nonzero(self.places[holders]))


def active_of(fields: Iterable[Postings], active: NDArray[np.bool_]) -> ActivePlaces:
    """Return what every search in one state of a scope needs of its `active` places."""
    total = int(np.count_nonzero(active))
    sums = [int(field.lengths.all[active].sum(dtype=np.int64)) for field in fields]
    return ActivePlaces(active, total, tuple(found / max(total, 1) or 1.0 for found in sums))


def text_scores(fields: tuple[Postings, Postings], active: ActivePlaces, terms: Iterable[int]) -> NDArray[np.float64]:
    """Return the score of every place; `fields` are the contents and the contexts, `active` the places that count."""
    scores = np.zeros(len(active.places))
    weights = BM25.content_weight, BM25.context_weight
    total, averages = active.total, active.averages
    lengths = [field.lengths.all for field in fields]
    frequency = np.zeros_like(scores)
    for term in terms:
        found = [(number, *field.places_with_term(term)) for number, field in enumerate(fields)]
        found = [one for one in found if len(one[1])]
        # Most terms are in one of the fields: nothing has to be added up then.
        if len(found) == 1:
            number, holders, counts = found[0]
            gained = BM25.frequency(weights[number], counts, lengths[number][holders], averages[number])
        else:
            holders = np.zeros(0, np.int64)
            for number, places, counts in found:
                holders = np.concatenate([holders, places[frequency[places] == 0]])
                frequency[places] += BM25.frequency(weights[number], counts, lengths[number][places], averages[number])
            gained = frequency[holders]
            frequency[holders] = 0.0
        idf = BM25.idf(total, active.holding(holders))
        scores[holders] += BM25.gain(idf, gained)
    return scores
