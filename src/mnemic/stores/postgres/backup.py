"""Backup of a database's memories while they are in use, and restore: logical, through the owner's connection.

The data is one file: the rows of one table after the other, as `COPY` writes them, read in one snapshot.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

from mnemic.errors import InvalidInput, StoreBusy, StoreCorrupt, StoreNewer, StoreOlder, StoreUnavailable
from mnemic.operations.backup_folder import Manifest, check_data, digest, manifest_in, new_folder
from mnemic.stores.atomic_files import sync_to_disk
from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.damage import damaged_bodies
from mnemic.stores.postgres.maintenance import OwnerConnection, broken_audit
from mnemic.stores.postgres.row_rewriting import present
from mnemic.stores.postgres.schema import claim, migrate, migrations

DATA = "memory.copy"
TABLES = (
    *("salt", "tenant", "scope", "memory", "memory_version", "usage", "term_posting"),
    *("audit", "audit_head", "journal", "lane_end", "lane_collected", "usage_lane"),
    *("outbox", "request", "mark", "projection", "document", "document_vector", "graph_node", "graph_relation"),
    "facet",
)
"""Tables to copy, in an order in which every row finds the rows that it refers to."""

NOT_COPIED = frozenset({"schema_version", "space", "next_space"})
"""Tables that the manifest describes instead, and those that can be filled again."""

_SHARED = frozenset({"salt", "projection"})
"""Tables that belong to no tenant, and have no row-level security."""

_SECONDS = 3600.0
"""Seconds that one statement of a backup may take."""
_CONNECTING = 10.0
_CHUNK = 1024 * 1024
_BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_COLUMNS = """
    SELECT attname FROM pg_attribute
    WHERE attrelid = format('mnemic.%I', $1::text)::regclass AND attnum > 0 AND NOT attisdropped
    AND attname <> 'next_vector'
    ORDER BY attnum
"""
_ROWS = """
    SELECT format('SELECT %s FROM mnemic.%I', string_agg(format('%I', name), ', ' ORDER BY place), $1::text)
    FROM unnest($2::text[]) WITH ORDINALITY AS given (name, place)
"""
_SEQUENCES = """
    SELECT sequencename AS name, coalesce(last_value, 0) AS last FROM pg_sequences
    WHERE schemaname = 'mnemic' ORDER BY 1
"""
_THERE = """
    SELECT relname FROM pg_class
    WHERE relnamespace = to_regnamespace('mnemic') AND relkind IN ('r', 'p') AND NOT relispartition
"""
_USED = "SELECT EXISTS (SELECT FROM pg_namespace WHERE nspname = 'mnemic')"


@dataclass(frozen=True, slots=True)
class _Section:
    """Rows of one table in the data: `bytes` after those of the tables before it."""

    table: str
    columns: tuple[str, ...]
    rows: int
    bytes: int

    def as_dict(self) -> dict[str, Any]:
        return {"table": self.table, "columns": list(self.columns), "rows": self.rows, "bytes": self.bytes}


class _Output:
    """Writes the copied rows, and counts them."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()
        self.rows = self.bytes = 0

    async def take(self, data: bytes) -> None:
        """Text format: a line is a row, and no row has a line break inside."""
        self.digest.update(data)
        self.rows += data.count(b"\n")
        self.bytes += len(data)
        await asyncio.to_thread(self._file.write, data)


async def take(dsn: str, folder: Path, now: datetime) -> Manifest:
    """Copy the database's memories into the new `folder`, as of one moment; others may read and write meanwhile.

    The copy is complete or absent: the data is read again, and every audit's chain was checked in the same snapshot.
    Raises InvalidInput (`backup:exists`, `backup:unwritable`), StoreCorrupt, StoreFailed.
    """
    owner = _owner(dsn)
    try:
        with new_folder(folder) as part:
            file = part / DATA
            file.touch(mode=0o600)
            with file.open("wb") as opened:
                manifest = await owner.run(partial(_copy_tables, file=opened, now=now))
            sync_to_disk(file)
            if digest(file) != manifest.sha256:
                raise StoreCorrupt("backup", hint="the copy does not read back as written")
            manifest.store_in(part)
    finally:
        owner.close()
    return manifest


