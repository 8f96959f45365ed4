"""Search indexes of the scopes in use, fed from the file and bounded in memory."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import apsw
import numpy as np

from mnemic.stores.codec import (
    blob_check,
    cosines,
    cues_of,
    dump,
    fields_of,
    to_micros,
    unpacked_vector,
    vector_check,
    words_check,
)
from mnemic.stores.encryption import NOTHING, SearchData
from mnemic.stores.scope_index import IndexCache, IndexEntry, ScopeIndex, Slot, is_large
from mnemic.stores.sqlite.index_files import load
from mnemic.stores.sqlite.rows import (
    GET_MANY,
    MEMORY,
    SOURCES,
    Rows,
    ScopeState,
    WrittenRow,
    fetch,
    find_place,
    wanted_memories,
)
from mnemic.types import Memory, Scope, Status, Vector, Where
from mnemic.types.values import VECTOR_STEPS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_FIRST = to_micros(datetime(1, 1, 1, tzinfo=UTC)) or 0
_LAST = to_micros(datetime(9999, 12, 31, tzinfo=UTC)) or 0
_FEW = 16
"""Rows from which on a page is worth turning into columns."""


def entries_of(
    rows: Rows, connection: apsw.Connection, page: Sequence[tuple[Any, ...]], vector_bytes: int
) -> list[IndexEntry]:
    """Return the index entries of `page`, with the columns of an `IndexEntry` and two checksums in its rows.

    A damaged vector is left out, and so is one of another length, which another process has written for another space.
    Damaged words are computed again; a row without a time is left out.
    """
    if len(page) >= _FEW and (whole := _whole(page, vector_bytes)) is not None:
        return cast("list[IndexEntry]", whole)
    opened = (_entry(rows, connection, row, vector_bytes) for row in page)
    return cast("list[IndexEntry]", [entry for entry in opened if entry is not None])


def entry_of(row: WrittenRow) -> IndexEntry:
    """Return the index entry of a row that was just written, and is not sealed."""
    assert row.searched is not None
    columns, searched, memory = row.columns, row.searched, row.memory
    named = [columns[name] for name in _NAMED]
    _, *words, speaker, cues = searched
    rest = [memory.vector, *words, columns["session"], row.turn, speaker, cues]
    return IndexEntry._make([row.row_id, *named, *rest])


_NAMED = (
    "memory_id", "kind", "status", "key", "category", "happened_at", "began_at", "ended_at", "expires_at",
)  # fmt: skip
"""Columns of a row that are in its entry as they are."""


def _whole(page: Sequence[tuple[Any, ...]], vector_bytes: int) -> list[tuple[Any, ...]] | None:
    """Return the entries of a page in which every row is plain and as it was written; None for any other page."""
    *columns, vector_checks, words_checks = zip(*page, strict=True)
    vectors, contents, contexts, speakers, cues = (columns[at] for at in (10, 11, 12, 15, 16))
    try:
        said = zip(contents, contexts, [(speaker or "").encode() for speaker in speakers], cues, strict=True)
        # The checksum of words is that of its parts in a row.
        whole = words_checks == tuple(map(zlib.crc32, map(b"".join, said)))
        checked = vector_check if None in vectors else zlib.crc32
        whole = whole and vector_checks == tuple(map(checked, vectors))
    except (AttributeError, TypeError):  # a value of another type than was written
        return None
    if not (whole and all(cues) and None not in columns[6] and _are_times(chain(*columns[6:10]))):
        return None
    columns[10] = _unpack_vectors(vectors)
    if not {*map(len, filter(None, columns[10]))} <= {vector_bytes}:
        return None
    return list(zip(*columns, strict=True))


def _unpack_vectors(vectors: Sequence[bytes | None]) -> tuple[Vector | None, ...]:
    """Return the vectors of a page: in one piece if all are packed alike."""
    sizes = {len(vector or b"") for vector in vectors}
    if len(sizes) > 1 or not (size := sizes.pop()) % 2:
        return tuple(map(unpacked_vector, vectors))
    packed = np.frombuffer(b"".join(cast("Sequence[bytes]", vectors)), np.uint8).reshape(-1, size)
    steps = np.ascontiguousarray(packed[:, 1:]).view("<i2")
    opened = np.multiply(steps, 1 / VECTOR_STEPS, dtype="<f4").tobytes()
    width = 2 * (size - 1)
    return tuple(opened[at : at + width] for at in range(0, len(opened), width))


def _entry(rows: Rows, connection: apsw.Connection, stored: Sequence[Any], vector_bytes: int) -> tuple[Any, ...] | None:
    """Return one row's entry, as `entries_of` does; None for a row without a time."""
    *row, vector_checked, words_checked = stored
    *columns, vector, content, context, session, turn, speaker, cues = row
    if columns[6] is None or not _are_times(columns[6:10]):
        rows.noted.note(row[0])
        return None
    if vector_checked != vector_check(vector):
        rows.noted.note(row[0])
        vector = row[10] = None
    if words_checked != words_check(content, context, speaker, cues):
        rows.noted.note(row[0])
        again = _said_again(rows, connection, row[0])
        fitting = again.vector if again.vector and len(again.vector) == vector_bytes else None
        return (*columns, fitting, again.content, again.context, session, turn, again.speaker, again.cues)
    if cues:
        vector = row[10] = unpacked_vector(vector)
        if vector is None or len(vector) == vector_bytes:
            return tuple(row)
    found = rows.sealer.read_search_data(columns[1], SearchData(vector, content, context, speaker, cues))
    fitting = found.vector if found.vector and len(found.vector) == vector_bytes else None
    return (*columns, fitting, found.content, found.context, session, turn, found.speaker, found.cues)


