"""Search index of one scope, for the three ranked lists: by cosine, by BM25, by recency.

One index per scope, so that the cost of a search and its statistics depend on the scope's own memories and never on
other people's. Up to `EXACT_UP_TO` memories, vectors are compared exactly, one product for each. Beyond that, 1-bit
quantised vectors preselect candidates, and if the store can read vectors again, full vectors are not cached.

The image of an index is its columns one after the other, as they are in memory, so that a new process takes them over
instead of building them from rows. It begins with its head in JSON, one line, which gives type, length and checksum of
each column. No code is run to read it, and an unexpected type is refused.
"""

from __future__ import annotations

import json
import threading
import zlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import compress
from typing import Any, BinaryIO, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnemic.language.text.bm25 import BM25
from mnemic.stores.codec import EPOCH, EXACT_UP_TO, to_micros
from mnemic.stores.columns import (
    AppendOnlyColumn,
    BatchedSimilarity,
    Identifiers,
    NameLookup,
    NarrowColumn,
    QuantisedVectors,
    Read,
    SparseColumn,
    Vectors,
    any_of,
    latest,
    numbers_in,
)
from mnemic.types import Cues, Memory, Scored, Signals, Status, Vector, Where

_SPAN = 1 << 16
"""Places of one part: a place inside it takes two bytes, and putting a part in order little room."""

_BATCH = 1 << 14
_TAIL = 4096
_HALF = np.uint64(32)
_LOWER = np.uint64(0xFFFFFFFF)
_NONE = (np.zeros(0, np.int64), np.zeros(0))


class PostingsSegment(NamedTuple):
    """Terms of up to `_SPAN` places from `first` on: each term once, in order, followed by its places."""

    first: int
    terms: NDArray[np.uint32]
    starts: NDArray[np.uint32]
    places: NDArray[np.uint16]
    counts: NDArray[Any]

    @property
    def nbytes(self) -> int:
        return self.terms.nbytes + self.starts.nbytes + self.places.nbytes + self.counts.nbytes

    def places_with_term(self, term: np.uint32) -> tuple[NDArray[np.int64], NDArray[Any]] | None:
        at = int(np.searchsorted(self.terms, term))
        if at == len(self.terms) or self.terms[at] != term:
            return None
        inside = slice(int(self.starts[at]), int(self.starts[at + 1]))
        return self.places[inside] + np.int64(self.first), self.counts[inside]


def _part(first: int, terms: NDArray[np.uint32], places: NDArray[np.uint16], counts: NDArray[Any]) -> PostingsSegment:
    """Return the part of these postings, which are in the order of their terms."""
    begins = np.flatnonzero(terms[1:] != terms[:-1]) + 1
    starts = np.concatenate([[0], begins, [len(terms)]]) if len(terms) else np.zeros(1)
    most = int(counts.max()) if len(counts) else 0
    # Most terms occur a few times in a text: one byte is enough in nearly every part.
    narrow = counts.astype(np.min_scalar_type(most))
    return PostingsSegment(first, terms[starts[:-1].astype(np.int64)], starts.astype(np.uint32), places, narrow)


def _nothing(first: int) -> PostingsSegment:
    return _part(first, np.zeros(0, np.uint32), np.zeros(0, np.uint16), np.zeros(0, np.uint8))


