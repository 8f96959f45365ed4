"""Second embedding space, filled while the present one is in use, and swapped in atomically."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TypeVar

import apsw

from mnemic.errors import InvalidInput
from mnemic.stores.codec import DAMAGED, checked_vector, packed_vector, vector_check
from mnemic.stores.sqlite.database_file import immediate
from mnemic.stores.sqlite.index_files import drop_all
from mnemic.stores.sqlite.open_file import OpenFile
from mnemic.stores.sqlite.rows import MEMORY, SOURCES, Rows, fetch, present
from mnemic.types import Memory, Vector, VectorSpace

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