def _said_again(rows: Rows, connection: apsw.Connection, row_id: int) -> SearchData:
    """Return the search data of a memory, made from its content; nothing if that is damaged too."""
    for row in fetch(connection, f"SELECT {MEMORY} FROM {SOURCES} WHERE m.row_id = ?", (row_id,)):  # noqa: S608
        for memory in rows.whole([row]):
            content, context = map(rows.terms.pack, fields_of(memory))
            return SearchData(memory.vector, content, context, memory.source.speaker, cues_of(memory))
    return NOTHING


def _are_times(moments: Iterable[Any]) -> bool:
    """Check that each of these is nothing, or microseconds that a calendar has; the columns have no checksum."""
    known = [one for one in moments if one is not None]
    return {*map(type, known)} <= {int} and (not known or (min(known) >= _FIRST and max(known) <= _LAST))


# The columns of an `IndexEntry`, in its order.
_ENTRIES = """
    SELECT m.row_id, m.memory_id, m.kind, m.status, m.key, m.category,
           m.happened_at, m.began_at, m.ended_at, m.expires_at, s.vector, s.content, s.context,
           m.session, m.turn, s.speaker, s.cues, s.vector_check, s.words_check
    FROM memory m JOIN memory_search s ON s.row_id = m.row_id
"""
_WHOLE = _ENTRIES + "WHERE m.row_id > :after AND m.row_id < (:scope_id + 1 << 32) ORDER BY m.row_id LIMIT :page"
_CHANGED = _ENTRIES + "WHERE m.scope_id = :scope_id AND m.changed > :seen"
_ROWS = "SELECT row_id FROM memory WHERE row_id BETWEEN :scope_id << 32 AND (:scope_id + 1 << 32) - 1"
# A sealed row is opened by its memory_id.
_VECTORS = """
    SELECT s.vector, s.vector_check,
        CASE WHEN s.cues = x'' THEN (SELECT m.memory_id FROM memory m WHERE m.row_id = s.row_id) END
    FROM json_each(?) w LEFT JOIN memory_search s ON s.row_id = w.value
"""

_PAGE = 512
"""Memories read at a time: a page, some 2 MB, stays in the processor's cache and is used again."""


def _pages(connection: apsw.Connection, scope_id: int) -> Iterator[list[tuple[Any, ...]]]:
    """Everything in a scope, as of the transaction that is open."""
    after = (scope_id << 32) - 1
    while rows := fetch(connection, _WHOLE, {"scope_id": scope_id, "after": after, "page": _PAGE}):
        yield rows
        after = rows[-1][0]


