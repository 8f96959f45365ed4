"""Search index of one scope, for the three ranked lists: by cosine, by BM25, by recency.

One index per scope, so that the cost of a search and its statistics depend on the scope's own memories and never on
other people's. Up to `EXACT_UP_TO` memories, vectors are compared exactly, one product for each. Beyond that, 1-bit
quantised vectors preselect candidates, and if the store can read vectors again, full vectors are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from datetime import datetime
from functools import partial
from itertools import compress
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from mnemic.types import Cues, Memory, Scored, Signals, Status, Vector, Where
from mnemic_language.text.bm25 import BM25
from mnemic_stores.codec import EPOCH, EXACT_UP_TO, to_micros
from mnemic_stores.columns import AppendOnlyColumn, NarrowColumn, Postings, Read, SparseColumn, Vectors
from mnemic_stores.neighbour_cache import NeighbourCache

_GONE = -1
_CUES = np.dtype([("words", "<u4"), ("asking", "<f4"), ("oneself", "?"), ("timed", "?")])
"""`codec.CUES` as numpy reads it."""
_NEW_CUES: Callable[[tuple[Any, ...]], Cues] = partial(tuple.__new__, Cues)
_NEW_SIGNALS: Callable[[tuple[Any, ...]], Signals] = partial(tuple.__new__, Signals)
"""From tuples that have the fields in their order."""


class _Weighed(Protocol):
    @property
    def nbytes(self) -> int: ...


class IndexEntry(NamedTuple):
    """Data of one memory in the index.

    Times are microseconds since 1970. `content` and `context` are term hashes: little-endian 32-bit numbers; zeros are
    skipped.
    """

    row_id: int
    memory_id: str
    kind: str
    status: str
    key: str | None
    category: str | None
    happened_at: int
    began_at: int
    ended_at: int | None
    expires_at: int | None
    vector: Vector | None
    content: bytes
    context: bytes
    session: str | None
    turn: int | None
    speaker: str | None
    cues: bytes


def is_large(count: int) -> bool:
    """Return True if the vectors of this many memories stay in the store, for an index that `rereads` them."""
    return count > EXACT_UP_TO


def moments_of(micros: NDArray[np.int64]) -> list[datetime]:
    """Return the moment of each of these times."""
    return list(map(EPOCH.__add__, micros.astype("m8[us]").tolist()))


class ScopeIndex:
    """Memories of a scope by place. A changed memory moves to a new place; the old one is marked as gone.

    `seen` is the scope's change count up to which the index is complete; its owner maintains it. `names` are the kinds,
    keys, speakers and others that a number represents, by that number. Not thread-safe.
    """

    def __init__(self, dimension: int, *, rereads: bool = False) -> None:
        self.seen = 0
        self._rereads = rereads
        self._codes: dict[str | None, int] = {}
        self.names: list[str | None] = []
        self._live = 0
        self._identifiers = Identifiers()
        self._vectors = Vectors(dimension)
        self._named = {name: NarrowColumn() for name in ("kind", "status", "key", "category")}
        self._said = {name: NarrowColumn() for name in ("session", "speaker", "turn")}
        self._cues = AppendOnlyColumn(_CUES)
        self._happened = AppendOnlyColumn(np.int64)
        self._times = {name: SparseColumn() for name in ("began_at", "ended_at", "expires_at")}
        self._content, self._context = Postings(), Postings()
        self._expected = BatchedSimilarity()
        self._recalled = NeighbourCache()
        self._weight: int | None = None

    def __len__(self) -> int:
        return self._live

    @property
    def nbytes(self) -> int:
        """Approximate memory in use: arrays exactly, Python objects by estimate. Recomputed after changes only, since
        every use of an index asks for it.
        """
        if self._weight is None:
            self._weight = self._weighed()
        return self._weight

    def _weighed(self) -> int:
        columns: list[_Weighed] = [self._identifiers, self._vectors, self._expected, self._cues, self._happened]
        columns.append(self._recalled)
        columns += [*self._named.values(), *self._said.values(), *self._times.values(), self._content, self._context]
        return sum(column.nbytes for column in columns) + 250 * len(self.names)

    @property
    def wasteful(self) -> bool:
        """True if rebuilding is cheaper than carrying on: most places are gone, or so few memories are left that their
        vectors can be kept in memory again.
        """
        shrunk = not self._vectors.whole and 4 * self._live < 3 * EXACT_UP_TO
        return shrunk or len(self._identifiers) > 1000 + 2 * self._live

    @property
    def thinned(self) -> bool:
        """True if the vectors are not in memory."""
        return not self._vectors.whole

    def settle(self) -> None:
        """Merge everything that waits into the columns, so that they are complete."""
        self._content.catch_up()
        self._context.catch_up()
        self._identifiers.settle()
        self._weight = None

    def taken_over(self, names: Sequence[str | None], *, live: int, seen: int) -> None:
        """Continue with columns that were loaded from an image (`index_image`)."""
        self.names, self._live, self.seen = list(names), live, seen
        self._codes = {name: code for code, name in enumerate(self.names)}
        self._weight = None

    def put(self, entries: Sequence[IndexEntry]) -> None:
        """Add these memories, or change those that are there already."""
        if not entries:
            return
        self._weight = None
        values: Iterable[tuple[Any, ...]] = zip(*entries, strict=True)
        columns = dict(zip(IndexEntry._fields, values, strict=True))
        before = self._live_places(self._identifiers.of_rows(columns["row_id"]))
        if len(before):
            self._forget(before)
        first = len(self._identifiers)
        self._live += len(entries)
        self._identifiers.extend(columns["row_id"], columns["memory_id"])
        self._vectors.extend(columns["vector"])
        for name, codes in self._named.items():
            codes.extend(self._coded(columns[name]))
        for name in ("session", "speaker"):
            self._said[name].extend(self._coded(columns[name]))
        self._said["turn"].extend([-1 if turn is None else turn for turn in columns["turn"]])
        self._cues.extend(np.frombuffer(b"".join(columns["cues"]), _CUES))
        happened = columns["happened_at"]
        self._happened.extend(happened)
        both = zip(columns["began_at"], happened, strict=True)
        columns["began_at"] = tuple(None if began == then else began for began, then in both)
        for name, times in self._times.items():
            times.extend(first, columns[name])
        self._content.extend(columns["content"])
        self._context.extend(columns["context"])
        if self._rereads and self._vectors.whole and is_large(self._live):
            self._vectors.thin()
            self._expected = BatchedSimilarity()

    def keep(self, row_ids: Collection[int] | NDArray[np.int64]) -> None:
        """Drop every memory that is not among `row_ids`."""
        kept = np.sort(np.fromiter(row_ids, np.int64, len(row_ids)))
        places = self._live_places(np.arange(len(self._identifiers)))
        rows = self._identifiers.rows[places]
        at = np.minimum(np.searchsorted(kept, rows), len(kept) - 1)
        self._forget(places[kept[at] != rows] if len(kept) else places)

    def expect(self, vectors: Sequence[Vector], at_least: float) -> None:
        """Prepare `near` for these vectors, all in one pass."""
        if self._vectors.whole:
            self._expected.look(self._vectors.matrix, vectors, at_least)
            self._weight = None

    def near(
        self, where: Where, vector: Vector, *, limit: int, at_least: float, read: Read | None = None
    ) -> list[Scored]:
        """Return at most `limit` memories with a cosine of at least `at_least`, best first. Exact while vectors are in
        memory; where they are reread, approximate as in `nearest`.
        """
        if not self._vectors.whole:
            found = self.nearest(where, vector, limit=limit, read=read)
            return [entry for entry in found if entry.score >= at_least]
        accepted = self._accepted(where) & self._vectors.present
        wanted = np.frombuffer(vector, "<f4")
        if (known := self._expected.near(vector, at_least, len(accepted))) is not None:
            places, scores = self._multiplied(known[0][accepted[known[0]]], wanted, read)
            if known[1] <= at_least or np.count_nonzero(scores >= known[1]) >= limit:
                enough = scores >= at_least
                return self._best(places[enough], scores[enough], limit)
        places, scores = self._multiplied(np.flatnonzero(accepted), wanted, read)
        enough = scores >= at_least
        return self._best(places[enough], scores[enough], limit)

    def nearest(self, where: Where, vector: Vector, *, limit: int, read: Read | None = None) -> list[Scored]:
        """Return by cosine, best first, the memories that `where` accepts and that have a vector. Exact up to
        `EXACT_UP_TO` memories; beyond that some of the last may be missed, but their number never falls short. `read`
        rereads vectors; an index that `rereads` needs it.
        """
        accepted = self._accepted(where) & self._vectors.present
        wanted = np.frombuffer(vector, "<f4")
        if self._live <= EXACT_UP_TO:
            chosen = np.flatnonzero(accepted)
        else:
            chosen = self._vectors.likely(accepted, wanted, limit=limit)
            self._weight = None if self._vectors.whole else self._weight
        return self._best(*self._multiplied(chosen, wanted, read), limit)

    def _multiplied(
        self, chosen: NDArray[np.int64], wanted: NDArray[np.float32], read: Read | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Those of the chosen places that have a vector, and their cosines."""
        return self._vectors.cosines(chosen, wanted, self._identifiers.rows, read)

    def match(
        self, where: Where, terms: Sequence[int], *, limit: int, rows: Collection[int] | None = None
    ) -> list[Scored]:
        """By BM25, best first, only positive scores; with `rows`, only among these rows."""
        chosen = self._accepted(where)
        if rows is not None:
            inside = np.zeros_like(chosen)
            inside[self._live_places(self._identifiers.of_rows(list(rows)))] = True
            chosen &= inside
        scores = self._scores(terms)
        found = np.flatnonzero(chosen & (scores > 0))
        return self._best(found, scores[found], limit)

    def recent(self, where: Where, *, limit: int) -> list[Scored]:
        """By time, newest first; the score is seconds since 1970."""
        chosen = np.flatnonzero(self._accepted(where))
        return self._best(chosen, self._happened.all[chosen] / 1e6, limit)

    def signals(self, memory_ids: Collection[str]) -> dict[str, Signals]:
        """Return the ranking facts of those of the memories that are in the index, by id."""
        places = self._identifiers.of_ids(list(memory_ids))
        live = self._is_live(places)
        known = list(compress(memory_ids, live.tolist()))
        places = places[live]
        named = self.names.__getitem__
        # A column after the other and past the constructors: some hundred of these are made in every search.
        columns = zip(
            known,
            moments_of(self._happened.all[places]),
            map(named, self._said["session"].all[places].tolist()),
            self._said["turn"].all[places].tolist(),
            map(named, self._said["speaker"].all[places].tolist()),
            map(_NEW_CUES, self._cues.all[places].tolist()),
            strict=True,
        )
        return dict(zip(known, map(_NEW_SIGNALS, columns), strict=True))

    def recalled(self, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Return those of the memories that were given to `recall` and have not changed since, by id."""
        return self._recalled.find(memory_ids, self._identifiers.of_ids(memory_ids).tolist())

    def recall(self, memories: Sequence[Memory]) -> None:
        """Cache memories that were read in the state that the index knows, for `recalled`."""
        ids = [memory.memory_id for memory in memories]
        self._recalled.keep(memories, self._identifiers.of_ids(ids).tolist())
        self._weight = None

    def speakers(self) -> frozenset[str]:
        """Return everybody who speaks in an active memory of the scope."""
        active = self._any_of("status", (Status.ACTIVE,))
        # Not np.unique: what it needs for masked arrays costs a new process's first search a tenth of its time.
        spoken = np.flatnonzero(np.bincount(self._said["speaker"].all[active]))
        return frozenset(name for name in map(self.names.__getitem__, spoken.tolist()) if name is not None)

    def _coded(self, names: Sequence[str | None]) -> list[int]:
        """Return the numbers that represent `names` in this index."""
        for name in dict.fromkeys(names):
            if name not in self._codes:
                self._codes[name] = len(self.names)
                self.names.append(name)
        return list(map(self._codes.__getitem__, names))

    def _scores(self, terms: Iterable[int]) -> NDArray[np.float64]:
        if self._content.catch_up() | self._context.catch_up():
            self._weight = None
        scores = np.zeros(len(self._identifiers))
        active = self._named["status"].all == self._codes.get(Status.ACTIVE, _GONE - 1)
        fields = [(self._content, BM25.content_weight), (self._context, BM25.context_weight)]
        total = int(np.count_nonzero(active))
        averages = [int(field.lengths.all[active].sum(dtype=np.int64)) / max(total, 1) or 1.0 for field, _ in fields]
        frequency = np.zeros_like(scores)
        for term in terms:
            holders = np.zeros(0, np.int64)
            for (field, weight), average in zip(fields, averages, strict=True):
                places, counts = field.of(term)
                holders = np.concatenate([holders, places[frequency[places] == 0]])
                frequency[places] += BM25.frequency(weight, counts, field.lengths.all[places], average)
            idf = BM25.idf(total, int(np.count_nonzero(active[holders])))
            scores[holders] += BM25.gain(idf, frequency[holders])
            frequency[holders] = 0.0
        return scores

    def _accepted(self, where: Where) -> NDArray[np.bool_]:
        """Evaluate `Where.accepts` for every place at once; all places are of this scope."""
        statuses = where.statuses if where.as_of is None else where.statuses | {Status.SUPERSEDED}
        accepted = self._any_of("status", statuses)
        for name, values in (("kind", where.kinds), ("category", where.categories), ("key", where.keys)):
            if values is not None:
                accepted &= self._any_of(name, values)
        if where.memory_ids is not None:
            named = np.zeros_like(accepted)
            named[self._live_places(self._identifiers.of_ids(list(where.memory_ids)))] = True
            accepted &= named
        if where.hidden_keys:
            accepted &= ~self._any_of("key", where.hidden_keys)
        if where.happened_from is not None:
            accepted &= self._happened.all >= to_micros(where.happened_from)
        if where.happened_to is not None:
            accepted &= self._happened.all < to_micros(where.happened_to)
        moment: Any
        if where.live_at is not None:
            moment = to_micros(where.live_at)
            accepted[self._times["expires_at"].up_to(moment)] = False
        if where.as_of is not None:
            moment = to_micros(where.as_of)
            accepted &= self._times["began_at"].over(self._happened.all) <= moment
            accepted[self._times["ended_at"].up_to(moment)] = False
        return accepted

    def _any_of(self, name: str, values: Iterable[str]) -> NDArray[np.bool_]:
        codes = self._named[name].all
        accepted = np.zeros(len(codes), np.bool_)
        for value in values:
            if value in self._codes:
                accepted |= codes == self._codes[value]
        return accepted

    def _best(self, places: NDArray[np.int64], scores: NDArray[np.float64], limit: int) -> list[Scored]:
        """Best first, cut to `limit`; among equals the newer memory."""
        if limit <= 0 or not len(places):
            return []
        worst = np.partition(scores, -limit)[-limit] if limit < len(scores) else scores.min()
        above = scores > worst
        better = zip(scores[above].tolist(), self._identifiers.named(places[above]), strict=True)
        ranked = sorted(better, reverse=True)
        last = self._identifiers.newest(places[scores == worst], limit - len(ranked))
        ranked += [(float(worst), memory_id) for memory_id in last]
        return [Scored(memory_id, score) for score, memory_id in ranked]

    def _is_live(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark those of these places that still have a memory; -1 has none."""
        stands: NDArray[np.bool_] = places >= 0
        stands[stands] = self._named["status"].all[places[stands]] != _GONE
        return stands

    def _live_places(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        return places[self._is_live(places)]

    def _forget(self, places: NDArray[np.int64]) -> None:
        self._live -= len(places)
        self._recalled.forget(self._identifiers.named(places))
        self._named["status"].all[places] = _GONE
        self._vectors.forget(places)


_FIRST = 1 << 16
"""Number of places that a dict alone maps: older ones are sorted, and the dict has the latest."""

_LATE, _PART = 4096, 64
"""Places that wait in the dict then, and one in so many of those that are sorted."""

_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_UUIDS = re.compile(rf"{_UUID.pattern}(?: {_UUID.pattern})*+")
_NO_KEY = bytes(16)


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

    def noted(self, names: Sequence[Hashable]) -> None:
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
            found[missing] = self._sorted([self._key(names[number]) for number in missing.tolist()])
        return found

    def _sorted(self, keys: Sequence[Hashable]) -> NDArray[np.int64]:
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
    """`row_id` and `memory_id` of each place. An identifier that is no UUID in its usual spelling is kept as text."""

    def __init__(self) -> None:
        self._rows = AppendOnlyColumn(np.int64)
        self._keys = AppendOnlyColumn("S16")
        self._by_row, self._by_name = NameLookup(self._rows, int), NameLookup(self._keys, _key)
        self._odd: dict[int, str] = {}
        self._odd_places: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._rows.all)

    @property
    def nbytes(self) -> int:
        """Memory in use, dicts by estimate."""
        sorted_ones = self._by_row.nbytes + self._by_name.nbytes
        return self._rows.nbytes + self._keys.nbytes + sorted_ones + 300 * len(self._odd)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each place: a view, valid until the next `extend`."""
        return self._rows.all

    def extend(self, row_ids: Sequence[int], memory_ids: Sequence[str]) -> None:
        """Append further places."""
        first = len(self)
        self._rows.extend(row_ids)
        self._by_row.noted(row_ids)
        keys = _keys(memory_ids)
        self._keys.extend(keys)
        self._by_name.noted(memory_ids)
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

    def named(self, places: NDArray[Any]) -> list[str]:
        """Return the identifiers of these places."""
        digits = self._keys.all[places].tobytes().hex()
        texts = [_text(digits[at : at + 32]) for at in range(0, len(digits), 32)]
        if not self._odd:
            return texts
        return [self._odd.get(place, text) for place, text in zip(places.tolist(), texts, strict=True)]

    def newest(self, places: NDArray[Any], count: int) -> list[str]:
        """Return the `count` greatest identifiers of these places, greatest first."""
        if self._odd or len(places) <= count:
            return sorted(self.named(places), reverse=True)[:count]
        return self.named(places[np.argsort(self._keys.all[places])[: -count - 1 : -1]])


def _key(memory_id: str) -> bytes:
    key = bytes.fromhex(memory_id.replace("-", "")) if _UUID.fullmatch(memory_id) else _NO_KEY
    return key if any(key) else _NO_KEY


def _keys(memory_ids: Sequence[str]) -> NDArray[np.bytes_]:
    together = " ".join(memory_ids)  # many are read in one piece where all are UUIDs
    if len(together) == 37 * len(memory_ids) - 1 and _UUIDS.fullmatch(together):
        return np.frombuffer(bytes.fromhex(together.replace("-", "")), "S16")
    return np.frombuffer(b"".join(map(_key, memory_ids)), "S16")


def _text(digits: str) -> str:
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


MOST = 256
"""Vectors kept in mind, the latest."""

_ROWS = 4096
"""Number of vectors multiplied at a time, so that the products stay in the processor's cache."""

_SLACK = 1e-4
"""Bound of the difference between two ways of adding up the same products: a hundred times the largest seen."""

_MOST_NEAR = 256
"""Number of nearest places kept for one vector: a multiple of the neighbours that a write compares."""


class NearCandidates(NamedTuple):
    """Candidates among the first `until` places for being near a vector: all whose cosine is above `least`."""

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
            for number, row in enumerate(wanted @ matrix[first : first + _ROWS].T):
                close = np.flatnonzero(row >= least)
                both = np.concatenate([found[number].places, (close + first).astype(np.int32)])
                similar = np.concatenate([scores[number], row[close]])
                found[number], scores[number] = _cut(found[number], both, similar)
        self._near |= zip(vectors, found, strict=True)
        for vector in list(self._near)[:-MOST]:
            del self._near[vector]
        self.nbytes = sum(near.places.nbytes + len(vector) for vector, near in self._near.items())

    def near(self, vector: Vector, at_least: float, size: int) -> tuple[NDArray[np.int64], float] | None:
        """Return those of `size` places whose cosine to `vector` may be `at_least`, and all that were added since, with
        the cosine from which on none is missing; None if the vector was not prefetched.
        """
        near = self._near.get(vector)
        if near is None:
            return None
        return np.concatenate([near.places.astype(np.int64), np.arange(near.until, size)]), near.least


def _cut(
    near: NearCandidates, places: NDArray[np.int32], scores: NDArray[np.float32]
) -> tuple[NearCandidates, NDArray[np.float32]]:
    """Return the nearest of these places, with the cosine from which on none is missing, and their scores."""
    if len(places) <= _MOST_NEAR:
        return near._replace(places=places), scores
    kept = np.argpartition(scores, -_MOST_NEAR)[-_MOST_NEAR:]
    least = max(near.least, float(scores[kept].min()) + 2 * _SLACK)
    return NearCandidates(places[kept], near.until, least), scores[kept]
