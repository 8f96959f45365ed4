"""Description of a memory file and its content, read without changing, migrating or creating it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import apsw

from mnemic.errors import StoreCorrupt, StoreUnavailable
from mnemic.ports.record_store import Damage
from mnemic.stores.sqlite.damage import find_damage
from mnemic.stores.sqlite.database_file import connect, newest_schema, recognise, typed_failures
from mnemic.stores.sqlite.maintenance import OUTBOX, broken_audit
from mnemic.stores.sqlite.rows import fetch
from mnemic.types import VectorSpace

T = TypeVar("T")

_COUNTS = "SELECT kind, status, count(*) FROM memory GROUP BY kind, status ORDER BY kind, status"
_WITHOUT_VECTOR = (
    "SELECT count(*) FROM memory m LEFT JOIN memory_search s ON s.row_id = m.row_id "
    "WHERE m.status = 'active' AND s.vector IS NULL"
)
_SEALED = "SELECT count(*) FROM memory WHERE CASE WHEN json_valid(body) THEN body ->> '$.sealed' END IS NOT NULL"

_FIXED = ((3, 51, 3), (3, 50, 7), (3, 44, 6))
"""Releases in which a WAL reset can no longer damage the file: 3.51.3, and the fixes ported back to 3.50 and 3.44."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """Report on one file. `projections` are the registered ones, each with its number of unconsumed entries, and
    `pending` all entries in the outbox. `sealed` counts memories with encrypted content; `damage` lists the findings of
    SQLite's check and the unreadable parts; `damaged_rows` differ from what was written; `broken_audit` has tenant and
    sequence of a line that does not follow from the previous one.
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
    damaged_rows: tuple[Damage, ...] = ()

    @property
    def whole(self) -> bool:
        """Nothing of it is damaged: no page, no row, no line of an audit."""
        return not self.damage and not self.damaged_rows and self.broken_audit is None


def inspect(path: Path) -> Inspection:
    """Look at the file. Raises StoreUnavailable (also for one that is not there), StoreCorrupt, StoreNewer,
    StoreOlder.
    """
    if not path.is_file():
        raise StoreUnavailable("missing", hint="there is no memory file of that name")
    with typed_failures():
        connection = connect(path, durability="durable")
        try:
            recognise(connection)
            connection.execute("BEGIN")
            return _inspect_file(connection, path)
        finally:
            connection.close()


def _inspect_file(connection: apsw.Connection, path: Path) -> Inspection:
    version, look = apsw.sqlite_lib_version(), _Look(connection)
    spaces = look.rows("space", "SELECT model, dimension FROM space")
    unread: tuple[int, tuple[str, int] | None] = (0, None)
    lines, broken = look.read_or("audit", lambda: _audit(connection), unread)
    damage = [str(row[0]) for row in look.rows("pages", "PRAGMA integrity_check(10)")]
    return Inspection(
        schema=int(connection.pragma("user_version")),
        newest_schema=newest_schema(),
        sqlite_version=version,
        sqlite_safe=is_safe(version),
        journal_mode=str(connection.pragma("journal_mode")),
        size_bytes=path.stat().st_size,
        space=VectorSpace(model=spaces[0][0], dimension=spaces[0][1]) if spaces else None,
        counts=tuple((kind, status, count) for kind, status, count in look.rows("memory", _COUNTS)),
        sealed=look.count("memory", _SEALED),
        without_vector=look.count("memory_search", _WITHOUT_VECTOR),
        pending=look.count("outbox", "SELECT count(*) FROM outbox"),
        projections=look.read_or("outbox", lambda: dict(fetch(connection, OUTBOX["projections"])), {}),
        audit_lines=lines,
        broken_audit=broken,
        damaged_rows=find_damage(connection),
        damage=(
            *(line for line in damage if line != "ok"),
            *(f"unreadable: {name}" for name in sorted(look.unreadable)),
        ),
    )


class _Look:
    """Reads of a file that may be damaged: a failing read is recorded by its name and does not stop the others."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self.unreadable: set[str] = set()

    def read_or(self, name: str, read: Callable[[], T], instead: T) -> T:
        """Return the result of `read`, or `instead` if the file is too damaged for it."""
        try:
            return read()
        except (apsw.CorruptError, apsw.SQLError, UnicodeDecodeError, StoreCorrupt, TypeError, ValueError):
            self.unreadable.add(name)
            return instead

    def rows(self, name: str, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement; none if they cannot be read."""
        return self.read_or(name, lambda: fetch(self._connection, sql), [])

    def count(self, name: str, sql: str) -> int:
        """Return the number that a statement gives."""
        return sum(int(row[0]) for row in self.rows(name, sql))


def is_safe(version: str) -> bool:
    """Return True if this SQLite is outside the range in which a WAL reset can damage a file."""
    numbers = tuple(int(part) for part in version.split(".")[:3])
    return numbers >= _FIXED[0] or any(numbers[:2] == fixed[:2] and numbers >= fixed for fixed in _FIXED[1:])


def _audit(connection: apsw.Connection) -> tuple[int, tuple[str, int] | None]:
    """Return the number of lines, and the first one that breaks its tenant's chain."""
    lines = 0
    first: tuple[str, int] | None = None
    for (tenant,) in fetch(connection, "SELECT DISTINCT tenant FROM audit ORDER BY tenant"):
        count, broken, _ = broken_audit(connection, tenant)
        lines += count
        if broken is not None and first is None:
            first = (tenant, broken)
    return lines, first