class ScopeIndexes:
    """An index is loaded at a scope's first search and brought up to date before each; the least used go first.

    That of a large scope is read from its image beside the file (`index_files`), if `imaged`, and given to `save`, with
    the scope's number and the count of changes as of which it was read, if there was none or much has changed.
    """

    def __init__(
        self,
        *,
        rows: Rows,
        dimension: int,
        budget: int,
        imaged: bool = False,
        save: Callable[[int, Slot, int], None] | None = None,
    ) -> None:
        self._rows = rows
        self._images, self._save = imaged, save
        self._cache = IndexCache(dimension=dimension, budget=budget, rereads=True)
        self._vector_bytes = 4 * dimension

    @contextmanager
    def use(self, connection: apsw.Connection, place: ScopeState) -> Iterator[ScopeIndex]:
        """Yield the index as of `connection`'s open read transaction, in which `place` was found, or newer if another
        thread has read further.
        """
        slot = self._cache.slot(place.scope_id)
        with slot.lock:
            # The scope counts its changes, so an index that has seen as many is current without reading a row.
            if slot.index.seen < place.changes:
                self._refresh(connection, place, slot)
            yield slot.index
            size = slot.index.nbytes
        # Outside the slot's lock: weighing may evict other indexes and takes their locks.
        self._cache.weigh(place.scope_id, size)

    def recall_cached(self, place: ScopeState, memory_ids: Sequence[str]) -> dict[str, Memory]:
        """Return those of the scope's memories, as of `place`, that have been read before and not changed since."""
        slot = self._cache.peek(place.scope_id)
        if slot is None:
            return {}
        with slot.lock:
            if slot.index.seen != place.changes:
                return {}
            found = slot.index.recalled.memories_at(slot.index.places_of(memory_ids))
        return {memory_id: one for memory_id, one in zip(memory_ids, found, strict=True) if one is not None}

    def keep(self, place: ScopeState, memories: Sequence[Memory]) -> None:
        """Keep memories of the scope that were read as of `place`, for later reads."""
        slot = self._cache.peek(place.scope_id)
        if slot is None:
            return
        with slot.lock:
            if slot.index.seen == place.changes:
                self._recall(slot.index, memories)

    def follow(self, written: Sequence[WrittenRow]) -> None:
        """Add rows that this process has just committed to the indexes that knew all before them. Others are brought up
        to date from the file when they are next used.
        """
        by_scope: dict[int, list[WrittenRow]] = {}
        for row in written:
            by_scope.setdefault(row.scope_id, []).append(row)
        for scope_id, rows in by_scope.items():
            slot = self._cache.peek(scope_id)
            # Each change of the scope has to be among them: a removal and another process's write are not.
            whole = [row.changed for row in rows] == list(range(rows[0].changed, rows[0].changed + len(rows)))
            if slot is None or not whole or not all(row.searched and row.searched.cues for row in rows):
                continue
            last = list({row.row_id: row for row in rows}.values())
            with slot.lock:
                if slot.index.seen and slot.index.seen == rows[0].changed - 1 and not slot.index.wasteful:
                    try:
                        self._add(slot.index, last)
                        slot.index.seen = rows[-1].changed
                    except Exception:  # noqa: BLE001  (the rows are committed: their writer has to learn that)
                        slot.index = self._cache.empty()

    def _add(self, index: ScopeIndex, rows: Sequence[WrittenRow]) -> None:
        index.put([entry_of(row) for row in rows])
        self._recall(index, [row.memory for row in rows])

    def _recall(self, index: ScopeIndex, memories: Sequence[Memory]) -> None:
        if not self._rows.sealer.opens:  # sealed content stays readable only as long as its key exists
            index.recalled.keep(memories, index.places_of([memory.memory_id for memory in memories]))

    def read(self, connection: apsw.Connection, row_ids: Sequence[int]) -> list[Vector | None]:
        """Return the vectors of these rows, as of `connection`'s open transaction, decrypted if they are encrypted."""
        rows = fetch(connection, _VECTORS, (dump(list(row_ids)),))
        whole = ((vector if check == vector_check(vector) else None, memory_id) for vector, check, memory_id in rows)
        opened = (
            self._rows.sealer.vector(memory_id, vector) if memory_id else unpacked_vector(vector)
            for vector, memory_id in whole
        )
        return [vector if vector and len(vector) == self._vector_bytes else None for vector in opened]

    def _refresh(self, connection: apsw.Connection, place: ScopeState, slot: Slot) -> None:
        # Too many removed rows: rebuilding is cheaper than carrying them along.
        if slot.index.wasteful:
            slot.index = self._cache.empty()
        imaged = self._load_image(connection, place, slot) if not slot.index.seen else 0
        first = slot.index.seen in (0, imaged)
        seen = slot.index.seen
        known = {"scope_id": place.scope_id, "seen": seen}
        for page in [fetch(connection, _CHANGED, known)] if seen else _pages(connection, place.scope_id):
            slot.index.put(entries_of(self._rows, connection, page, self._vector_bytes))
        # Removed rows leave no trace in the table, so the rows that remain are listed instead.
        if seen < place.removed_at:
            rows = connection.execute(_ROWS, {"scope_id": place.scope_id})
            slot.index.keep(np.fromiter((row_id for (row_id,) in rows), np.int64))
        slot.index.seen = place.changes
        stale = 4 * (place.changes - imaged) > place.changes
        if first and stale and self._save is not None and slot.index.thinned:
            self._save(place.scope_id, slot, place.changes)

    def _load_image(self, connection: apsw.Connection, place: ScopeState, slot: Slot) -> int:
        """Load the scope's index from its image; return the changes that it knows, 0 if there is none."""
        # Every memory is a change, so a scope with fewer has no image.
        if not self._images or not is_large(place.changes):
            return 0
        if not load(connection, place, slot.index):
            slot.index = self._cache.empty()
        return slot.index.seen