class Postings:
    """Places that have a term in one field, and how often: parts sorted by term, the last with an unsorted tail."""

    def __init__(self) -> None:
        self._full: list[PostingsSegment] = []
        self._open = _nothing(0)
        self._late_terms, self._late_places, self._late_counts = self._tail()
        self._waiting: list[bytes] = []
        self._waiting_bytes = 0
        self.lengths = NarrowColumn()

    @staticmethod
    def _tail() -> tuple[AppendOnlyColumn, AppendOnlyColumn, AppendOnlyColumn]:
        return AppendOnlyColumn(np.uint32), AppendOnlyColumn(np.uint16), AppendOnlyColumn(np.uint32)

    @property
    def nbytes(self) -> int:
        """Memory in use."""
        tail = self._late_terms.nbytes + self._late_places.nbytes + self._late_counts.nbytes
        parts = sum(part.nbytes for part in (*self._full, self._open))
        # Pending values are as they came, an object for each place.
        waiting = self._waiting_bytes + 40 * len(self._waiting)
        return parts + tail + waiting + self.lengths.nbytes

    def extend(self, fields: Sequence[bytes]) -> None:
        """Append the field of each further place; it is found from the next `catch_up` on."""
        self._waiting += fields
        self._waiting_bytes += sum(map(len, fields))
        # Bounds the unmerged fields of a process that only writes.
        if len(self._waiting) >= _SPAN:
            self.catch_up()

    def catch_up(self) -> bool:
        """Merge appended values; return True if there were any. A writer needs only vectors and leaves this to the next
        search for words.
        """
        fields, self._waiting, self._waiting_bytes = self._waiting, [], 0
        taken = 0
        while taken < len(fields):
            room = self._open.first + _SPAN - len(self.lengths.all)
            batch = fields[taken : taken + min(room, _BATCH)]
            self._take(batch)
            taken += len(batch)
            if len(batch) == room:
                self._settle()
                self._full.append(self._open)
                self._open = _nothing(len(self.lengths.all))
        # The tail may grow with the part: sorting at a fixed size would take quadratic time in all.
        if len(self._late_terms.all) > _TAIL + len(self._open.places) // 16:
            self._settle()
        return bool(fields)

    def places_with_term(self, term: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the places that contain `term`, each once, and how often."""
        if not (self._full or len(self._open.terms) or len(self._late_terms)):
            return _NONE  # as the contexts of most scopes are
        wanted = np.uint32(term)
        found = [rows for part in (*self._full, self._open) if (rows := part.places_with_term(wanted)) is not None]
        # The tail is unsorted, so it is scanned; it is short.
        late = np.flatnonzero(self._late_terms.all == wanted)
        if len(late):
            found.append((self._late_places.all[late] + np.int64(self._open.first), self._late_counts.all[late]))
        if not found:
            return _NONE
        if len(found) == 1:
            return found[0][0], found[0][1].astype(np.float64)
        places, counts = zip(*found, strict=True)
        return np.concatenate(places), np.concatenate(counts, dtype=np.float64)

    def _take(self, fields: Sequence[bytes]) -> None:
        """Append these fields to the tail; they fit into the open part."""
        first = len(self.lengths.all) - self._open.first
        offsets = np.repeat(np.arange(len(fields)), [len(field) // 4 for field in fields])
        terms = np.frombuffer(b"".join(fields), "<u4")
        offsets, terms = offsets[terms != 0], terms[terms != 0]
        self.lengths.extend(np.bincount(offsets, minlength=len(fields)))
        # Term and place in one integer: a single sort orders by both.
        pairs, counts = np.unique(terms.astype(np.uint64) << _HALF | offsets.astype(np.uint64), return_counts=True)
        self._late_terms.extend(pairs >> _HALF)
        self._late_places.extend((pairs & _LOWER) + np.uint64(first))
        self._late_counts.extend(counts)

    def _settle(self) -> None:
        """Sort the tail into the open part."""
        part = self._open
        terms = np.concatenate([np.repeat(part.terms, np.diff(part.starts)), self._late_terms.all])
        order = np.argsort(terms, kind="stable")
        places = np.concatenate([part.places, self._late_places.all])[order]
        counts = np.concatenate([part.counts, self._late_counts.all])[order]
        self._open = _part(part.first, terms[order], places, counts)
        self._late_terms, self._late_places, self._late_counts = self._tail()


class Quoted(NamedTuple):
    """Phrases that a memory must contain, word next to word: their terms, and a function that says of each of some rows
    with all these terms whether it contains the phrases. An index does not know the order of terms.
    """

    terms: Collection[int]
    kept: Callable[[Sequence[int]], list[bool]]


def containing(fields: tuple[Postings, Postings], terms: Iterable[int], size: int) -> NDArray[np.bool_]:
    """Mark those of `size` places that have all of `terms`, in whichever field."""
    found = np.ones(size, np.bool_)
    for term in terms:
        holders = np.zeros(size, np.bool_)
        for field in fields:
            holders[field.places_with_term(term)[0]] = True
        found &= holders
    return found


class ActivePlaces(NamedTuple):
    """The places that count in a state of a scope, their number, and the average length of each field there."""

    places: NDArray[np.bool_]
    total: int
    averages: tuple[float, ...]

    def holding(self, holders: NDArray[np.int64]) -> int:
        """Return the number of `holders` that count."""
        return len(holders) if self.total == len(self.places) else int(np.count_nonzero(self.places[holders]))


def active_of(fields: Iterable[Postings], active: NDArray[np.bool_]) -> ActivePlaces:
    """Return what every search in one state of a scope needs of its `active` places."""
    total = int(np.count_nonzero(active))
    sums = [int(field.lengths.all[active].sum(dtype=np.int64)) for field in fields]
    return ActivePlaces(active, total, tuple(found / max(total, 1) or 1.0 for found in sums))


def text_scores(fields: tuple[Postings, Postings], active: ActivePlaces, terms: Iterable[int]) -> NDArray[np.float64]:
    """Return the score of every place; `fields` are the contents and the contexts, `active` the places that count."""
    scores = np.zeros(len(active.places))
    weights = BM25.content_weight, BM25.context_weight
    total, averages = active.total, active.averages
    lengths = [field.lengths.all for field in fields]
    frequency = np.zeros_like(scores)
    for term in terms:
        found = [(number, *field.places_with_term(term)) for number, field in enumerate(fields)]
        found = [one for one in found if len(one[1])]
        # Most terms are in one of the fields: nothing has to be added up then.
        if len(found) == 1:
            number, holders, counts = found[0]
            gained = BM25.frequency(weights[number], counts, lengths[number][holders], averages[number])
        else:
            holders = np.zeros(0, np.int64)
            for number, places, counts in found:
                holders = np.concatenate([holders, places[frequency[places] == 0]])
                frequency[places] += BM25.frequency(weights[number], counts, lengths[number][places], averages[number])
            gained = frequency[holders]
            frequency[holders] = 0.0
        idf = BM25.idf(total, active.holding(holders))
        scores[holders] += BM25.gain(idf, gained)
    return scores


_GONE = -1
CARRIED = 64
"""Places of removed memories that any index may have: more are kept only beside as many living ones."""
_WEIGHED_AFTER, _ENTRY_BYTES = 64, 6_000
"""Memories added after which the size of an index is computed again, and the assumed size of each until then."""
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
        self.recalled = NeighbourCache()
        self._signals = MemoryCache(self._made_signals)
        self._weight: int | None = None
        self._grown = 0
        self._last_accepted: tuple[Where, NDArray[np.bool_]] | None = None
        self._last_spoken: frozenset[str] | None = None
        self._last_active: ActivePlaces | None = None

    def __len__(self) -> int:
        return self._live

    @property
    def nbytes(self) -> int:
        """Memory in use, by estimate. Recomputed now and then only: every use of an index asks for it."""
        if self._weight is None or self._grown > _WEIGHED_AFTER:
            self._weight, self._grown = self._count_bytes(), 0
        return self._weight + _ENTRY_BYTES * self._grown + self.recalled.nbytes

    def _count_bytes(self) -> int:
        columns: list[_Weighed] = [self._identifiers, self._vectors, self._expected, self._cues, self._happened]
        columns += [self._signals, self._content, self._context]
        columns += [*self._named.values(), *self._said.values(), *self._times.values()]
        return sum(column.nbytes for column in columns) + 250 * len(self.names)

    @property
    def wasteful(self) -> bool:
        """True if rebuilding is cheaper than carrying on: most places are gone, or so few memories are left that their
        vectors fit into memory again.
        """
        shrunk = not self._vectors.whole and 4 * self._live < 3 * EXACT_UP_TO
        return shrunk or len(self._identifiers) > CARRIED + 2 * self._live

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
        """Continue with columns that were loaded from an image."""
        self.names, self._live, self.seen = list(names), live, seen
        self._codes = {name: code for code, name in enumerate(self.names)}
        self._weight = None
        self._last_accepted = self._last_spoken = self._last_active = None

    def put(self, entries: Sequence[IndexEntry]) -> None:
        """Add these memories, or change those that are there already."""
        if not entries:
            return
        self._grown += len(entries)
        self._last_accepted = self._last_spoken = self._last_active = None
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
            codes.extend(self._encode_names(columns[name]))
        for name in ("session", "speaker"):
            self._said[name].extend(self._encode_names(columns[name]))
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

    def find_near(
        self, where: Where, vector: Vector, *, limit: int, at_least: float, read: Read | None = None
    ) -> list[Scored]:
        """Return at most `limit` memories with a cosine of at least `at_least`, best first. Exact while vectors are in
        memory; where they are reread, approximate as in `nearest`.
        """
        if not self._vectors.whole:
            found = self.nearest(where, vector, limit=limit, read=read)
            return [entry for entry in found if entry.score >= at_least]
        return self._identifiers.best(*self._close(where, vector, limit, at_least, read), limit)

    def near_places(
        self, where: Where, vector: Vector, limit: int, at_least: float, read: Read | None = None
    ) -> tuple[list[int], list[float]]:
        """Return the places of `near`, and their cosines, in its order."""
        if self._vectors.whole:
            places, scores = self._close(where, vector, limit, at_least, read)
            best = scores[order := np.argsort(-scores)[: limit + 1]]
            if not (best[1:] == best[:-1]).any():  # among equals their identifiers decide
                return places[order[:limit]].tolist(), best[:limit].tolist()
        found = self.find_near(where, vector, limit=limit, at_least=at_least, read=read)
        return self.places_of([entry.memory_id for entry in found]), [entry.score for entry in found]

    def _close(
        self, where: Where, vector: Vector, limit: int, at_least: float, read: Read | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the accepted places with a cosine of at least `at_least`, as far as the best `limit` need them."""
        accepted, present = self._accepted_places(where), self._vectors.present
        wanted = np.frombuffer(vector, "<f4")
        if (known := self._expected.find_near(vector, at_least, len(accepted))) is not None:
            among = known[0][(accepted & present)[known[0]]]
            places, scores = self._vectors.cosines(among, wanted, self._identifiers.rows, read)
            if known[1] <= at_least or np.count_nonzero(scores >= known[1]) >= limit:
                enough = scores >= at_least
                return places[enough], scores[enough]
        return self._vectors.find_near(accepted, wanted, at_least)

    def nearest(self, where: Where, vector: Vector, *, limit: int, read: Read | None = None) -> list[Scored]:
        """Return by cosine, best first, the memories that `where` accepts and that have a vector. Exact up to
        `EXACT_UP_TO` memories; beyond that some of the last may be missed, but their number never falls short. `read`
        rereads vectors; an index that `rereads` needs it.
        """
        accepted = self._accepted_places(where) & self._vectors.present
        wanted = np.frombuffer(vector, "<f4")
        if self._live <= EXACT_UP_TO:
            chosen = np.flatnonzero(accepted)
        else:
            chosen = self._vectors.likely(accepted, wanted, limit=limit)
            self._weight = None if self._vectors.whole else self._weight
        places, scores = self._vectors.cosines(chosen, wanted, self._identifiers.rows, read)
        # The cosines are products of this width; the best of them are found in half the time.
        return self._identifiers.best(places, scores.astype(np.float32), limit)

    def match(self, where: Where, terms: Sequence[int], *, limit: int, quoted: Quoted | None = None) -> list[Scored]:
        """By BM25, best first, only positive scores; if something is `quoted`, only rows that contain it."""
        chosen, fields = self._accepted_places(where), (self._content, self._context)
        if self._content.catch_up() | self._context.catch_up():
            self._weight = None
        if quoted is not None:
            holders = np.flatnonzero(chosen & containing(fields, quoted.terms, len(chosen)))
            kept = quoted.kept(self._identifiers.rows[holders].tolist())
            chosen = np.zeros_like(chosen)
            chosen[holders[kept]] = True
        if self._last_active is None:
            self._last_active = active_of(fields, self._any_of("status", (Status.ACTIVE,)))
        scores = text_scores(fields, self._last_active, terms)
        found = np.flatnonzero(chosen & (scores > 0))
        return self._identifiers.best(found, scores[found], limit)

    def recent(self, where: Where, *, limit: int) -> list[Scored]:
        """By time, newest first; the score is seconds since 1970."""
        chosen = latest(np.flatnonzero(self._accepted_places(where)), self._happened.all, limit)
        return self._identifiers.best(chosen, self._happened.all[chosen] / 1e6, limit)

    def signals(self, memory_ids: Collection[str]) -> dict[str, Signals]:
        """Return the ranking facts of those of the memories that are in the index, by id."""
        return self._signals.values_of(memory_ids)

    def _made_signals(self, memory_ids: Sequence[str]) -> dict[str, Signals]:
        live = self._is_live(found := self._identifiers.of_ids(memory_ids))
        known, places, named = list(compress(memory_ids, live.tolist())), found[live], self.names.__getitem__
        # A column after the other and past the constructors: the first searches make some hundred of these each.
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

    def places_of(self, memory_ids: Sequence[str]) -> list[int]:
        """Return the last place of each of these memories, -1 if there is none."""
        places: list[int] = self._identifiers.of_ids(memory_ids).tolist()
        return places

    def ids_at(self, places: Sequence[int]) -> list[str]:
        """Return the identifiers of the memories at these places."""
        return self._identifiers.names_at(np.array(places, np.int64))

    def speakers(self) -> frozenset[str]:
        """Return everybody who speaks in an active memory of the scope."""
        if self._last_spoken is None:
            spoken = numbers_in(self._said["speaker"].all[self._any_of("status", (Status.ACTIVE,))])
            self._last_spoken = frozenset(name for name in map(self.names.__getitem__, spoken) if name is not None)
        return self._last_spoken

    def _encode_names(self, names: Sequence[str | None]) -> list[int]:
        """Return the numbers that represent `names` in this index."""
        for name in dict.fromkeys(names):
            if name not in self._codes:
                self._codes[name] = len(self.names)
                self.names.append(name)
        return list(map(self._codes.__getitem__, names))

    def _accepted_places(self, where: Where) -> NDArray[np.bool_]:
        """Evaluate `Where.accepts` for all places; the next list of a search shares the array: do not change it."""
        if where.keys is not None and self._codes.keys().isdisjoint(where.keys):
            return np.zeros(len(self._identifiers), np.bool_)  # the words of a question are seldom keys
        if self._last_accepted is None or self._last_accepted[0] is not where:
            self._last_accepted = (where, self._evaluate_filter(where))
        return self._last_accepted[1]

    def _evaluate_filter(self, where: Where) -> NDArray[np.bool_]:
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
        return any_of(self._named[name].all, [self._codes[value] for value in values if value in self._codes])

    def _is_live(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Mark those of these places that still have a memory; -1 has none."""
        stands: NDArray[np.bool_] = places >= 0
        stands[stands] = self._named["status"].all[places[stands]] != _GONE
        return stands

    def _live_places(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        return places[self._is_live(places)]

    def _forget(self, places: NDArray[np.int64]) -> None:
        self._last_accepted = self._last_spoken = self._last_active = None
        self._live -= len(places)
        self.recalled.forget(places.tolist())
        self._signals.forget(self._identifiers.names_at(places))
        self._named["status"].all[places] = _GONE
        self._vectors.forget(places)


MAX_CACHED_VALUES = 32_768
"""Maximum number of memories with cached values; beyond that all are dropped, and made again on use."""
_BYTES = 300
"""Memory that one value takes, about."""

T = TypeVar("T")


class MemoryCache(Generic[T]):
    """Values by identifier. `make` returns those of several memories, without those that have none."""

    def __init__(self, make: Callable[[Sequence[str]], Mapping[str, T]]) -> None:
        self._make = make
        self._kept: dict[str, T] = {}

    @property
    def nbytes(self) -> int:
        """Memory in use, by estimate."""
        return _BYTES * len(self._kept)

    def values_of(self, memory_ids: Iterable[str]) -> dict[str, T]:
        """Return the values of those of the memories that have one, in their order."""
        kept, wanted = self._kept, list(memory_ids)
        if unknown := [one for one in wanted if one not in kept]:
            if len(kept) + len(unknown) > MAX_CACHED_VALUES:
                kept, unknown = {}, wanted
                self._kept = kept
            kept.update(self._make(unknown))
        return {one: kept[one] for one in wanted if one in kept}

    def forget(self, memory_ids: Iterable[str]) -> None:
        """Drop the values of these memories."""
        for one in memory_ids:
            self._kept.pop(one, None)


MAX_CACHED_NEIGHBOURS = 16_384
"""Maximum number of cached memories, the latest used."""
BYTES = 4_000
"""Memory that one takes, about, its vector among it."""


class NeighbourCache:
    """Memories by the index place that they were read at. A memory that changes moves to another place, so a memory at
    the same place is unchanged.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Memory] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Memory in use, by estimate."""
        return BYTES * len(self._kept)

    def memories_at(self, places: Sequence[int]) -> list[Memory | None]:
        """Return the memories at these places, None for those that are not cached."""
        found = list(map(self._kept.get, places))
        for place, memory in zip(places, found, strict=True):
            if memory is not None:
                self._kept.move_to_end(place)
        return found

    def keep(self, memories: Sequence[Memory], places: Sequence[int]) -> None:
        """Cache these memories, without those at no place (-1), and evict those not met for the longest time."""
        self._kept |= [(place, one) for place, one in zip(places, memories, strict=True) if place >= 0]
        while len(self._kept) > MAX_CACHED_NEIGHBOURS:
            self._kept.popitem(last=False)

    def forget(self, places: Iterable[int]) -> None:
        """Evict the memories at these places."""
        for place in places:
            self._kept.pop(place, None)


class Slot:
    """Index of one scope, with a lock for threads that share it."""

    __slots__ = ("index", "lock")

    def __init__(self, index: ScopeIndex) -> None:
        self.index = index
        self.lock = threading.Lock()


class IndexCache:
    """LRU cache of slots by scope. Users report the size of a slot after each use. Thread-safe. If the store `rereads`
    vectors, the index of a large scope drops them.
    """

    def __init__(self, *, dimension: int, budget: int, rereads: bool = False) -> None:
        self._dimension = dimension
        self._budget = budget
        self._rereads = rereads
        self._slots: OrderedDict[Hashable, Slot] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self._lock = threading.Lock()

    def empty(self) -> ScopeIndex:
        """Return a new index without memories."""
        return ScopeIndex(self._dimension, rereads=self._rereads)

    def slot(self, scope: Hashable) -> Slot:
        """Return the scope's slot, with an empty index if there was none."""
        with self._lock:
            slot = self._slots.get(scope)
            if slot is None:
                slot = self._slots[scope] = Slot(self.empty())
            self._slots.move_to_end(scope)
            return slot

    def peek(self, scope: Hashable) -> Slot | None:
        """Return the scope's slot if there is one; it is not used by that."""
        with self._lock:
            return self._slots.get(scope)

    def weigh(self, scope: Hashable, size: int) -> None:
        """Record the bytes of the scope's index, and evict others until all fit; the last one is never evicted."""
        with self._lock:
            self._sizes[scope] = size
            # The last one stays even if it is too large: evicting the index in use would rebuild it with every search.
            while len(self._slots) > 1 and sum(self._sizes.values()) > self._budget:
                dropped, _ = self._slots.popitem(last=False)
                self._sizes.pop(dropped, None)


FORMAT = 1
"""To be raised with every change in the meaning of a column: an image of another format is not read."""

_ALIGNED = 64
"""Bytes, a cache line: columns begin at multiples of it, so that numpy reads them in place."""
_OWN = (AppendOnlyColumn, SparseColumn, Postings, Vectors, QuantisedVectors, Identifiers, NameLookup)
_COLUMNS = ("_identifiers", "_vectors", "_named", "_said", "_cues", "_happened", "_times", "_content", "_context")
_DERIVED = frozenset({"_column", "_key", "_late", "_waiting"})
"""Attributes that are not in an image: they refer to other columns, or are empty once an index is settled."""


class UnusableImage(ValueError):
    """The bytes are no image, or not one that this index can load."""


def write_image(index: ScopeIndex, file: BinaryIO, mark: Mapping[str, Any]) -> None:
    """Write the index to `file`; `mark` is stored in its head. Raises OSError."""
    index.settle()
    arrays: list[NDArray[Any]] = []
    columns = {name: _describe_value(vars(index)[name], arrays) for name in _COLUMNS}
    lengths = [array.nbytes for array in arrays]
    checks = [zlib.crc32(_bytes(array)) for array in arrays]
    said = {"names": index.names, "live": len(index), "seen": index.seen, "columns": columns}
    head = json.dumps({"format": FORMAT, "mark": dict(mark), "lengths": lengths, "checks": checks} | said).encode()
    # The checksum of the head comes first, in eight digits, so that a damaged head is never parsed.
    checked = b"%08x" % zlib.crc32(head) + head + b"\n"
    file.write(checked + bytes(-len(checked) % _ALIGNED))
    for array in arrays:
        file.write(_bytes(array))
        file.write(bytes(-array.nbytes % _ALIGNED))


def read_image(data: bytearray, index: ScopeIndex, mark: Mapping[str, Any]) -> None:
    """Let `index`, an empty one, load the image in `data`; it uses these bytes from then on. Raises Unfit if they are
    damaged, of another format, or have another mark; the index is of no use then.
    """
    try:
        end = data.index(b"\n") + 1
        said = bytes(data[8 : end - 1])
        if int(data[:8], 16) != zlib.crc32(said):
            raise UnusableImage("head")
        head = json.loads(said)
        if head["format"] != FORMAT or head["mark"] != dict(mark):
            raise UnusableImage("mark")
        parts, at = [], end + -end % _ALIGNED
        for length, check in zip(head["lengths"], head["checks"], strict=True):
            part = memoryview(data)[at : at + length]
            if len(part) != length or zlib.crc32(part) != check:
                raise UnusableImage("column")
            parts.append(part)
            at += length + -length % _ALIGNED
        for name in _COLUMNS:
            _restore(vars(index), name, head["columns"][name], parts)
        index.taken_over(head["names"], live=head["live"], seen=head["seen"])
    except UnusableImage:
        raise
    # A file may contain anything. For any error in its shape, the index is built from rows instead.
    except (KeyError, TypeError, IndexError, ValueError, AttributeError, RecursionError) as error:
        raise UnusableImage("shape") from error


def _bytes(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _describe_value(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return the JSON form of a value, its arrays moved into `arrays`."""
    if isinstance(value, AppendOnlyColumn):
        return {"room": _describe_value(value.all, arrays)} | _numbers(value)
    if isinstance(value, PostingsSegment):
        return {"part": [_describe_value(one, arrays) for one in value]}
    if isinstance(value, _OWN):
        return {name: _describe_value(one, arrays) for name, one in vars(value).items() if name not in _DERIVED}
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return {"array": len(arrays) - 1, "type": value.dtype.descr, "shape": value.shape}
    if isinstance(value, Mapping):
        return {"pairs": [[key, _describe_value(one, arrays)] for key, one in value.items()]}
    if isinstance(value, list):
        return {"items": [_describe_value(one, arrays) for one in value]}
    return {"value": value}


def _numbers(column: AppendOnlyColumn) -> dict[str, Any]:
    return {name: value for name, value in vars(column).items() if isinstance(value, int) and name != "_size"}


def _restore(holder: dict[str, Any], name: str, said: Any, parts: list[memoryview]) -> None:
    """Give the attribute `name` the value that was described: a column in place, for other columns refer to it."""
    present = holder[name]
    if isinstance(present, AppendOnlyColumn) and "room" in said:
        present.take_over(_array(said["room"], parts))
        vars(present).update({key: int(value) for key, value in said.items() if key in _numbers(present)})
    elif isinstance(present, _OWN) and said != {"value": None}:
        for attribute in vars(present):
            if attribute not in _DERIVED:
                _restore(vars(present), attribute, said[attribute], parts)
    elif isinstance(present, Mapping) and present and isinstance(next(iter(present.values())), _OWN):
        for key, one in said["pairs"]:
            _restore(holder[name], key, one, parts)
    elif isinstance(present, list) and present and isinstance(present[0], _OWN):
        for column, one in zip(present, said["items"], strict=True):
            _restore({"column": column}, "column", one, parts)
    else:
        holder[name] = _value(said, parts)


def _value(said: Any, parts: list[memoryview]) -> Any:
    if "array" in said:
        return _array(said, parts)
    if "part" in said:
        return PostingsSegment(*(_value(one, parts) for one in said["part"]))
    if "items" in said:
        return [_value(one, parts) for one in said["items"]]
    if "pairs" in said:
        return {key: _value(one, parts) for key, one in said["pairs"]}
    return said["value"]


def _array(said: Any, parts: list[memoryview]) -> NDArray[Any]:
    fields = [tuple(one) for one in said["type"]]
    kind = np.dtype(fields[0][1]) if len(fields) == 1 and not fields[0][0] else np.dtype(fields)
    # A column of objects would take the bytes of the file for addresses.
    if kind.hasobject:
        raise UnusableImage("type")
    part = parts[said["array"]]
    return np.frombuffer(part, kind).reshape(said["shape"]) if len(part) else np.zeros(said["shape"], kind)
