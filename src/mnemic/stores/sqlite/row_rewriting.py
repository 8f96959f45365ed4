"""Every row rewritten while others read: for another vector space, or to seal it or seal it with another key.

A second embedding space is filled while the present one is in use, and swapped in atomically. Rows are sealed a batch
in each transaction.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import apsw

from mnemic.errors import InvalidInput
from mnemic.ports import Reseal
from mnemic.stores.codec import DAMAGED, body_check, checked_vector, packed_vector, vector_check, words_check
from mnemic.stores.encryption import body_anew, vector_anew, words_anew
from mnemic.stores.sqlite.database_file import immediate
from mnemic.stores.sqlite.index_files import drop_all
from mnemic.stores.sqlite.open_file import OpenFile
from mnemic.stores.sqlite.rows import MEMORY, SOURCES, Rows, fetch, mark_facets, present
from mnemic.types import Kind, Level, Memory, Scope, Vector, VectorSpace

T = TypeVar("T")
_Write = Callable[[Callable[[OpenFile], T]], Awaitable[T]]
"""The writer's turn on an open file."""

_CLEARED = 500
_NEXT = "SELECT model, dimension FROM next_space"
_UNFILLED = f"SELECT {MEMORY} FROM {SOURCES} WHERE s.next_vector IS NULL ORDER BY s.row_id LIMIT ?"  # noqa: S608
_FOUND = "SELECT row_id, CAST(body AS BLOB) FROM memory WHERE tenant = ? AND memory_id = ? AND version = ?"
_FILL = "UPDATE memory_search SET next_vector = ?, next_vector_check = ? WHERE row_id = ?"
_CLEAR = """
    UPDATE memory_search SET next_vector = NULL, next_vector_check = NULL WHERE row_id IN (
        SELECT row_id FROM memory_search WHERE row_id > ? AND next_vector IS NOT NULL ORDER BY row_id LIMIT ?
    ) RETURNING row_id
"""
# Columns are renamed in place of copying vectors: the change takes the same time however many rows there are.
_SWITCH = """
    DROP INDEX memory_search_unfilled;
    ALTER TABLE memory_search RENAME COLUMN vector TO spent;
    ALTER TABLE memory_search RENAME COLUMN next_vector TO vector;
    ALTER TABLE memory_search RENAME COLUMN spent TO next_vector;
    ALTER TABLE memory_search RENAME COLUMN vector_check TO spent_check;
    ALTER TABLE memory_search RENAME COLUMN next_vector_check TO vector_check;
    ALTER TABLE memory_search RENAME COLUMN spent_check TO next_vector_check;
    DELETE FROM space;
    INSERT INTO space SELECT only, model, dimension FROM next_space;
    DELETE FROM next_space;
"""


def is_filling(connection: apsw.Connection) -> bool:
    """Return True if a further space is being filled."""
    return present(connection, _NEXT) is not None


def given_up(connection: apsw.Connection, space: VectorSpace) -> bool:
    """Drop a partly filled space other than `space`; return True if `space` is still to be begun."""
    if present(connection, _NEXT) == space:
        return False
    with immediate(connection):
        connection.execute("DELETE FROM next_space; DROP INDEX IF EXISTS memory_search_unfilled")
    return True


def begin(connection: apsw.Connection, space: VectorSpace) -> None:
    """Start to fill `space`, unless another process has started meanwhile."""
    with immediate(connection):
        if present(connection, _NEXT) == space:
            return
        connection.execute("INSERT INTO next_space VALUES (1, ?, ?)", (space.model, space.dimension))
        connection.execute("CREATE INDEX memory_search_unfilled ON memory_search (row_id) WHERE next_vector IS NULL")


def clear(connection: apsw.Connection, *, after: int) -> int | None:
    """Remove a few vectors that are not of the present space, from the rows `after` this one on; return the last of
    these rows, None at the end.
    """
    with immediate(connection):
        rows = fetch(connection, _CLEAR, (after, _CLEARED))
    return max([row_id for (row_id,) in rows], default=None)


def _clear_in(opened: OpenFile, after: int) -> int | None:
    return clear(opened.writing, after=after)


async def remove_vectors(write: _Write[int | None]) -> None:
    """Remove them all in small batches, so that concurrent writers wait for a few rows only."""
    last: int | None = -1
    while last is not None:
        last = await write(partial(_clear_in, after=last))


