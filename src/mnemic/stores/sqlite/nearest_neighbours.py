"""Neighbours of a vector among the committed memories of one scope, as a transaction asks for them.

A scope of a few memories is read row by row: a process that only writes makes no search index. A larger one is asked
by its index.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from mnemic.stores.codec import blob_check, cosines, unpacked_vector
from mnemic.stores.sqlite.rows import GET_MANY, Rows, ScopeState, fetch, find_place, wanted_memories
from mnemic.types import Memory, Scope, Status, Vector, Where

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mnemic.stores.sqlite.indexes import ScopeIndexes

FEW = 128
"""Changes of a scope, which are at least its memories, up to which its vectors are read row by row."""

_VECTORS = """
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
    if found_at.changes > FEW:
        return _find_by_index(connection, rows, indexes(), scope, found_at, vector, limit, at_least)
    scores = _compare_rows(rows, fetch(connection, _VECTORS, {"scope_id": found_at.scope_id}), vector, limit, at_least)
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
