"""The memories of one scope, held ready for the three ranked lists: by cosine, by BM25, by recency.

The whole point is the word *one*: what a search costs and what its statistics say depends on the scope's own memories,
never on other people's. Up to `EXACT_UP_TO` memories vectors are compared exactly, one product for each; beyond, those
that a sketch of their signs brings.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnemic.stores.codec import moment_of, to_micros
from mnemic.stores.expected import Expected
from mnemic.stores.growing import Growing
from mnemic.stores.sketch import Sketch
from mnemic.text.bm25 import Bm25
from mnemic.types import Cues, Scored, Signals, Status, Vector, Where

EXACT_UP_TO = 50_000
"""Memories of a scope up to which every vector is multiplied out: some 10 ms, the aim for a search beyond."""

_FUTURE = np.iinfo(np.int64).max
_GONE = -1
_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)
_TAIL = 4096
_CUES = np.dtype([("words", "<u4"), ("asking", "<f4"), ("oneself", "?"), ("timed", "?")])
"""`codec.CUES` as numpy reads it."""
_NEW_CUES: Callable[[tuple[Any, ...]], Cues] = partial(tuple.__new__, Cues)
_NEW_SIGNALS: Callable[[tuple[Any, ...]], Signals] = partial(tuple.__new__, Signals)
"""From tuples that have the fields in their order."""


class Entry(NamedTuple):
    """What the index holds of one memory.

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


def cosines(vectors: Sequence[Vector], vector: Vector) -> list[float]:
    """The cosine of each of `vectors` with `vector`; all have unit length."""
    wanted = np.frombuffer(vector, "<f4")
    scores: list[float] = np.vecdot(np.frombuffer(b"".join(vectors), "<f4").reshape(-1, len(wanted)), wanted).tolist()
    return scores