async def _copy_tables(connection: Any, file: IO[bytes], now: datetime) -> Manifest:
    space, tables = await present(connection), await _tables(connection)
    if space is None:
        raise StoreUnavailable("empty", hint="nothing was ever stored here")
    await connection.execute(_BEGIN)
    # As pg_dump does: from here on no table can be altered. The reads begin after it.
    await connection.execute(f"LOCK TABLE {', '.join(tables)} IN ACCESS SHARE MODE")
    if tables != await _tables(connection):
        raise StoreBusy(hint="the database was being brought up to date; try again")
    output, sections = _Output(file), []
    for table in tables:
        columns = tuple(row[0] for row in await connection.fetch(_COLUMNS, table))
        before = output.rows, output.bytes
        # As a query: COPY accepts no partitioned table otherwise.
        rows = await connection.fetchval(_ROWS, table, columns)
        await connection.copy_from_query(rows, output=output.take, timeout=_SECONDS)
        sections.append(_Section(table, columns, output.rows - before[0], output.bytes - before[1]))
    manifest = Manifest(
        taken_at=now,
        sha256=output.digest.hexdigest(),
        bytes=output.bytes,
        space=space,
        counts=_counts(sections),
        tenants=await _chains(connection, checked=True),
        store="postgres",
        layout={
            "schema": await connection.fetchval("SELECT max(version) FROM schema_version"),
            "tables": [section.as_dict() for section in sections],
            "sequences": dict(await connection.fetch(_SEQUENCES)),
        },
    )
    await connection.execute("COMMIT")
    return manifest


def _counts(sections: Sequence[_Section]) -> dict[str, int]:
    """Count like the manifest of a memory file: without the present versions."""
    rows = {section.table: section.rows for section in sections}
    counted = {name: rows[name] for name in ("memory", "audit", "mark", "request", "document")}
    counted["audit"] += rows["journal"]
    return counted | {"memory_version": rows["memory_version"] - rows["memory"]}


async def _chains(connection: Any, *, checked: bool = False) -> dict[str, tuple[int, str]]:
    """Return the end of every tenant's audit. Raises StoreCorrupt if one is broken, or with `checked` if a memory
    differs from its written state.
    """
    session = Session(connection, lambda: _SECONDS)
    found = {}
    for (tenant,) in await connection.fetch("SELECT tenant FROM tenant ORDER BY tenant"):
        lines, broken, last = await broken_audit(session, tenant)
        if broken is not None:
            raise StoreCorrupt("backup", hint="a line of an audit was changed")
        if checked and (rows := await damaged_bodies(session, tenant)):
            named = ", ".join(row.name for row in rows[:3])
            raise StoreCorrupt("backup", hint=f"rows are damaged ({named}): see `mnemic doctor`")
        found[tenant] = (lines, last)
    return found


async def restore(dsn: str, folder: Path, prepare: Callable[[str, Manifest], Awaitable[None]]) -> Manifest:
    """Restore the checked copy into the database, which must have no schema `mnemic` yet; `prepare` gets an address by
    which it alone can open that before the end. A backup of an older schema is migrated on the way.

    Raises InvalidInput (`restore:exists`), StoreCorrupt, StoreNewer, StoreOlder, StoreFailed, and the errors of
    `prepare`; then nothing is restored.
    """
    manifest = manifest_in(folder, "postgres")
    check_data(folder / DATA, manifest)
    owner = _owner(dsn)
    try:
        await owner.run(partial(_load_tables, file=folder / DATA, manifest=manifest))
        try:
            await prepare(_while_restoring(dsn), manifest)
            await owner.run(_open_to_all)
        except BaseException:
            await owner.run(_remove_tables)
            raise
    finally:
        owner.close()
    return manifest


