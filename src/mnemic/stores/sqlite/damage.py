"""Damaged rows: their identification, and their remaining columns."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import apsw

from mnemic.ports.record_store import Damage
from mnemic.stores.codec import UNREADABLE, blob_check, body_check, in_columns, text_check, vector_check
from mnemic.stores.sqlite.rows import ANY_FACET, ROW_COLUMNS, ROW_VALUES, columns_of, text_or_value
from mnemic.types import Level, Memory, Scope
from mnemic.types.facets import facets_of

MOST = 100
"""Maximum number of damaged rows that are named."""

_MEMORY = f"""
    SELECT {ROW_VALUES}, CAST(m.body AS BLOB), m.checksum, CAST(c.tenant AS BLOB), CAST(c.level AS BLOB),
        CAST(c.owner AS BLOB)
    FROM memory m LEFT JOIN scope c ON c.scope_id = m.scope_id WHERE m.row_id = ?
"""  # noqa: S608
_SEARCH = """
    SELECT vector, vector_check, next_vector, next_vector_check, content, context, CAST(speaker AS BLOB), cues,
        words_check
    FROM memory_search WHERE row_id = ?
"""
_FACETS = "SELECT facet FROM facet WHERE row_id = ?"
_VERSIONS = """
    SELECT CAST(v.memory_id AS BLOB), v.version, CAST(v.body AS BLOB), v.checksum,
        CAST(c.tenant AS BLOB), CAST(c.level AS BLOB), CAST(c.owner AS BLOB)
    FROM memory_version v LEFT JOIN memory m ON m.tenant = v.tenant AND m.memory_id = v.memory_id
    LEFT JOIN scope c ON c.scope_id = m.scope_id
"""
_CHECKED = {
    "mark": "SELECT CAST(name AS BLOB), CAST(value AS BLOB), checksum FROM mark",
    "request": "SELECT CAST(digest AS BLOB), CAST(receipt AS BLOB), checksum FROM request",
    "tenant": "SELECT CAST(tenant AS BLOB), secret, checksum FROM tenant",
}


def find_damage(connection: apsw.Connection, tenant: str | None = None) -> tuple[Damage, ...]:
    """Return the damaged rows, at most `MOST`; with `tenant`, without those that certainly belong to another tenant. An
    unreadable page ends the scan of its table.
    """
    found: list[Damage] = []
    for rows in (
        _memories(connection, tenant),
        _versions(connection, tenant),
        *(_check_rows(connection, name) for name in _CHECKED),
    ):
        with suppress(apsw.Error):
            for one in rows:
                found.append(one)
                if len(found) >= MOST:
                    return tuple(found)
    return tuple(found)


def _memories(connection: apsw.Connection, tenant: str | None) -> Iterator[Damage]:
    """Yield damaged memories. Rows are read one by one, by numbers from an index, so that an unreadable row hides no
    other.
    """
    # Fetched before any row is read, because a damaged page would end an open scan.
    numbers: list[Any] = connection.execute("SELECT row_id FROM memory ORDER BY row_id").fetchall()
    for (row_id,) in numbers:
        try:
            row: Any = connection.execute(_MEMORY, (row_id,)).fetchone()
            search: Any = connection.execute(_SEARCH, (row_id,)).fetchone()
            facets: set[Any] = {facet for (facet,) in connection.execute(_FACETS, (row_id,))}
        except apsw.Error:
            yield Damage("memory", f"row {row_id}")
            continue
        if _of_another(row and row[0], tenant):
            continue
        if row is None or not is_whole(row):
            yield Damage("memory", _name(row and row[1], row_id))
        elif not _are_found(row, facets):
            yield Damage("facet", _name(row[1], row_id))
        if search is None or not _search_is_whole(search):
            yield Damage("memory_search", _name(row and row[1], row_id))


def is_whole(row: tuple[Any, ...]) -> bool:
    """Check that the columns agree with the body, and the body with its checksum."""
    *columns, body, checksum, tenant, level, owner = row
    try:
        place = Scope(tenant=tenant.decode(), level=Level(level.decode()), owner=owner.decode())
        # The checksum covers the scope, too: a row moved to another scope by a flipped bit is damage.
        if checksum != body_check(place.tenant, place.level.value, place.owner, body):
            return False
        memory, _ = in_columns(body, place)
        return column_values(memory) == dict(zip(ROW_COLUMNS, (text_or_value(value) for value in columns), strict=True))
    except UNREADABLE:
        return False


def _are_found(row: tuple[Any, ...], facets: set[Any]) -> bool:
    """Check that an intact row has an index entry for each field of its data. Encrypted data is not checked."""
    *_, body, _, tenant, level, owner = row
    place = Scope(tenant=tenant.decode(), level=Level(level.decode()), owner=owner.decode())
    memory, sealed = in_columns(body, place)
    return ANY_FACET in facets or sealed or len(facets_of(memory)) == len(facets)


def column_values(memory: Memory) -> dict[str, Any]:
    """Return the values in the columns of the memory's row."""
    columns = columns_of(memory)
    return {name: columns[name] for name in ROW_COLUMNS}


def _search_is_whole(row: tuple[Any, ...]) -> bool:
    vector, vector_checked, following, following_checked, *words, words_checked = row
    try:
        return bool(
            vector_checked == vector_check(vector)
            and following_checked == vector_check(following)
            and words_checked == blob_check(*words)
        )
    except TypeError:
        return False


def _of_another(stored: object, tenant: str | None) -> bool:
    return tenant is not None and isinstance(stored, bytes) and stored != tenant.encode()


def _versions(connection: apsw.Connection, wanted: str | None) -> Iterator[Damage]:
    rows: Any = connection.execute(_VERSIONS)
    for memory_id, version, body, checksum, tenant, level, owner in rows:
        try:
            whole = checksum == body_check(tenant.decode(), level.decode(), owner.decode(), body)
        except (TypeError, ValueError, AttributeError):
            whole = False
        if not whole and not _of_another(tenant, wanted):
            yield Damage("memory_version", f"{_name(memory_id, version)} version {version}")


def _check_rows(connection: apsw.Connection, table: str) -> Iterator[Damage]:
    rows: Any = connection.execute(_CHECKED[table])
    for first, second, checksum in rows:
        try:
            whole = checksum == text_check(first, second)
        except TypeError:
            whole = False
        if not whole:
            yield Damage(table, "a row")


def _name(memory_id: object, row_id: int) -> str:
    text = memory_id.decode("utf-8", "replace") if isinstance(memory_id, bytes) else ""
    # A damaged identifier may contain anything; only a plausible one is shown to a person.
    return text if text.isascii() and text.isprintable() and 0 < len(text) <= 64 else f"row {row_id}"