UNINDEXED = 128
"""Changes of a scope, which are at least its memories, up to which its vectors are read row by row."""

_SCOPE_VECTORS = """
    SELECT m.row_id, m.memory_id, m.status, s.vector, s.vector_check, s.cues
    FROM memory m JOIN memory_search s ON s.row_id = m.row_id
    WHERE m.row_id BETWEEN :scope_id << 32 AND (:scope_id + 1 << 32) - 1
"""

Found = list[tuple[Memory, float]]


def find_near(
    connection: apsw.Connection,
    rows: Rows,
    indexes: Callable[[], ScopeIndexes],
    scope: Scope,
    vector: Vector,
    *,
    limit: int,
    at_least: float,
) -> Found:
    """Return the active memories of `scope` with cosine >= `at_least`, best first."""
    found_at = find_place(connection, scope)
    if found_at is None:
        return []
    # Loading an index costs more than reading 128 rows, and a process that only writes would never use it again (ADR
    # 0040).
    if found_at.changes > UNINDEXED:
        return _find_by_index(connection, rows, indexes(), scope, found_at, vector, limit, at_least)
    scores = _compare_rows(
        rows, fetch(connection, _SCOPE_VECTORS, {"scope_id": found_at.scope_id}), vector, limit, at_least
    )
    if not scores:
        return []
    found = rows.whole(fetch(connection, GET_MANY, wanted_memories(list(scores), [scope])))
    return best(((memory, scores[memory.memory_id]) for memory in found), limit)


def best(found: Iterable[tuple[Memory, float]], limit: int) -> Found:
    """Return the best first, and among equals the newer memory."""
    return sorted(found, key=lambda pair: (pair[1], pair[0].memory_id), reverse=True)[:limit]


def _compare_rows(
    rows: Rows, stored: Iterable[Sequence[Any]], vector: Vector, limit: int, at_least: float
) -> dict[str, float]:
    """Return the cosines of these rows' vectors. A vector that is damaged, or of another space, is left out."""
    vectors: dict[str, Vector] = {}
    for row_id, memory_id, status, kept, check, cues in stored:
        if status == Status.ACTIVE and kept is not None:
            if check != blob_check(kept):
                rows.noted.note(row_id)
                continue
            # Empty cues mark a sealed row.
            opened = unpacked_vector(kept) if cues else rows.sealer.vector(memory_id, kept)
            if opened is not None and len(opened) == len(vector):
                vectors[memory_id] = opened
    scores = zip(vectors, cosines(list(vectors.values()), vector), strict=True) if vectors else ()
    chosen = sorted(((score, memory_id) for memory_id, score in scores if score >= at_least), reverse=True)
    return {memory_id: score for score, memory_id in chosen[:limit]}


def _find_by_index(
    connection: apsw.Connection,
    rows: Rows,
    indexes: ScopeIndexes,
    scope: Scope,
    found_at: ScopeState,
    vector: Vector,
    limit: int,
    at_least: float,
) -> Found:
    with indexes.use(connection, found_at) as index:
        where, read = Where(scopes=(scope,)), partial(indexes.read, connection)
        places, scores = index.near_places(where, vector, limit=limit, at_least=at_least, read=read)
        known = index.recalled.memories_at(places)
        unknown = [place for place, memory in zip(places, known, strict=True) if memory is None]
        if unknown:
            wanted = wanted_memories(index.ids_at(unknown), [scope])
            found = list(rows.whole(fetch(connection, GET_MANY, wanted)))
            at = dict(zip(index.places_of([memory.memory_id for memory in found]), found, strict=True))
            if not rows.sealer.opens:  # sealed content stays readable only as long as its key exists
                index.recalled.keep(list(at.values()), list(at))
            known = [at.get(place) if memory is None else memory for place, memory in zip(places, known, strict=True)]
    # In the order of the index, which is that of `best`.
    return [(memory, score) for memory, score in zip(known, scores, strict=True) if memory is not None]