def _owner(dsn: str) -> OwnerConnection:
    return OwnerConnection(dsn, _CONNECTING, "mnemic, public")


def _while_restoring(dsn: str) -> str:
    return f"{dsn}{'&' if '?' in dsn else '?'}mnemic.restoring=on"


async def _load_tables(connection: Any, file: Path, manifest: Manifest) -> None:
    sections, layout = _sections(manifest), manifest.layout
    if layout["schema"] > migrations()[-1].number:
        raise StoreNewer(hint=f"the backup has schema {layout['schema']}, this mnemic knows {migrations()[-1].number}")
    if layout["schema"] < migrations()[0].number:
        raise StoreOlder
    async with connection.transaction():
        if await connection.fetchval(_USED):
            raise InvalidInput("restore:exists", hint="restore into a database that has no schema mnemic yet")
        await migrate(connection, up_to=layout["schema"])
        if [section.table for section in sections] != await _tables(connection):
            raise StoreCorrupt("backup_manifest", hint="it names other tables than its schema has")
        await claim(connection, manifest.space)
        await connection.execute("CREATE TABLE mnemic.restoring (); DELETE FROM mnemic.salt")
        with file.open("rb") as opened:
            for section in sections:
                await _fill(connection, section, opened)
        for name, last in layout["sequences"].items():
            if last:
                await connection.fetchval("SELECT setval(format('mnemic.%I', $1::text)::regclass, $2)", name, last)
        if await _chains(connection) != dict(manifest.tenants):
            raise StoreCorrupt("backup_contents", hint="the end of an audit is not what the manifest says")


def _sections(manifest: Manifest) -> list[_Section]:
    """Return the sections that a manifest lists. Raises StoreCorrupt (`backup_manifest`)."""
    try:
        sections = [
            _Section(one["table"], tuple(one["columns"]), int(one["rows"]), int(one["bytes"]))
            for one in manifest.layout["tables"]
        ]
        if _counts(sections) != dict(manifest.counts):
            raise StoreCorrupt("backup_manifest", hint="its counts do not agree")
    except (KeyError, TypeError, ValueError) as error:
        raise StoreCorrupt("backup_manifest", hint="not the manifest of a database") from error
    return sections


async def _tables(connection: Any) -> list[str]:
    """List the tables of the present schema to copy: an older one has fewer tables."""
    there = {name for (name,) in await connection.fetch(_THERE)}
    return [table for table in TABLES if table in there]


async def _fill(connection: Any, section: _Section, file: IO[bytes]) -> None:
    """Fill the tables. Row-level security would refuse the owner's COPY, so it is lifted for the owner inside this
    transaction.
    """
    if section.table not in _SHARED:
        await connection.execute(f"ALTER TABLE mnemic.{section.table} NO FORCE ROW LEVEL SECURITY")
    result = await connection.copy_to_table(
        section.table,
        schema_name="mnemic",
        columns=section.columns,
        source=_slice(file, section.bytes),
        timeout=_SECONDS,
    )
    if result != f"COPY {section.rows}":
        raise StoreCorrupt("backup_contents", hint="a table has not the rows that the manifest says")
    if section.table not in _SHARED:
        await connection.execute(f"ALTER TABLE mnemic.{section.table} FORCE ROW LEVEL SECURITY")


async def _slice(file: IO[bytes], size: int) -> AsyncIterator[bytes]:
    """Yield the next `size` bytes."""
    while size and (data := await asyncio.to_thread(file.read, min(size, _CHUNK))):
        size -= len(data)
        yield data


async def _open_to_all(connection: Any) -> None:
    await connection.execute("DROP TABLE mnemic.restoring")


async def _remove_tables(connection: Any) -> None:
    await connection.execute("DROP SCHEMA mnemic CASCADE")
