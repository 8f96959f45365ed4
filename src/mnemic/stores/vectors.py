"""The vectors of a scope by place: whole while they are few, and else by their signs, the rest left in the store."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mnemic.stores.growing import Growing
from mnemic.stores.sketch import Sketch
from mnemic.types import Vector

Read = Callable[[Sequence[int]], Sequence[Vector | None]]
"""The stored vectors of these rows, in their order; None for a row that is not there, or has none."""

_SAMPLE = 8192
"""Vectors that tell the averages, at most."""

_PAGE = 1024
"""Vectors read from the store at a time."""


class Vectors:
    """Unit vectors by place; one that is forgotten is zero.

    While `whole`, all are in memory. Once `thinned` there are 48 bytes of each (at 384 dimensions), and those to be
    compared are read.
    """

    def __init__(self, dimension: int) -> None:
        self._dimension = dimension
        self._matrix: Growing | None = Growing(np.float32, dimension)
        self._sketch = Sketch(dimension)
        self._present = Growing(np.bool_)

    @property
    def whole(self) -> bool:
        """Whether every vector is in memory."""
        return self._matrix is not None

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which places have a vector: a view, valid until the next `extend`."""
        return self._present.all

    @property
    def matrix(self) -> NDArray[np.float32]:
        """Every vector by place. Raises AssertionError once thinned."""
        assert self._matrix is not None
        return self._matrix.all

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        return self._sketch.nbytes + self._present.nbytes + (0 if self._matrix is None else self._matrix.nbytes)

    def extend(self, vectors: Sequence[Vector | None]) -> None:
        """Append the vectors of further places."""
        blank = bytes(4 * self._dimension)
        packed = b"".join(vector or blank for vector in vectors)
        added = np.frombuffer(packed, "<f4").reshape(-1, self._dimension)
        self._present.extend([vector is not None for vector in vectors])
        if self._matrix is None:
            self._sketch.extend(added)
        else:
            self._matrix.extend(added)

    def thin(self) -> None:
        """From here on keep signs only."""
        self._sketch_rest()
        self._matrix = None

    def forget(self, places: NDArray[np.int64]) -> None:
        """Nothing is left of the vectors of these places."""
        self._sketch.forget(places)
        if self._matrix is not None:
            self._matrix.all[places] = 0.0

    def likely(self, among: NDArray[np.bool_], wanted: NDArray[np.float32], *, limit: int) -> NDArray[np.int64]:
        """Of the places that `among` marks those to multiply out in order to have the `limit` nearest, by their signs;
        never fewer than `limit` while there are as many.
        """
        self._sketch_rest()
        likely = self._sketch.nearest(among, wanted, limit=limit)
        return likely if self.whole else self._sketch.closest(likely, wanted, limit=limit)

    def cosines(
        self, places: NDArray[np.int64], wanted: NDArray[np.float32], rows: NDArray[np.int64], read: Read | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Those of `places` whose vector is at hand, and the cosine of each with `wanted`. `rows` are the rows of all
        places, and `read` is asked for the vectors once thinned.
        """
        if self._matrix is None:
            assert read is not None
            return self._read_cosines(places, wanted, rows, read)
        # A row at a time: the scan is bound by memory, and a product on several threads stalls when a core is taken.
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

    def _sketch_rest(self) -> None:
        if self._matrix is not None and len(self._sketch) < len(self._matrix.all):
            there = np.flatnonzero(self._present.all)
            if not len(self._sketch) and len(there):
                self._sketch.learn(self._matrix.all[there[:: 1 + len(there) // _SAMPLE]])
            self._sketch.extend(self._matrix.all[len(self._sketch) :])
