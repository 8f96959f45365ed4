"""Cosines of several vectors with a scope in one pass, ahead of the writes that ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemic.types import Vector

MOST = 256
"""Maximum number of cached vectors, the latest."""

_ROWS = 4096
"""Number of vectors multiplied at a time, so that the products stay in the processor's cache."""

_MAX_PRODUCT = 1 << 18
"""Multiplications of one product up to which OpenBLAS stays on the thread of its caller. Beyond, its other threads
wait busily for more: a bulk load took twice the processor time (bench/performance.md).
"""

_SLACK = 1e-4
"""Bound of the difference between two ways of adding up the same products: a hundred times the largest seen."""

_MAX_NEAR = 256
"""Number of nearest places kept for one vector: a multiple of the neighbours that a write compares."""


class NearCandidates(NamedTuple):
    """Neighbour candidates of a vector among the first `until` places: all with a cosine above `least`."""

    places: NDArray[np.int32]
    until: int
    least: float


class BatchedSimilarity:
    """Batched similarity: the nearest places of vectors that will be compared soon. A place never changes its vector,
    so the result stays valid while places are added.
    """

    def __init__(self) -> None:
        self._near: dict[Vector, NearCandidates] = {}
        self.nbytes = 0
        """Memory in use, about."""

    def look(self, matrix: NDArray[np.float32], vectors: Sequence[Vector], at_least: float) -> None:
        """Record for each of `vectors` the rows of `matrix` that may have a cosine of at least `at_least` with it."""
        wanted = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
        least = at_least - _SLACK
        found = [NearCandidates(np.zeros(0, np.int32), len(matrix), at_least) for _ in vectors]
        scores = [np.zeros(0, np.float32) for _ in vectors]
        for first in range(0, len(matrix), _ROWS):
            for number, row in enumerate(products(wanted, matrix[first : first + _ROWS])):
                close = np.flatnonzero(row >= least)
                both = np.concatenate([found[number].places, (close + first).astype(np.int32)])
                similar = np.concatenate([scores[number], row[close]])
                found[number], scores[number] = _cut(found[number], both, similar)
        self._near |= zip(vectors, found, strict=True)
        for vector in list(self._near)[:-MOST]:
            del self._near[vector]
        self.nbytes = sum(near.places.nbytes + len(vector) for vector, near in self._near.items())

    def find_near(self, vector: Vector, at_least: float, size: int) -> tuple[NDArray[np.int64], float] | None:
        """Return those of `size` places with a possible cosine of `at_least` to `vector`, and all that were added
        since, with the cosine from which on none is missing; None if the vector was not prefetched.
        """
        near = self._near.get(vector)
        if near is None:
            return None
        return np.concatenate([near.places.astype(np.int64), np.arange(near.until, size)]), near.least


def products(wanted: NDArray[np.float32], matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the product of each of `wanted` with each row of `matrix`, computed on this thread alone."""
    rows = max(1, _MAX_PRODUCT // max(wanted.size, 1))
    whole = len(matrix) - len(matrix) % rows
    blocks = np.matmul(matrix[:whole].reshape(-1, rows, matrix.shape[1]), wanted.T).reshape(whole, len(wanted))
    return np.ascontiguousarray(np.concatenate([blocks, matrix[whole:] @ wanted.T]).T)


def _cut(
    near: NearCandidates, places: NDArray[np.int32], scores: NDArray[np.float32]
) -> tuple[NearCandidates, NDArray[np.float32]]:
    """Return the nearest of these places, with the cosine from which on none is missing, and their scores."""
    if len(places) <= _MAX_NEAR:
        return near._replace(places=places), scores
    kept = np.argpartition(scores, -_MAX_NEAR)[-_MAX_NEAR:]
    least = max(near.least, float(scores[kept].min()) + 2 * _SLACK)
    return NearCandidates(places[kept], near.until, least), scores[kept]
