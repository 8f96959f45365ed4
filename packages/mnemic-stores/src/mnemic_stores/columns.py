"""Columns of numbers that grow at their end, by place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemic.types import Vector


class AppendOnlyColumn:
    """A numpy array that grows at its end in amortised constant time."""

    def __init__(self, dtype: Any, *shape: int) -> None:
        self._room = np.zeros((16, *shape), dtype)
        self._size = 0

    @property
    def all(self) -> NDArray[Any]:
        """The values so far: a view, valid until the next `extend`."""
        return self._room[: self._size]

    @property
    def nbytes(self) -> int:
        """Memory in use, spare capacity included."""
        return self._room.nbytes

    def extend(self, values: NDArray[Any] | Sequence[Any]) -> None:
        """Append `values`."""
        size = self._size + len(values)
        if size > len(self._room):
            room = np.zeros((max(size, 2 * len(self._room)), *self._room.shape[1:]), self._room.dtype)
            room[: self._size] = self.all
            self._room = room
        self._room[self._size : size] = values
        self._size = size

    def take_over(self, values: NDArray[Any]) -> None:
        """Adopt these values without copying them."""
        self._room, self._size = values, len(values)


class NarrowColumn(AppendOnlyColumn):
    """Integers in as few bytes as the largest of them needs: most columns of a scope contain a few small ones."""

    def __init__(self) -> None:
        super().__init__(np.int8)
        self._least, self._most = _ends(np.int8)

    def extend(self, values: NDArray[Any] | Sequence[int]) -> None:
        """Append `values`."""
        if len(values):
            if isinstance(values, np.ndarray):
                lowest, highest = int(values.min()), int(values.max())
            else:  # what a write appends is one number, for which numpy takes its time
                lowest, highest = min(values), max(values)
            if lowest < self._least or highest > self._most:
                lowest, highest = min(lowest, self._least), max(highest, self._most)
                # Widened for the whole column at once; that happens at most three times in its life.
                width = next(one for one in _WIDTHS if _ends(one)[0] <= lowest and highest <= _ends(one)[1])
                self._room = self._room.astype(width)
                self._least, self._most = _ends(width)
        super().extend(values)


_WIDTHS = (np.int8, np.int16, np.int32, np.int64)


def _ends(width: Any) -> tuple[int, int]:
    about = np.iinfo(width)
    return int(about.min), int(about.max)


class SparseColumn:
    """A column that is empty at most places: only the values present take memory."""

    def __init__(self) -> None:
        self._places = AppendOnlyColumn(np.uint32)
        self._values = AppendOnlyColumn(np.int64)

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        return self._places.nbytes + self._values.nbytes

    def extend(self, first: int, values: Sequence[int | None]) -> None:
        """Record the values of the places from `first` on; places come in order."""
        having = [offset for offset, value in enumerate(values) if value is not None]
        if having:
            self._places.extend(np.array(having) + first)
            self._values.extend([values[offset] for offset in having])

    def up_to(self, moment: int) -> NDArray[np.uint32]:
        """Return the places whose value is there and not above `moment`."""
        places: NDArray[np.uint32] = self._places.all[self._values.all <= moment]
        return places

    def over(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a copy of `values`, overwritten where this column has a value."""
        copied = values.copy()
        copied[self._places.all] = self._values.all
        return copied


_CHUNK = 1 << 14
"""Number of vectors processed together, so that intermediate results stay in the processor's cache."""

_NEVER = np.iinfo(np.uint16).max
_LEAST, _PART = 2_000, 250
"""Minimum number of candidates, and one candidate per so many vectors. On 29,600 vectors of messages, 2,000 candidates
contained 100 % of the 10 nearest and 99.5 % of the 100 nearest (docs/benchmarks/performance.md).
"""

_FEWEST, _TIMES = 500, 10
"""At least so many, and so many for each that is wanted, are left by a closer look (same page)."""


