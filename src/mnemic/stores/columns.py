"""What an index has of each memory, by place: columns of numbers that grow at their end, identifiers, and vectors with
their products, exact or of quantised copies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemic.types import Scored, Vector


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


_FIRST = 1 << 16
"""Number of places that a dict alone maps: older ones are sorted, and the dict has the latest."""

_LATE, _PART = 4096, 64
"""Places that wait in the dict then, and one in so many of those that are sorted."""

_TEXTS = 32_768
"""Maximum number of identifiers cached as text, of the places in use."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UUIDS = re.compile(rf"{_UUID.pattern}(?: {_UUID.pattern})*+")
_NO_KEY = bytes(16)
_NEW_SCORED: Callable[[tuple[str, float]], Scored] = partial(tuple.__new__, Scored)


class NameLookup:
    """The last place of a name in a column that only grows and contains `key` of the name: four bytes a place, and a
    dict of the latest.
    """

    def __init__(self, column: AppendOnlyColumn, key: Callable[[Any], Hashable]) -> None:
        self._column = column
        self._key = key
        self._order = np.zeros(0, np.uint32)
        self._late: dict[Hashable, int] = {}

    @property
    def nbytes(self) -> int:
        """Memory in use, the dict by estimate."""
        return self._order.nbytes + 150 * len(self._late)

    def note_names(self, names: Sequence[Hashable]) -> None:
        """Record that the keys of these names were appended to the column."""
        end = len(self._column.all)
        self._late |= zip(names, range(end - len(names), end), strict=True)
        if len(self._late) > (_LATE + len(self._order) // _PART if len(self._order) else _FIRST):
            self.settle()

    def find(self, names: Sequence[Hashable]) -> NDArray[np.int64]:
        """Return the last place of each name, -1 if there is none."""
        found = np.array([self._late.get(name, -1) for name in names], np.int64)
        if len(self._order):
            missing = np.flatnonzero(found < 0)
            found[missing] = self._sorted_keys([self._key(names[number]) for number in missing.tolist()])
        return found

    def _sorted_keys(self, keys: Sequence[Hashable]) -> NDArray[np.int64]:
        keyed = self._column.all[: len(self._order)]
        wanted = np.array(keys, keyed.dtype)
        places = self._order[np.searchsorted(keyed, wanted, "right", sorter=self._order) - 1].astype(np.int64)
        return np.where(keyed[places] == wanted, places, -1)

    def settle(self) -> None:
        """Sort the latest names in among the others."""
        keys = self._column.all
        places = np.concatenate([self._order, np.arange(len(self._order), len(keys), dtype=np.uint32)])
        # Stable, so that of equal keys the last place comes last; two sorted runs, mostly, which it merges.
        self._order = places[np.argsort(keys[places], kind="stable")]
        self._late = {}


class Identifiers:
    """`row_id` and `memory_id` of each place. An identifier that is no UUID in its usual spelling is stored as text."""

    def __init__(self) -> None:
        self._rows = AppendOnlyColumn(np.int64)
        self._keys = AppendOnlyColumn("S16")
        self._by_row, self._by_name = NameLookup(self._rows, int), NameLookup(self._keys, _key)
        self._texts: dict[int, str] = {}
        self._odd: dict[int, str] = {}
        self._odd_places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._rows.all)

    @property
    def nbytes(self) -> int:
        """Memory in use, dicts by estimate."""
        sorted_ones = self._by_row.nbytes + self._by_name.nbytes
        return self._rows.nbytes + self._keys.nbytes + sorted_ones + 300 * len(self._odd) + 200 * len(self._texts)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each place: a view, valid until the next `extend`."""
        return self._rows.all

    def extend(self, row_ids: Sequence[int], memory_ids: Sequence[str]) -> None:
        """Append further places."""
        first = len(self)
        self._rows.extend(row_ids)
        self._by_row.note_names(row_ids)
        keys = _keys(memory_ids)
        self._keys.extend(keys)
        self._by_name.note_names(memory_ids)
        for offset in np.flatnonzero(keys == b"").tolist():
            self._odd[first + offset] = memory_ids[offset]
            self._odd_places[memory_ids[offset]] = first + offset

    def settle(self) -> None:
        """Sort the latest names in among the others."""
        self._by_row.settle()
        self._by_name.settle()

    def of_rows(self, row_ids: Sequence[int]) -> NDArray[np.int64]:
        """Return the last place of each row, -1 if there is none."""
        return self._by_row.find(row_ids)

    def of_ids(self, memory_ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the last place of each memory, -1 if there is none."""
        places = self._by_name.find(memory_ids)
        for number, memory_id in enumerate(memory_ids if self._odd else ()):
            if _key(memory_id) is _NO_KEY:
                places[number] = self._odd_places.get(memory_id, -1)
        return places

    def names_at(self, places: NDArray[Any]) -> list[str]:
        """Return the identifiers of these places."""
        chosen: list[int] = places.tolist()
        kept = self._texts
        unknown = [place for place in chosen if place not in kept]
        if unknown:
            if len(kept) + len(unknown) > _TEXTS:
                kept, unknown = {}, list(dict.fromkeys(chosen))
                self._texts = kept
            digits = self._keys.all[unknown].tobytes().hex()
            texts = (_text(digits[at : at + 32]) for at in range(0, len(digits), 32))
            kept.update(zip(unknown, texts, strict=True))
        if not self._odd:
            return list(map(kept.__getitem__, chosen))
        return [self._odd.get(place, kept[place]) for place in chosen]

    def newest(self, places: NDArray[Any], count: int) -> list[str]:
        """Return the `count` greatest identifiers of these places, greatest first."""
        if self._odd or len(places) <= count:
            return sorted(self.names_at(places), reverse=True)[:count]
        return self.names_at(places[np.argsort(self._keys.all[places])[: -count - 1 : -1]])

    def best(self, places: NDArray[np.int64], scores: NDArray[np.float64], limit: int) -> list[Scored]:
        """Return the places with the highest scores, best first, at most `limit`; among equals the newer memory."""
        if limit <= 0 or not len(places):
            return []
        worst = np.partition(scores, -limit)[-limit] if limit < len(scores) else scores.min()
        above = scores > worst
        better = zip(scores[above].tolist(), self.names_at(places[above]), strict=True)
        ranked = sorted(better, reverse=True)
        last = self.newest(places[scores == worst], limit - len(ranked))
        ranked += [(float(worst), memory_id) for memory_id in last]
        return [_NEW_SCORED((memory_id, score)) for score, memory_id in ranked]


def _key(memory_id: str) -> bytes:
    key = bytes.fromhex(memory_id.replace("-", "")) if _UUID.fullmatch(memory_id) else _NO_KEY
    return key if any(key) else _NO_KEY


def _keys(memory_ids: Sequence[str]) -> NDArray[np.bytes_]:
    together = " ".join(memory_ids)  # many are read in one piece if all are UUIDs
    if len(together) == 37 * len(memory_ids) - 1 and _UUIDS.fullmatch(together):
        return np.frombuffer(bytes.fromhex(together.replace("-", "")), "S16")
    return np.frombuffer(b"".join(map(_key, memory_ids)), "S16")


def _text(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


MAX_VECTORS = 256
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
        for vector in list(self._near)[:-MAX_VECTORS]:
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


_CHUNK = 1 << 14
"""Number of vectors processed together, so that intermediate results stay in the processor's cache."""

_NEVER = np.iinfo(np.uint16).max
_LEAST, _ONE_IN = 2_000, 250
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
        most = max(_LEAST, 20 * limit, len(self) // _ONE_IN)
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
