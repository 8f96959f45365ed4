"""Search indexes of the scopes in use, fed from the file and bounded in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw
import numpy as np

from mnemic.stores.codec import dump, unpacked_vector, vector_check
from mnemic.stores.scope_index import IndexCache, ScopeIndex, Slot, is_large
from mnemic.stores.sqlite.index_files import load
from mnemic.stores.sqlite.index_rows import entries_of, entry_of
from mnemic.stores.sqlite.rows import Rows, ScopeState, WrittenRow, fetch
from mnemic.types import Memory, Vector

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
