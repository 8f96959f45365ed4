"""Which vectors point the same way, told by their signs: a first look at scopes too large to multiply out.

A bit for each dimension, set where the vector is above the average there, of which a sample tells. The share of bits in
which two vectors differ grows with the angle between them (Charikar, "Similarity Estimation Techniques from Rounding
Algorithms", STOC 2002), and counting them reads a thirty-second of the memory that a product of floats does. What the
look brings is multiplied out by its caller.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mnemic.stores.growing import Growing

_CHUNK = 1 << 14
"""Vectors looked at together: what is in between stays in the processor's cache."""

_NEVER = np.iinfo(np.uint16).max
_LEAST, _PART = 2_000, 250
"""At least so many, and one in so many, are brought back. On 29,600 vectors of messages 2,000 held 100 % of the 10
nearest and 99.5 % of the 100 nearest (docs/benchmarks/performance.md).
"""

_FEWEST, _TIMES = 500, 10
"""At least so many, and so many for each that is wanted, are left by a closer look (same page)."""


class Sketch:
    """The signs of vectors by place, one column of 64 bits after the other."""

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._average = np.zeros(dimension, np.float32)
        self._gaps = np.ones(dimension, np.float32)
        self._columns = [Growing(np.uint64) for _ in range(-(-dimension // 64))]

    def __len__(self) -> int:
        return len(self._columns[0].all)

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        return sum(column.nbytes for column in self._columns)

    def learn(self, sample: NDArray[np.float32]) -> None:
        """Take the averages from these vectors, and how far those above them lie from those below; before the first
        `extend`. Without it the average is 0, which is wrong where vectors lean to one side.
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
        """The places, of those that `among` marks, whose vectors are likely the nearest: many times `limit`; all where
        they are few.
        """
        most = max(_LEAST, 20 * limit, len(self) // _PART)
        if np.count_nonzero(among) <= most:
            return np.flatnonzero(among)
        apart = self._apart(vector)
        apart[~among] = _NEVER
        return np.flatnonzero(apart <= np.partition(apart, most - 1)[most - 1])

    def closest(self, places: NDArray[np.int64], vector: NDArray[np.float32], *, limit: int) -> NDArray[np.int64]:
        """Of these places the likely nearest, some times `limit`, by a closer look: what the signs alone say of the
        product with `vector`, beside those that differ in the fewest.
        """
        most = max(_FEWEST, _TIMES * limit)
        if len(places) <= most + limit:
            return places
        words = np.stack([column.all[places] for column in self._columns], axis=1)
        bits = np.unpackbits(words.view(np.uint8), axis=1, count=self._dimension)
        product = bits.astype(np.float32) @ (vector * self._gaps)
        apart = np.bitwise_count(words ^ self._words(vector[None, :])).sum(axis=1)
        chosen = np.zeros(len(places), np.bool_)
        chosen[np.argpartition(-product, most - 1)[:most]] = True
        chosen[np.argpartition(apart, limit - 1)[:limit]] = True
        return places[chosen]

    def forget(self, places: NDArray[np.int64]) -> None:
        """Nothing is left of the signs of these places."""
        for column in self._columns:
            column.all[places[places < len(self)]] = 0

    def _apart(self, vector: NDArray[np.float32]) -> NDArray[np.uint16]:
        """In how many signs each vector differs from this one."""
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
