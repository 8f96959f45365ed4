"""Rows of a scope as the entries of its index: checked, unpacked, and decrypted if they are encrypted.

A page without a damaged or sealed row is checked column by column, which takes a third of the time of row by row.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any, cast

import apsw
import numpy as np

from mnemic.stores.codec import cues_of, fields_of, to_micros, unpacked_vector, vector_check, words_check
from mnemic.stores.encryption import NOTHING, SearchData
from mnemic.stores.scope_index import IndexEntry
from mnemic.stores.sqlite.rows import MEMORY, SOURCES, Rows, WrittenRow, fetch
from mnemic.types import Vector
from mnemic.types.values import VECTOR_STEPS

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
