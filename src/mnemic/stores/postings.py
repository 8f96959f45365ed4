"""Inverted index of one field: the places of each term, and how often it occurs there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemic.language.text.bm25 import BM25
from mnemic.stores.columns import AppendOnlyColumn, NarrowColumn

_SPAN = 1 << 16
"""Places of one part: a place inside it takes two bytes, and putting a part in order little room."""

_BATCH = 1 << 14
_TAIL = 4096
_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)
_NONE = (np.zeros(0, np.int64), np.zeros(0))


class PostingsSegment(NamedTuple):
    """Terms of up to `_SPAN` places from `first` on: each term once, in order, followed by its places."""

    first: int
    terms: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    places: NDArray[np.uint16]
    counts: NDArray[Any]

    @property
    def nbytes(self) -> int:
        return self.terms.nbytes + self.starts.nbytes + self.places.nbytes + self.counts.nbytes

    def places_with_term(self, term: np.uint32) -> tuple[NDArray[np.int64], NDArray[Any]] | None:
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return None
        inside = slice(int(self.starts[at]), int(self.starts[at + 1]))
        return self.places[inside] + np.int64(self.first), self.counts[inside]


def _part(first: int, terms: NDArray[np.uint32], places: NDArray[np.uint16], counts: NDArray[Any]) -> PostingsSegment:
    """Return the part of these postings, which are in the order of their terms."""
    begins = np.flatnonzero(terms[1:] != terms[:-1]) + 1
    starts = np.concatenate([[0], begins, [len(terms)]]) if len(terms) else np.zeros(1)
    most = int(counts.max()) if len(counts) else 0
    # Most terms occur a few times in a text: one byte is enough in nearly every part.
    narrow = counts.astype(np.min_scalar_type(most))
    return PostingsSegment(first, terms[starts[:-1].astype(np.int64)], starts.astype(np.uint32), places, narrow)


def _nothing(first: int) -> PostingsSegment:
    return _part(first, np.zeros(0, np.uint32), np.zeros(0, np.uint16), np.zeros(0, np.uint8))


class Postings:
    """Places that have a term in one field, and how often: parts sorted by term, the last with an unsorted tail."""

    def __init__(self) -> None:
        self._full: list[PostingsSegment] = []
        self._open = _nothing(0)
        self._late_terms, self._late_places, self._late_counts = self._tail()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self.lengths = NarrowColumn()

    @staticmethod
    def _tail() -> tuple[AppendOnlyColumn, AppendOnlyColumn, AppendOnlyColumn]:
        return AppendOnlyColumn(np.uint32), AppendOnlyColumn(np.uint16), AppendOnlyColumn(np.uint32)

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        tail = self._late_terms.nbytes + self._late_places.nbytes + self._late_counts.nbytes
        parts = sum(part.nbytes for part in (*self._full, self._open))
        # Pending values are as they came, an object for each place.
        waiting = self._waiting_bytes + 40 * len(self._waiting)
        return parts + tail + waiting + self.lengths.nbytes

    def extend(self, fields: Sequence[bytes]) -> None:
        """Append the field of each further place; it is found from the next `catch_up` on."""
        self._waiting += fields
        self._waiting_bytes += sum(map(len, fields))
        # Bounds the unmerged fields of a process that only writes.
        if len(self._waiting) >= _SPAN:
            self.catch_up()

    def catch_up(self) -> bool:
        """Merge appended values; return True if there were any. A writer needs only vectors and leaves this to the next
        search for words.
        """
        fields, self._waiting, self._waiting_bytes = self._waiting, [], 0
        taken = 0
        while taken < len(fields):
            room = self._open.first + _SPAN - len(self.lengths.all)
            batch = fields[taken : taken + min(room, _BATCH)]
            self._take(batch)
            taken += len(batch)
            if len(batch) == room:
                self._settle()
                self._full.append(self._open)
                self._open = _nothing(len(self.lengths.all))
        # The tail may grow with the part: sorting at a fixed size would take quadratic time in all.
        if len(self._late_terms.all) > _TAIL + len(self._open.places) // 16:
            self._settle()
        return bool(fields)

    def places_with_term(self, term: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the places that contain `term`, each once, and how often."""
        if not (self._full or len(self._open.terms) or len(self._late_terms)):
            return _NONE  # as the contexts of most scopes are
        wanted = np.uint32(term)
        found = [rows for part in (*self._full, self._open) if (rows := part.places_with_term(wanted)) is not None]
        # The tail is unsorted, so it is scanned; it is short.
        late = np.flatnonzero(self._late_terms.all == wanted)
        if len(late):
            found.append((self._late_places.all[late] + np.int64(self._open.first), self._late_counts.all[late]))
        if not found:
            return _NONE
        if len(found) == 1:
            return found[0][0], found[0][1].astype(np.float64)
        places, counts = zip(*found, strict=True)
        return np.concatenate(places), np.concatenate(counts, dtype=np.float64)

    def _take(self, fields: Sequence[bytes]) -> None:
        """Append these fields to the tail; they fit into the open part."""
        first = len(self.lengths.all) - self._open.first
        offsets = np.repeat(np.arange(len(fields)), [len(field) // 4 for field in fields])
        terms = np.frombuffer(b"".join(fields), "<u4")
        offsets, terms = offsets[terms != 0], terms[terms != 0]
        self.lengths.extend(np.bincount(offsets, minlength=len(fields)))
        # Term and place in one integer: a single sort orders by both.
        pairs, counts = np.unique(terms.astype(np.uint64) << _HALF | offsets.astype(np.uint64), return_counts=True)
        self._late_terms.extend(pairs >> _HALF)
        self._late_places.extend((pairs & _LOWER) + np.uint64(first))
        self._late_counts.extend(counts)

    def _settle(self) -> None:
        """Sort the tail into the open part."""
        part = self._open
        terms = np.concatenate([np.repeat(part.terms, np.diff(part.starts)), self._late_terms.all])
        order = np.argsort(terms, kind="stable")
        places = np.concatenate([part.places, self._late_places.all])[order]
        counts = np.concatenate([part.counts, self._late_counts.all])[order]
        self._open = _part(part.first, terms[order], places, counts)
        self._late_terms, self._late_places, self._late_counts = self._tail()


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
