"""A numpy array that grows at its end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Growing:
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
        """Memory in use, spare room included."""
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
