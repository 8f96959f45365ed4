"""What a memory file is and holds, read without changing, migrating or creating it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from mnemic.errors import StoreUnavailable
from mnemic.stores.sqlite.failures import typed_failures
from mnemic.stores.sqlite.file import connect, migrations, recognise
from mnemic.stores.sqlite.outbox import projections
from mnemic.stores.sqlite.rows import fetch
from mnemic.stores.sqlite.upkeep import broken_audit
from mnemic.types import VectorSpace

_COUNTS = "SELECT kind, status, count(*) FROM memory GROUP BY kind, status ORDER BY kind, status"
_WITHOUT_VECTOR = (
    "SELECT count(*) FROM memory m LEFT JOIN memory_search s ON s.row_id = m.row_id "
    "WHERE m.status = 'active' AND s.vector IS NULL"
)
_SEALED = "SELECT count(*) FROM memory WHERE body ->> '$.sealed' IS NOT NULL"
_FIXED = ((3, 51, 3), (3, 50, 7), (3, 44, 6))
"""Releases in which a WAL reset can no longer damage the file: 3.51.3, and what was ported back to 3.50 and 3.44."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """One file. `projections` are those registered, each with what it has yet to take, and `pending` all that is kept
    for them or for one that comes. `sealed` counts memories whose content is; `damage` is what SQLite's check found;
    `broken_audit` tenant and sequence of a line that does not follow from the one before.
    """

    schema: int
    newest_schema: int
    sqlite_version: str
    sqlite_safe: bool
    journal_mode: str
    size_bytes: int
    space: VectorSpace | None
    counts: tuple[tuple[str, str, int], ...]
    without_vector: int
    sealed: int
    pending: int
    projections: Mapping[str, int]
    audit_lines: int
    broken_audit: tuple[str, int] | None
    damage: tuple[str, ...] = field(default=(), repr=False)


def inspect(path: Path) -> Inspection:
    """Look at the file. Raises StoreUnavailable (also for one that is not there), StoreCorrupt or StoreNewer."""
    if not path.is_file():
        raise StoreUnavailable("missing", hint="there is no memory file of that name")
    with typed_failures():
        connection = connect(path, durability="durable")
        try:
            recognise(connection)
            connection.execute("BEGIN")
            return _inspected(connection, path)
        finally:
            connection.close()


def _inspected(connection: apsw.Connection, path: Path) -> Inspection:
    version = apsw.sqlite_lib_version()
    spaces = fetch(connection, "SELECT model, dimension FROM space")
    lines, broken = _audit(connection)
    damage = [str(row[0]) for row in fetch(connection, "PRAGMA integrity_check(10)")]
    return Inspection(
        schema=int(connection.pragma("user_version")),
        newest_schema=migrations()[-1].number,
        sqlite_version=version,
        sqlite_safe=is_safe(version),
        journal_mode=str(connection.pragma("journal_mode")),
        size_bytes=path.stat().st_size,
        space=VectorSpace(model=spaces[0][0], dimension=spaces[0][1]) if spaces else None,
        counts=tuple((kind, status, count) for kind, status, count in fetch(connection, _COUNTS)),
        sealed=fetch(connection, _SEALED)[0][0],
        without_vector=fetch(connection, _WITHOUT_VECTOR)[0][0],
        pending=fetch(connection, "SELECT count(*) FROM outbox")[0][0],
        projections=projections(connection) if _has_table(connection, "projection") else {},
        audit_lines=lines,
        broken_audit=broken,
        damage=() if damage == ["ok"] else tuple(damage),
    )


def marks_in(path: Path, tenant: str, prefix: str) -> dict[str, str]:
    """The tenant's marks whose name begins with `prefix`; none in a file of an older schema. Raises as `inspect`."""
    with typed_failures():
        connection = connect(path, durability="durable")
        try:
            recognise(connection)
            if not _has_table(connection, "mark"):
                return {}
            rows = fetch(connection, "SELECT name, value FROM mark WHERE tenant = ? ORDER BY name", (tenant,))
            return {name: value for name, value in rows if name.startswith(prefix)}
        finally:
            connection.close()


def _has_table(connection: apsw.Connection, name: str) -> bool:
    """Whether the file's schema is new enough to have it."""
    return bool(fetch(connection, "SELECT 1 FROM sqlite_schema WHERE name = ?", (name,)))


def is_safe(version: str) -> bool:
    """Whether this SQLite is outside the range in which a WAL reset can damage a file."""
    numbers = tuple(int(part) for part in version.split(".")[:3])
    return numbers >= _FIXED[0] or any(numbers[:2] == fixed[:2] and numbers >= fixed for fixed in _FIXED[1:])


def _audit(connection: apsw.Connection) -> tuple[int, tuple[str, int] | None]:
    """How many lines there are, and the first one that breaks its tenant's chain."""
    lines = 0
    first: tuple[str, int] | None = None
    for (tenant,) in fetch(connection, "SELECT DISTINCT tenant FROM audit ORDER BY tenant"):
        count, broken, _ = broken_audit(connection, tenant)
        lines += count
        if broken is not None and first is None:
            first = (tenant, broken)
    return lines, first
