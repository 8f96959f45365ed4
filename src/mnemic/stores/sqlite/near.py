"""Neighbours of a vector among the committed memories of one scope, as a transaction asks for them.

A scope of a few memories is read row by row: a process that only writes makes no search index. A larger one is asked
by its index.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import apsw

from mnemic.stores.codec import blob_check, cosines
from mnemic.stores.sqlite.rows import GET_MANY, Rows, fetch, find_place, place, wanted_memories
from mnemic.types import Memory, Scope, Status, Vector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from mnemic.stores.sqlite.indexes import ScopeIndexes

FEW = 128
"""Memories of a scope, earlier ones that are closed among them, up to which its vectors are read."""

_VECTORS = """
    SELECT m.row_id, m.memory_id, m.status, s.vector, s.vector_check, s.cues
    FROM scope c CROSS JOIN memory m ON m.row_id BETWEEN c.scope_id << 32 AND (c.scope_id + 1 << 32) - 1
    JOIN memory_search s ON s.row_id = m.row_id
    WHERE c.tenant = :tenant AND c.level = :level AND c.owner = :owner LIMIT :most
"""

Found = list[tuple[Memory, float]]


def near(
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
    stored = fetch(connection, _VECTORS, place(scope) | {"most": FEW + 1})
    if len(stored) > FEW:
        scores = _indexed(connection, indexes(), scope, vector, limit, at_least)
    else:
        scores = _compared(rows, stored, vector, limit, at_least)
    if not scores:
        return []
    found = rows.whole(fetch(connection, GET_MANY, wanted_memories(list(scores), [scope])))
    return best(((memory, scores[memory.memory_id]) for memory in found), limit)


def best(found: Iterable[tuple[Memory, float]], limit: int) -> Found:
    """Return the best first, and among equals the newer memory."""
    return sorted(found, key=lambda pair: (pair[1], pair[0].memory_id), reverse=True)[:limit]


def _compared(
    rows: Rows, stored: Iterable[Sequence[Any]], vector: Vector, limit: int, at_least: float
) -> dict[str, float]:
    """Return the cosines of these rows' vectors. One that is damaged, or made in another space, is left out."""
    vectors: dict[str, Vector] = {}
    for row_id, memory_id, status, kept, check, cues in stored:
        if status == Status.ACTIVE and kept is not None:
            if check not in (None, blob_check(kept)):
                rows.noted.note(row_id)
                continue
            opened = kept if cues else rows.sealer.vector(memory_id, kept)
            if opened is not None and len(opened) == len(vector):
                vectors[memory_id] = opened
    scores = zip(vectors, cosines(list(vectors.values()), vector), strict=True) if vectors else ()
    chosen = sorted(((score, memory_id) for memory_id, score in scores if score >= at_least), reverse=True)
    return {memory_id: score for score, memory_id in chosen[:limit]}


def _indexed(
    connection: apsw.Connection, indexes: ScopeIndexes, scope: Scope, vector: Vector, limit: int, at_least: float
) -> dict[str, float]:
    from mnemic.types import Where

    found_at = find_place(connection, scope)
    if found_at is None:
        return {}
    with indexes.use(connection, found_at) as index:
        read = partial(indexes.read, connection)
        ranked = index.near(Where(scopes=(scope,)), vector, limit=limit, at_least=at_least, read=read)
    return {entry.memory_id: entry.score for entry in ranked}
