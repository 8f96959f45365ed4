"""Vectors that are about to be compared with a scope: one pass over its memories for all of them.

A pass for each is bound by memory, since it reads every vector to use it once; a product of matrices reads it once for
all. The product rounds otherwise than the pass does, so it only says which memories are worth multiplying out: all
that may be near enough, and a few that are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemic.types import Vector

MOST = 256
"""Vectors kept in mind, the latest."""

_ROWS = 4096
"""Vectors of the scope multiplied at a time: what comes of them stays in the processor's cache."""

_SLACK = 1e-4
"""How far two ways of adding up the same products may lie apart: a hundred times what was seen."""

_PART = 8
"""One in so many near a vector: then all are multiplied out, and nothing is kept."""


class Near(NamedTuple):
    """Which of the first `until` places may be at least `at_least` near to a vector."""

    places: NDArray[np.int32]
    until: int
    at_least: float


class Expected:
    """What was seen of the vectors to come. A place keeps its vector for good, so it stays true as places are added."""

    def __init__(self) -> None:
        self._near: dict[Vector, Near] = {}

    @property
    def nbytes(self) -> int:
        """Memory in use, about."""
        return sum(near.places.nbytes + len(vector) for vector, near in self._near.items())

    def look(self, matrix: NDArray[np.float32], vectors: Sequence[Vector], at_least: float) -> None:
        """Note for each of `vectors` which rows of `matrix` may be at least `at_least` near."""
        wanted = np.frombuffer(b"".join(vectors), "<f4").reshape(len(vectors), -1)
        found: list[list[NDArray[np.int32]]] = [[] for _ in vectors]
        for first in range(0, len(matrix), _ROWS):
            near = wanted @ matrix[first : first + _ROWS].T >= at_least - _SLACK
            for places, marked in zip(found, near, strict=True):
                places.append((np.flatnonzero(marked) + first).astype(np.int32))
        for vector, places in zip(vectors, found, strict=True):
            if sum(map(len, places)) * _PART <= len(matrix) and places:
                self._near[vector] = Near(np.concatenate(places), len(matrix), at_least)
        for vector in list(self._near)[:-MOST]:
            del self._near[vector]

    def near(self, vector: Vector, at_least: float, size: int) -> NDArray[np.int64] | None:
        """Of `size` places those that may be at least `at_least` near to `vector`, and all that nobody looked at; None
        where nothing is known.
        """
        near = self._near.get(vector)
        if near is None or near.at_least > at_least:
            return None
        return np.concatenate([near.places.astype(np.int64), np.arange(near.until, size)])