def memories_without_vector(connection: apsw.Connection, rows: Rows, limit: int) -> list[Memory]:
    """Implement the port's `unfilled`."""
    return [rows.read_fields(connection, row) for row in fetch(connection, _UNFILLED, (max(0, limit),))]


def fill(connection: apsw.Connection, rows: Rows, filled: Sequence[tuple[Memory, Vector]]) -> int:
    """Implement the port's `fill`."""
    with immediate(connection):
        space = present(connection, _NEXT)
        if space is None:
            raise InvalidInput("space", hint="no vector space is being filled")
        done = 0
        for memory, vector in filled:
            checked_vector(vector, space.dimension)
            # A memory that has changed since it was read has another version, and is filled in the next pass.
            found = fetch(connection, _FOUND, (memory.scope.tenant, memory.memory_id, memory.version))
            for row_id, body in found:
                if memory.content == DAMAGED:
                    following = b""
                else:
                    following = rows.sealer.vector_beside(body.decode(), memory, packed_vector(vector) or b"")
                connection.execute(_FILL, (following, vector_check(following), row_id))
            done += len(found)
        return done


def switch(connection: apsw.Connection) -> VectorSpace | None:
    """Make the filled space the present one; None, with nothing done, if a memory still has no vector in it."""
    with immediate(connection):
        space = present(connection, _NEXT)
        if space is None:
            raise InvalidInput("space", hint="no vector space is being filled")
        if fetch(connection, "SELECT 1 FROM memory_search WHERE next_vector IS NULL LIMIT 1"):
            return None
        connection.execute(_SWITCH)
        drop_all(connection)
        return space


"""The writer's turn on an open file."""

BATCH = 256

_PLAIN = f"""
    SELECT m.scope_id, {MEMORY} FROM {SOURCES}
    WHERE m.tenant = ? AND CASE WHEN json_valid(m.body) THEN m.body ->> '$.sealed' IS NULL END LIMIT {BATCH}
"""  # noqa: S608
_PLAIN_VERSIONS = f"""
    SELECT v.memory_id, v.version, CAST(v.body AS BLOB), v.checksum, c.level, c.owner
    FROM memory_version v JOIN memory m ON m.tenant = v.tenant AND m.memory_id = v.memory_id
    JOIN scope c ON c.scope_id = m.scope_id
    WHERE v.tenant = ? AND CASE WHEN json_valid(v.body) THEN v.body ->> '$.sealed' IS NULL END LIMIT {BATCH}
"""  # noqa: S608
_SEARCH = """
    UPDATE memory_search SET vector = ?, content = ?, context = ?, speaker = ?, cues = ?, vector_check = ?,
        words_check = ?, next_vector = NULL, next_vector_check = NULL
    WHERE row_id = ?
"""
_VERSION = "UPDATE memory_version SET body = ?, checksum = ? WHERE tenant = ? AND memory_id = ? AND version = ?"

_SEALED = f"""
    SELECT m.row_id, m.memory_id, m.body, c.level, c.owner, s.context, s.speaker, s.cues,
        s.vector, s.next_vector, s.content
    FROM {SOURCES}
    WHERE m.tenant = ? AND m.row_id > ? AND CASE WHEN json_valid(m.body) THEN m.body ->> '$.sealed' END IS NOT NULL
    ORDER BY m.row_id LIMIT {BATCH}
"""  # noqa: S608
_SEALED_VERSIONS = f"""
    SELECT v.memory_id, v.version, v.body, c.level, c.owner
    FROM memory_version v JOIN memory m ON m.tenant = v.tenant AND m.memory_id = v.memory_id
    JOIN scope c ON c.scope_id = m.scope_id
    WHERE v.tenant = ? AND (v.memory_id, v.version) > (?, ?)
    AND CASE WHEN json_valid(v.body) THEN v.body ->> '$.sealed' END IS NOT NULL
    ORDER BY v.memory_id, v.version LIMIT {BATCH}
"""  # noqa: S608
_BODY = "UPDATE memory SET body = ?, checksum = ? WHERE row_id = ?"
_SEARCH_ANEW = """
    UPDATE memory_search SET vector = ?, next_vector = ?, content = ?, vector_check = ?, next_vector_check = ?,
        words_check = ?
    WHERE row_id = ?
"""


class ResealProgress(NamedTuple):
    """Position in the rows of a tenant: first the current rows, then, from `version` 0 on, the earlier versions.

    The order matters: a row that is replaced meanwhile moves from the first part to the second.
    """

    row_id: int = -1
    memory_id: str = ""
    version: int = -1


