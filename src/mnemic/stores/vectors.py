"""Unit vectors of one scope by place: whole ones, or their signs if the store rereads the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mnemic.stores.columns import AppendOnlyColumn
from mnemic.types import Vector

_CHUNK = 1 << 14
"""Number of vectors processed together, so that intermediate results stay in the processor's cache."""

_NEVER = np.iinfo(np.uint16).max
_LEAST, _PART = 2_000, 250
"""Minimum number of candidates, and one candidate per so many vectors. On 29,600 vectors of messages, 2,000 candidates
contained 100 % of the 10 nearest and 99.5 % of the 100 nearest (bench/performance.md).
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
        apart = self._hamming_distances(vector)
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
        # Asymmetric distance: the query has full precision, only the stored vectors are reduced to signs.
        product = np.vecdot(bits.astype(np.float32), vector * self._gaps)
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

    def _hamming_distances(self, vector: NDArray[np.float32]) -> NDArray[np.uint16]:
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
        """Drop the vectors; only their signs remain."""
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
        """Return the places that have a vector, and the cosine of each with `wanted`. `rows` are the rows of all
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

    def find_near(
        self, accepted: NDArray[np.bool_], wanted: NDArray[np.float32], at_least: float
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the accepted places that have a vector with a cosine of at least `at_least`, and their cosines. Raises
        AssertionError once thinned.
        """
        # Few are near enough, so the others are neither gathered nor converted.
        scores = np.vecdot(self.matrix, wanted)
        places = np.flatnonzero(scores >= at_least)
        places = places[accepted[places] & self.present[places]]
        exact = scores[places].astype(np.float64)
        enough = exact >= at_least
        return places[enough], exact[enough]

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