class Postings:
    """Which places hold a term in one field, and how often: sorted by term, with a short unsorted tail."""

    def __init__(self) -> None:
        self._terms = np.zeros(0, np.uint32)
        self._places = np.zeros(0, np.int64)
        self._counts = np.zeros(0, np.float32)
        self._late_terms, self._late_places, self._late_counts = self._tail()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self.lengths = Growing(np.float64)

    @staticmethod
    def _tail() -> tuple[Growing, Growing, Growing]:
        return Growing(np.uint32), Growing(np.int64), Growing(np.float32)

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        tail = self._late_terms.nbytes + self._late_places.nbytes + self._late_counts.nbytes
        # Three numbers for each term once it is taken in, 16 bytes for the 4 that wait.
        waiting = 4 * self._waiting_bytes
        return self._terms.nbytes + self._places.nbytes + self._counts.nbytes + tail + waiting + self.lengths.nbytes

    def extend(self, fields: Sequence[bytes]) -> None:
        """Append the field of each further place; it counts from the next `catch_up`."""
        self._waiting += fields
        self._waiting_bytes += sum(map(len, fields))

    def catch_up(self) -> bool:
        """Take in what was appended; whether that was anything. A writer, which needs vectors only, leaves that to the
        next search for words.
        """
        fields, self._waiting, self._waiting_bytes = self._waiting, [], 0
        if not fields:
            return False
        first = len(self.lengths.all)
        offsets = np.repeat(np.arange(len(fields)), [len(field) // 4 for field in fields])
        terms = np.frombuffer(b"".join(fields), "<u4")
        offsets, terms = offsets[terms != 0], terms[terms != 0]
        self.lengths.extend(np.bincount(offsets, minlength=len(fields)))
        pairs, counts = np.unique(terms.astype(np.uint64) << _HALF | offsets.astype(np.uint64), return_counts=True)
        self._late_terms.extend(pairs >> _HALF)
        self._late_places.extend((pairs & _LOWER).astype(np.int64) + first)
        self._late_counts.extend(counts)
        if len(self._late_terms.all) > _TAIL + len(self._terms) // 16:
            self._settle()
        return True

    def of(self, term: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The places that hold `term`, each once, and how often."""
        wanted = np.uint32(term)
        start, end = (int(np.searchsorted(self._terms, wanted, side)) for side in ("left", "right"))
        places, counts = self._places[start:end], self._counts[start:end]
        late = np.flatnonzero(self._late_terms.all == wanted)
        if len(late):
            places = np.concatenate([places, self._late_places.all[late]])
            counts = np.concatenate([counts, self._late_counts.all[late]])
        return places, counts.astype(np.float64)

    def _settle(self) -> None:
        terms = np.concatenate([self._terms, self._late_terms.all])
        order = np.argsort(terms, kind="stable")
        self._terms = terms[order]
        self._places = np.concatenate([self._places, self._late_places.all])[order]
        self._counts = np.concatenate([self._counts, self._late_counts.all])[order]
        self._late_terms, self._late_places, self._late_counts = self._tail()


class ScopeIndex:
    """A scope's memories by place. A changed memory moves to a new place; the old one is marked as gone.

    `seen` is the scope's change count up to which the index is complete; whoever feeds the index keeps it. Not safe for
    use by two threads at once.
    """

    def __init__(self, dimension: int, bm25: Bm25) -> None:
        self.seen = 0
        self._bm25 = bm25
        self._dimension = dimension
        self._codes: dict[str | None, int] = {}
        self._names: list[str | None] = []
        self._by_id: dict[str, int] = {}
        self._places: dict[int, int] = {}
        self._memory_ids: list[str] = []
        self._vectors = Growing(np.float32, dimension)
        self._has_vector = Growing(np.bool_)
        self._named = {name: Growing(np.int32) for name in ("kind", "status", "key", "category")}
        self._said = {name: Growing(np.int32) for name in ("session", "speaker", "turn")}
        self._cues = Growing(_CUES)
        self._times = {name: Growing(np.int64) for name in ("happened_at", "began_at", "ended_at", "expires_at")}
        self._content, self._context = Postings(), Postings()
        self._sketch = Sketch(dimension)
        self._expected = Expected()
        self._weight: int | None = None

    def __len__(self) -> int:
        return len(self._places)

    @property
    def nbytes(self) -> int:
        """Memory in use, about: arrays exactly, identifiers by estimate. Added up when it has changed: every look at
        an index asks for it.
        """
        if self._weight is None:
            self._weight = self._weighed()
        return self._weight

    def _weighed(self) -> int:
        columns: list[Growing | Sketch | Expected] = [self._vectors, self._has_vector, self._cues]
        columns += [self._sketch, self._expected]
        columns += [*self._named.values(), *self._said.values(), *self._times.values()]
        arrays = sum(column.nbytes for column in columns) + self._content.nbytes + self._context.nbytes
        return arrays + 350 * len(self._memory_ids)

    @property
    def wasteful(self) -> bool:
        """Most places are gone: building the index anew is cheaper than going on."""
        return len(self._memory_ids) > 1000 + 2 * len(self._places)

    def put(self, entries: Sequence[Entry]) -> None:
        """Add these memories, or change those that are there already."""
        if not entries:
            return
        self._weight = None
        values: Iterable[tuple[Any, ...]] = zip(*entries, strict=True)
        columns = dict(zip(Entry._fields, values, strict=True))
        self._forget(row_id for row_id in columns["row_id"] if row_id in self._places)
        first = len(self._memory_ids)
        self._places |= {row_id: first + offset for offset, row_id in enumerate(columns["row_id"])}
        self._memory_ids += columns["memory_id"]
        self._by_id |= {memory_id: first + offset for offset, memory_id in enumerate(columns["memory_id"])}
        blank = bytes(4 * self._dimension)
        packed = b"".join(vector or blank for vector in columns["vector"])
        self._vectors.extend(np.frombuffer(packed, "<f4").reshape(-1, self._dimension))
        self._has_vector.extend([vector is not None for vector in columns["vector"]])
        for name, codes in self._named.items():
            codes.extend(self._coded(columns[name]))
        for name in ("session", "speaker"):
            self._said[name].extend(self._coded(columns[name]))
        self._said["turn"].extend([-1 if turn is None else turn for turn in columns["turn"]])
        self._cues.extend(np.frombuffer(b"".join(columns["cues"]), _CUES))
        for name, times in self._times.items():
            moments = columns[name]
            times.extend([_FUTURE if moment is None else moment for moment in moments] if None in moments else moments)
        self._content.extend(columns["content"])
        self._context.extend(columns["context"])

    def keep(self, row_ids: Collection[int]) -> None:
        """Drop every memory that is not among `row_ids`."""
        self._forget(self._places.keys() - set(row_ids))

    def expect(self, vectors: Sequence[Vector], at_least: float) -> None:
        """Prepare for `near` with these vectors, all of them in one pass."""
        self._expected.look(self._vectors.all, vectors, at_least)
        self._weight = None

    def near(self, where: Where, vector: Vector, *, limit: int, at_least: float) -> list[Scored]:
        """By cosine, best first, all that are at least so near, up to `limit`; exact in a scope of any size."""
        accepted = self._accepted(where) & self._has_vector.all
        known = self._expected.near(vector, at_least, len(accepted))
        chosen = np.flatnonzero(accepted) if known is None else known[accepted[known]]
        best = self._multiplied(chosen, np.frombuffer(vector, "<f4"), limit)
        return [entry for entry in best if entry.score >= at_least]

    def nearest(self, where: Where, vector: Vector, *, limit: int) -> list[Scored]:
        """By cosine, best first, over all that `where` accepts and that has a vector. Exact up to `EXACT_UP_TO`
        memories; beyond, some of the last may be missed, and never are there fewer.
        """
        accepted = self._accepted(where) & self._has_vector.all
        wanted = np.frombuffer(vector, "<f4")
        if len(self._places) <= EXACT_UP_TO:
            chosen = np.flatnonzero(accepted)
        else:
            if len(self._sketch) < len(accepted):
                self._sketch.extend(self._vectors.all[len(self._sketch) :])
                self._weight = None
            chosen = self._sketch.nearest(accepted, wanted, limit=limit)
        return self._multiplied(chosen, wanted, limit)

    def _multiplied(self, chosen: NDArray[np.int64], wanted: NDArray[np.float32], limit: int) -> list[Scored]:
        """Of the chosen places the best by cosine."""
        # A row at a time: the scan is bound by memory, and a product on several threads stalls when a core is taken.
        if 4 * len(chosen) < len(self._memory_ids):
            scores = np.vecdot(self._vectors.all[chosen], wanted)
        else:
            scores = np.vecdot(self._vectors.all, wanted)[chosen]
        return self._best(chosen, scores.astype(np.float64), limit)

    def match(
        self, where: Where, terms: Sequence[int], *, limit: int, rows: Collection[int] | None = None
    ) -> list[Scored]:
        """By BM25, best first, only positive scores; with `rows`, only among these rows."""
        chosen = self._accepted(where)
        if rows is not None:
            inside = np.zeros_like(chosen)
            inside[[self._places[row_id] for row_id in rows if row_id in self._places]] = True
            chosen &= inside
        scores = self._scores(terms)
        found = np.flatnonzero(chosen & (scores > 0))
        return self._best(found, scores[found], limit)

    def recent(self, where: Where, *, limit: int) -> list[Scored]:
        """By time, newest first; the score is seconds since 1970."""
        chosen = np.flatnonzero(self._accepted(where))
        return self._best(chosen, self._times["happened_at"].all[chosen] / 1e6, limit)

    def signals(self, memory_ids: Collection[str]) -> dict[str, Signals]:
        """What ranking needs to know of those of the memories that are here, by id."""
        known = [memory_id for memory_id in memory_ids if memory_id in self._by_id]
        places = [self._by_id[memory_id] for memory_id in known]
        named = self._names.__getitem__
        # A column after the other and past the constructors: some hundred of these are made in every search.
        columns = zip(
            known,
            map(moment_of, self._times["happened_at"].all[places].tolist()),
            map(named, self._said["session"].all[places].tolist()),
            self._said["turn"].all[places].tolist(),
            map(named, self._said["speaker"].all[places].tolist()),
            map(_NEW_CUES, self._cues.all[places].tolist()),
            strict=True,
        )
        return dict(zip(known, map(_NEW_SIGNALS, columns), strict=True))

    def speakers(self) -> frozenset[str]:
        """Everybody who speaks in an active memory of the scope."""
        active = self._any_of("status", (Status.ACTIVE,))
        # Not np.unique: what it needs for masked arrays costs a new process's first search a tenth of its time.
        spoken = np.flatnonzero(np.bincount(self._said["speaker"].all[active]))
        return frozenset(name for name in map(self._names.__getitem__, spoken.tolist()) if name is not None)

    def _coded(self, names: Sequence[str | None]) -> list[int]:
        """The numbers that stand for `names` in this index."""
        for name in dict.fromkeys(names):
            if name not in self._codes:
                self._codes[name] = len(self._names)
                self._names.append(name)
        return list(map(self._codes.__getitem__, names))

    def _scores(self, terms: Iterable[int]) -> NDArray[np.float64]:
        if self._content.catch_up() | self._context.catch_up():
            self._weight = None
        scores = np.zeros(len(self._memory_ids))
        active = self._named["status"].all == self._codes.get(Status.ACTIVE, _GONE - 1)
        fields = [(self._content, self._bm25.content_weight), (self._context, self._bm25.context_weight)]
        averages = [float(field.lengths.all[active].mean() or 1.0) if active.any() else 1.0 for field, _ in fields]
        total = int(np.count_nonzero(active))
        frequency = np.zeros_like(scores)
        for term in terms:
            held = np.zeros(0, np.int64)
            for (field, weight), average in zip(fields, averages, strict=True):
                places, counts = field.of(term)
                held = np.concatenate([held, places[frequency[places] == 0]])
                frequency[places] += self._bm25.frequency(weight, counts, field.lengths.all[places], average)
            idf = self._bm25.idf(total, int(np.count_nonzero(active[held])))
            scores[held] += self._bm25.gain(idf, frequency[held])
            frequency[held] = 0.0
        return scores

    def _accepted(self, where: Where) -> NDArray[np.bool_]:
        """`Where.accepts` for every place at once; the scope is this one already."""
        statuses = where.statuses if where.as_of is None else where.statuses | {Status.SUPERSEDED}
        accepted = self._any_of("status", statuses)
        for name, values in (("kind", where.kinds), ("category", where.categories), ("key", where.keys)):
            if values is not None:
                accepted &= self._any_of(name, values)
        if where.hidden_keys:
            accepted &= ~self._any_of("key", where.hidden_keys)
        times = {name: column.all for name, column in self._times.items()}
        if where.happened_from is not None:
            accepted &= times["happened_at"] >= to_micros(where.happened_from)
        if where.happened_to is not None:
            accepted &= times["happened_at"] < to_micros(where.happened_to)
        if where.live_at is not None:
            accepted &= times["expires_at"] > to_micros(where.live_at)
        if where.as_of is not None:
            moment = to_micros(where.as_of)
            accepted &= (times["began_at"] <= moment) & (times["ended_at"] > moment)
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
        better = zip(scores[scores > worst].tolist(), self._named_at(places[scores > worst]), strict=True)
        ranked = sorted(better, reverse=True)
        last = sorted(self._named_at(places[scores == worst]), reverse=True)[: limit - len(ranked)]
        ranked += [(float(worst), memory_id) for memory_id in last]
        return [Scored(memory_id=memory_id, score=score) for score, memory_id in ranked]

    def _named_at(self, places: NDArray[np.int64]) -> list[str]:
        return [self._memory_ids[place] for place in places.tolist()]

    def _forget(self, row_ids: Iterable[int]) -> None:
        places = [self._places.pop(row_id) for row_id in list(row_ids)]
        self._named["status"].all[places] = _GONE
        self._vectors.all[places] = 0.0
        for place in places:
            del self._by_id[self._memory_ids[place]]
            self._memory_ids[place] = ""