def reseal_batch(
    connection: apsw.Connection, tenant: str, anew: Reseal, reached: ResealProgress
) -> tuple[int, ResealProgress | None]:
    """Re-encrypt a batch by `anew`; return the number of rows and the next position, None at the end."""
    with immediate(connection):
        if reached.version < 0:
            return _rows_anew(connection, tenant, anew, reached)
        return _versions_anew(connection, tenant, anew, reached)


async def reseal_rows(write: _Write[tuple[int, ResealProgress | None]], tenant: str, anew: Reseal) -> int:
    """Re-encrypt all rows of the tenant by `anew`, one batch in each transaction; return the number of rows."""
    total, reached = 0, ResealProgress()
    while True:
        done, following = await write(partial(_reseal_in, tenant=tenant, anew=anew, reached=reached))
        total += done
        if following is None:
            return total
        reached = following


def _reseal_in(
    opened: OpenFile, tenant: str, anew: Reseal, reached: ResealProgress
) -> tuple[int, ResealProgress | None]:
    return reseal_batch(opened.writing, tenant, anew, reached)


async def seal_rows(write: _Write[int], tenant: str) -> int:
    """Seal all plain rows of the tenant, a batch in each transaction; return their number."""
    total = 0
    while batch := await write(lambda opened: seal_batch(opened.writing, opened.rows, tenant)):
        total += batch
    return total


def _rows_anew(
    connection: apsw.Connection, tenant: str, anew: Reseal, reached: ResealProgress
) -> tuple[int, ResealProgress]:
    rows, done = fetch(connection, _SEALED, (tenant, reached.row_id)), 0
    for row_id, memory_id, body, level, owner, context, speaker, cues, *searched in rows:
        vector, following, words = searched
        fresh = body_anew(body, anew)
        found = [vector_anew(memory_id, vector, anew), vector_anew(memory_id, following, anew)]
        found.append(words_anew(memory_id, words, anew))
        if fresh is not None:
            connection.execute(_BODY, (fresh, body_check(tenant, level, owner, fresh), row_id))
        if found != searched:
            words = words_check(found[2] or b"", context, speaker, cues)
            checks = (vector_check(found[0]), vector_check(found[1]), words)
            connection.execute(_SEARCH_ANEW, (*found, *checks, row_id))
        done += fresh is not None or found != searched
    return done, ResealProgress(rows[-1][0]) if rows else ResealProgress(version=0)


def _versions_anew(
    connection: apsw.Connection, tenant: str, anew: Reseal, reached: ResealProgress
) -> tuple[int, ResealProgress | None]:
    rows: list[tuple[Any, ...]] = fetch(connection, _SEALED_VERSIONS, (tenant, reached.memory_id, reached.version))
    changed = [
        (fresh, body_check(tenant, level, owner, fresh), tenant, memory_id, version)
        for memory_id, version, body, level, owner in rows
        if (fresh := body_anew(body, anew)) is not None
    ]
    connection.executemany(_VERSION, changed)
    return len(changed), reached._replace(memory_id=rows[-1][0], version=rows[-1][1]) if rows else None


def seal_batch(connection: apsw.Connection, rows: Rows, tenant: str) -> int:
    """Seal some plain rows of the tenant, or some earlier versions once there are none; return their number."""
    with immediate(connection):
        plain = fetch(connection, _PLAIN, (tenant,))
        drop_all(connection)  # an image is not sealed
        for scope_id, *row in plain:
            memory, row_id = rows.memory(row), row[0]
            columns = rows.columns(memory)
            connection.execute(_BODY, (columns["body"], columns["checksum"], row_id))
            searched, *checks = rows.search_columns(memory)
            connection.execute(_SEARCH, (*searched, *checks, row_id))
            if memory.kind is Kind.STRUCTURED:
                mark_facets(connection, rows, scope_id, row_id, memory)
        versions = [] if plain else fetch(connection, _PLAIN_VERSIONS, (tenant,))
        for memory_id, version, body, checksum, level, owner in versions:
            memory = rows.version(body, checksum, Scope(tenant=tenant, level=Level(level), owner=owner))
            columns = rows.columns(memory)
            connection.execute(_VERSION, (columns["body"], columns["checksum"], tenant, memory_id, version))
    return len(plain) + len(versions)
