"""Columns of numbers that grow at their end, by place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


class AppendOnlyColumn:
    """A numpy array that grows at its end in amortised constant time."""

    def __init__(self, dtype: Any, *shape: int) -> None:
        self._room = np.zeros((16, *shape), dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

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
        # A write appends one value, for which making an array of a list takes most of the time.
        if len(values) == 1:
            self._room[self._size] = values[0]
        else:
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
            if len(values) == 1:
                lowest = highest = int(values[0])
            elif isinstance(values, np.ndarray):
                lowest, highest = int(values.min()), int(values.max())
            else:
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
        """Return the places with a value not above `moment`."""
        places: NDArray[np.uint32] = self._places.all[self._values.all <= moment]
        return places

    def over(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return a copy of `values`, overwritten by the values of this column."""
        copied = values.copy()
        copied[self._places.all] = self._values.all
        return copied


def any_of(codes: NDArray[Any], numbers: Sequence[int]) -> NDArray[np.bool_]:
    """Mark the values that are one of these numbers."""
    # Mostly one: then no array is needed but that of the comparison.
    marked: NDArray[np.bool_] = codes == numbers[0] if numbers else np.zeros(len(codes), np.bool_)
    for number in numbers[1:]:
        marked |= codes == number
    return marked


def latest(places: NDArray[np.int64], times: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Return the last `limit` of these places if all others are older, as mostly; else all of them."""
    last, others = places[-limit:], places[:-limit]
    return last if 0 < limit < len(places) and times[others].max() < times[last].min() else places


def numbers_in(codes: NDArray[Any]) -> list[int]:
    """Return the numbers in a column, each once, in order."""
    # Not np.unique: what it needs for masked arrays costs a new process's first search a tenth of its time.
    found: list[int] = np.flatnonzero(np.bincount(codes)).tolist()
    return found
