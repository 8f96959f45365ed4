"""Which memories of a scope hold a term, and how often, in some three bytes for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemic.stores.growing import Growing, Narrow

_SPAN = 1 << 16
"""Places of one part: a place inside it takes two bytes, and putting a part in order little room."""

_BATCH = 1 << 14
_TAIL = 4096
_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)


class _Part(NamedTuple):
    """The terms of up to `_SPAN` places from `first` on: each term once, in order, then where it stands."""

    first: int
    terms: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    places: NDArray[np.uint16]
    counts: NDArray[Any]

    @property
    def nbytes(self) -> int:
        return self.terms.nbytes + self.starts.nbytes + self.places.nbytes + self.counts.nbytes

    def of(self, term: np.uint32) -> tuple[NDArray[np.int64], NDArray[Any]] | None:
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return None
        inside = slice(int(self.starts[at]), int(self.starts[at + 1]))
        return self.places[inside] + np.int64(self.first), self.counts[inside]


def _part(first: int, terms: NDArray[np.uint32], places: NDArray[np.uint16], counts: NDArray[Any]) -> _Part:
    """The part of these postings, which are in the order of their terms."""
    begins = np.flatnonzero(terms[1:] != terms[:-1]) + 1
    starts = np.concatenate([[0], begins, [len(terms)]]) if len(terms) else np.zeros(1)
    most = int(counts.max()) if len(counts) else 0
    narrow = counts.astype(np.min_scalar_type(most))
    return _Part(first, terms[starts[:-1].astype(np.int64)], starts.astype(np.uint32), places, narrow)


def _nothing(first: int) -> _Part:
    return _part(first, np.zeros(0, np.uint32), np.zeros(0, np.uint16), np.zeros(0, np.uint8))


class Postings:
    """Which places hold a term in one field, and how often: parts sorted by term, the last with an unsorted tail."""

    def __init__(self) -> None:
        self._full: list[_Part] = []
        self._open = _nothing(0)
        self._late_terms, self._late_places, self._late_counts = self._tail()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self.lengths = Narrow()

    @staticmethod
    def _tail() -> tuple[Growing, Growing, Growing]:
        return Growing(np.uint32), Growing(np.uint16), Growing(np.uint32)

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        tail = self._late_terms.nbytes + self._late_places.nbytes + self._late_counts.nbytes
        parts = sum(part.nbytes for part in (*self._full, self._open))
        # What waits is there as it came, an object for each place.
        waiting = self._waiting_bytes + 40 * len(self._waiting)
        return parts + tail + waiting + self.lengths.nbytes

    def extend(self, fields: Sequence[bytes]) -> None:
        """Append the field of each further place; it counts from the next `catch_up`."""
        self._waiting += fields
        self._waiting_bytes += sum(map(len, fields))
        if len(self._waiting) >= _SPAN:
            self.catch_up()

    def catch_up(self) -> bool:
        """Take in what was appended; whether that was anything. A writer, which needs vectors only, leaves that to the
        next search for words.
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
        if len(self._late_terms.all) > _TAIL + len(self._open.places) // 16:
            self._settle()
        return bool(fields)

    def of(self, term: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The places that hold `term`, each once, and how often."""
        wanted = np.uint32(term)
        found = [held for part in (*self._full, self._open) if (held := part.of(wanted)) is not None]
        late = np.flatnonzero(self._late_terms.all == wanted)
        if len(late):
            found.append((self._late_places.all[late] + np.int64(self._open.first), self._late_counts.all[late]))
        if not found:
            return np.zeros(0, np.int64), np.zeros(0)
        if len(found) == 1:
            return found[0][0], found[0][1].astype(np.float64)
        places, counts = zip(*found, strict=True)
        return np.concatenate(places), np.concatenate(counts, dtype=np.float64)

    def _take(self, fields: Sequence[bytes]) -> None:
        """Put these fields at the end of the tail; they fit into the open part."""
        first = len(self.lengths.all) - self._open.first
        offsets = np.repeat(np.arange(len(fields)), [len(field) // 4 for field in fields])
        terms = np.frombuffer(b"".join(fields), "<u4")
        offsets, terms = offsets[terms != 0], terms[terms != 0]
        self.lengths.extend(np.bincount(offsets, minlength=len(fields)))
        pairs, counts = np.unique(terms.astype(np.uint64) << _HALF | offsets.astype(np.uint64), return_counts=True)
        self._late_terms.extend(pairs >> _HALF)
        self._late_places.extend((pairs & _LOWER) + np.uint64(first))
        self._late_counts.extend(counts)

    def _settle(self) -> None:
        """Sort the tail into the open part."""
        held = self._open
        terms = np.concatenate([np.repeat(held.terms, np.diff(held.starts)), self._late_terms.all])
        order = np.argsort(terms, kind="stable")
        places = np.concatenate([held.places, self._late_places.all])[order]
        counts = np.concatenate([held.counts, self._late_counts.all])[order]
        self._open = _part(held.first, terms[order], places, counts)
        self._late_terms, self._late_places, self._late_counts = self._tail()