class QuantisedVectors:
    """The signs of vectors by place, one column of 64 bits after the other."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._average = np.zeros(dimension, np.float32)
        self._gaps = np.ones(dimension, np.float32)
        self._columns = [AppendOnlyColumn(np.uint64) for _ in range(-(-dimension // 64))]

    def __len__(self) -> int:
        return len(self._columns[0].all)

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        return sum(column.nbytes for column in self._columns)

    def learn(self, sample: NDArray[np.float32]) -> None:
        """Learn from these vectors, before the first `extend`, the mean of each dimension and how far the vectors above
        it are from those below. Without this the mean is 0, which is wrong for vectors that are not centred.
        """
        self._average = sample.mean(axis=0)
        above = sample > self._average
        counts = above.sum(axis=0)
        sums = np.where(above, sample, 0).sum(axis=0)
        rest = sample.sum(axis=0) - sums
        self._gaps = (sums / np.maximum(counts, 1) - rest / np.maximum(len(sample) - counts, 1)).astype(np.float32)

    def extend(self, vectors: NDArray[np.float32]) -> None:
        """Append the signs of these vectors."""
        for first in range(0, len(vectors), _CHUNK):
            words = self._words(vectors[first : first + _CHUNK])
            for column, values in zip(self._columns, words.T, strict=True):
                column.extend(values)

    def nearest(self, among: NDArray[np.bool_], vector: NDArray[np.float32], *, limit: int) -> NDArray[np.int64]:
        """Return the likely nearest of the places that `among` marks, by Hamming distance: many times `limit`, or all
        of them if there are few.
        """
        most = max(_LEAST, 20 * limit, len(self) // _PART)
        if np.count_nonzero(among) <= most:
            return np.flatnonzero(among)
        apart = self._apart(vector)
        # Filtered after counting: the distances of all places in one pass are cheaper than gathering the wanted ones
        # first.
        apart[~among] = _NEVER
        return np.flatnonzero(apart <= np.partition(apart, most - 1)[most - 1])

    def closest(self, places: NDArray[np.int64], vector: NDArray[np.float32], *, limit: int) -> NDArray[np.int64]:
        """Return the likely nearest of these places, a multiple of `limit`: those with the highest product of signs and
        `vector`, and those with the smallest Hamming distance.
        """
        most = max(_FEWEST, _TIMES * limit)
        if len(places) <= most + limit:
            return places
        words = np.stack([column.all[places] for column in self._columns], axis=1)
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=self._dimension)
        # Asymmetric distance: the query keeps its full precision, only the stored vectors are reduced to signs.
        product = bits.astype(np.float32) @ (vector * self._gaps)
        apart = np.bitwise_count(words ^ self._words(vector[None, :])).sum(axis=1)
        chosen = np.zeros(len(places), np.bool_)
        chosen[np.argpartition(-product, most - 1)[:most]] = True
        # The nearest by Hamming distance stay in as a safeguard against an unfortunate weighting.
        chosen[np.argpartition(apart, limit - 1)[:limit]] = True
        return places[chosen]

    def forget(self, places: NDArray[np.int64]) -> None:
        """Erase the signs of these places."""
        for column in self._columns:
            column.all[places[places < len(self)]] = 0

    def _apart(self, vector: NDArray[np.float32]) -> NDArray[np.uint16]:
        """Return the Hamming distance of each vector from this one."""
        apart = np.zeros(len(self), np.uint16)
        wanted = self._words(vector[None, :])[0]
        other, bits = np.empty(_CHUNK, np.uint64), np.empty(_CHUNK, np.uint8)
        for first in range(0, len(apart), _CHUNK):
            counted = apart[first : first + _CHUNK]
            size = len(counted)
            for column, word in zip(self._columns, wanted, strict=True):
                np.bitwise_xor(column.all[first : first + size], word, out=other[:size])
                counted += np.bitwise_count(other[:size], out=bits[:size])
        return apart

    def _words(self, vectors: NDArray[np.float32]) -> NDArray[np.uint64]:
        packed = np.zeros((len(vectors), 8 * len(self._columns)), np.uint8)
        bits = np.packbits(vectors > self._average, axis=1)
        packed[:, : bits.shape[1]] = bits
        return packed.view(np.uint64)


Read = Callable[[Sequence[int]], Sequence[Vector | None]]
"""The stored vectors of these rows, in their order; None for a row that is not there, or has none."""

_SAMPLE = 8192
"""Maximum number of vectors that the averages are computed from."""

_PAGE = 1024
"""Vectors read from the store at a time."""


class Vectors:
    """Unit vectors by place; one that is forgotten is zero.

    While `whole`, all are in memory. Once `thinned` there are 48 bytes of each (at 384 dimensions), and those to be
    compared are read.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._matrix: AppendOnlyColumn | None = AppendOnlyColumn(np.float32, dimension)
        self._quantised = QuantisedVectors(dimension)
        self._present = AppendOnlyColumn(np.bool_)

    @property
    def whole(self) -> bool:
        """True if every vector is in memory."""
        return self._matrix is not None

    @property
    def present(self) -> NDArray[np.bool_]:
        """Mask of the places that have a vector: a view, valid until the next `extend`."""
        return self._present.all

    @property
    def matrix(self) -> NDArray[np.float32]:
        """Every vector by place. Raises AssertionError once thinned."""
        assert self._matrix is not None
        return self._matrix.all

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        return self._quantised.nbytes + self._present.nbytes + (0 if self._matrix is None else self._matrix.nbytes)

    def extend(self, vectors: Sequence[Vector | None]) -> None:
        """Append the vectors of further places."""
        blank = bytes(4 * self._dimension)
        packed = b"".join(vector or blank for vector in vectors)
        added = np.frombuffer(packed, "<f4").reshape(-1, self._dimension)
        self._present.extend([vector is not None for vector in vectors])
        if self._matrix is None:
            self._quantised.extend(added)
        else:
            self._matrix.extend(added)

    def thin(self) -> None:
        """Drop the vectors and keep only their signs from here on."""
        self._quantise_rest()
        self._matrix = None

    def forget(self, places: NDArray[np.int64]) -> None:
        """Erase the vectors of these places."""
        self._quantised.forget(places)
        if self._matrix is not None:
            self._matrix.all[places] = 0.0

    def likely(self, among: NDArray[np.bool_], wanted: NDArray[np.float32], *, limit: int) -> NDArray[np.int64]:
        """Return the candidates for the `limit` nearest of the places that `among` marks, chosen by their signs; at
        least `limit` if there are as many.
        """
        self._quantise_rest()
        likely = self._quantised.nearest(among, wanted, limit=limit)
        return likely if self.whole else self._quantised.closest(likely, wanted, limit=limit)

    def cosines(
        self, places: NDArray[np.int64], wanted: NDArray[np.float32], rows: NDArray[np.int64], read: Read | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return those of `places` that have a vector, and the cosine of each with `wanted`. `rows` are the rows of all
        places; `read` supplies the vectors once thinned.
        """
        if self._matrix is None:
            assert read is not None
            return self._read_cosines(places, wanted, rows, read)
        # A row at a time: the scan is bound by memory, and a product on several threads stalls when a core is taken.
        # Gathering scattered rows costs about four times as much as reading them in sequence.
        if 4 * len(places) < len(self._matrix.all):
            scores = np.vecdot(self._matrix.all[places], wanted)
        else:
            scores = np.vecdot(self._matrix.all, wanted)[places]
        return places, scores.astype(np.float64)

    def _read_cosines(
        self, places: NDArray[np.int64], wanted: NDArray[np.float32], rows: NDArray[np.int64], read: Read
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        there, scores = [np.zeros(0, np.bool_)], [np.zeros(0, np.float64)]
        for first in range(0, len(places), _PAGE):
            page = read(rows[places[first : first + _PAGE]].tolist())
            packed = b"".join(vector for vector in page if vector is not None)
            there.append(np.array([vector is not None for vector in page], np.bool_))
            scores.append(np.vecdot(np.frombuffer(packed, "<f4").reshape(-1, self._dimension), wanted))
        return places[np.concatenate(there)], np.concatenate(scores)

    def _quantise_rest(self) -> None:
        if self._matrix is not None and len(self._quantised) < len(self._matrix.all):
            there = np.flatnonzero(self._present.all)
            if not len(self._quantised) and len(there):
                # Learnt once: the signs of all vectors must refer to the same averages.
                self._quantised.learn(self._matrix.all[there[:: 1 + len(there) // _SAMPLE]])
            self._quantised.extend(self._matrix.all[len(self._quantised) :])


_SPAN = 1 << 16
"""Places of one part: a place inside it takes two bytes, and putting a part in order little room."""

_BATCH = 1 << 14
_TAIL = 4096
_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)


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

    def of(self, term: np.uint32) -> tuple[NDArray[np.int64], NDArray[Any]] | None:
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
        # What waits is there as it came, an object for each place.
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
        """Merge what was appended; return True if there was any. A writer needs only vectors and leaves this to the
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
        # The tail may grow with the part: sorting at a fixed size would take quadratic time in all.
        if len(self._late_terms.all) > _TAIL + len(self._open.places) // 16:
            self._settle()
        return bool(fields)

    def of(self, term: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the places that contain `term`, each once, and how often."""
        wanted = np.uint32(term)
        found = [rows for part in (*self._full, self._open) if (rows := part.of(wanted)) is not None]
        # The tail is unsorted, so it is scanned; it is short.
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
