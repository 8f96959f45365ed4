"""A copy of the file while it is in use, and the proof that it can be read again.

The data is a complete memory file, `memory.db`.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import datetime
from pathlib import Path

import apsw

from mnemic.errors import InvalidInput, StoreCorrupt
from mnemic.operations.backup_folder import Manifest, RestoreResult, check_data, digest, manifest_in, new_folder
from mnemic.operations.sqlite.inspection import inspect
from mnemic.stores.atomic_files import part_of, put, set_aside, sync_to_disk
from mnemic.stores.sqlite.database_file import check_names, connect, typed_failures
from mnemic.stores.sqlite.maintenance import broken_audit
from mnemic.stores.sqlite.rows import fetch

DATA = "memory.db"
_COUNTED = ("memory", "memory_version", "memory_search", "audit", "mark", "request", "document")


def take(path: Path, folder: Path, now: datetime) -> Manifest:
    """Copy the file at `path` into the new `folder`; others may read and write meanwhile. Nothing is there, or all.

    Raises InvalidInput (`backup:exists`, `backup:unwritable`) and StoreFailed.
    """
    with new_folder(folder) as part:
        with typed_failures():
            _copy(path, part / DATA)
            manifest = describe_file(part / DATA, now)
        manifest.store_in(part)
    return manifest


def _copy(path: Path, target: Path) -> None:
    """Copy the state of one moment, without free pages; SQLite keeps reading while others write."""
    check_names(path)
    with closing(connect(path, durability="durable")) as connection:
        connection.execute("VACUUM INTO ?", (str(target),))
    target.chmod(0o600)
    sync_to_disk(target)


def describe_file(path: Path, now: datetime) -> Manifest:
    """Describe the contents of the file at `path`. Raises StoreCorrupt if the file, a row or the audit chain is
    damaged.
    """
    found = inspect(path)
    if not found.whole or found.space is None:
        named = ", ".join(row.name for row in found.damaged_rows[:3])
        rows = f" ({named}{', ...' if len(found.damaged_rows) > 3 else ''})" if named else ""
        raise StoreCorrupt("backup", hint=f"the file is damaged{rows}: see `mnemic doctor`, `mnemic salvage`")
    with closing(connect(path, durability="durable")) as connection:
        counts = {name: fetch(connection, f"SELECT count(*) FROM {name}")[0][0] for name in _COUNTED}  # noqa: S608
        tenants = [name for (name,) in fetch(connection, "SELECT tenant FROM tenant ORDER BY tenant")]
        chains = {tenant: broken_audit(connection, tenant) for tenant in tenants}
    return Manifest(
        taken_at=now,
        sha256=digest(path),
        bytes=path.stat().st_size,
        space=found.space,
        counts=counts,
        tenants={tenant: (lines, last) for tenant, (lines, _, last) in chains.items()},
    )


def check_backup(folder: Path) -> Manifest:
    """Return the manifest of the backup in `folder`, once all its contents were found: checksum, counts, every audit's
    chain.

    Raises InvalidInput (`backup:missing`), StoreCorrupt, StoreNewer.
    """
    manifest = manifest_in(folder, "sqlite")
    check_data(folder / DATA, manifest)
    with typed_failures():
        found = describe_file(folder / DATA, manifest.taken_at)
    if found != manifest:
        raise StoreCorrupt("backup_contents", hint="counts or the end of an audit are not what the manifest says")
    return manifest


def restore(folder: Path, target: Path, prepare: Callable[[str, Manifest], None]) -> RestoreResult:
    """Put the verified copy at `target`, where no file may exist; `prepare` changes it before it can be opened. A
    leftover log of an earlier file of that name is moved aside first.

    Raises InvalidInput (`restore:exists`, `restore:unwritable`), and the errors of `checked` and `prepare`; then
    nothing has been created.
    """
    manifest = check_backup(folder)
    if target.exists():
        raise InvalidInput("restore:exists", hint="restore into a file that is not there yet")
    try:
        with part_of(target) as part:
            shutil.copyfile(folder / DATA, part)
            part.chmod(0o600)
            prepare(str(part), manifest)
            with typed_failures(), closing(apsw.Connection(str(part))) as connection:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            describe_file(part, manifest.taken_at)
            aside = set_aside(target)
            put(part, target)
    except OSError as error:
        raise InvalidInput("restore:unwritable", hint=error.strerror) from None
    return RestoreResult(manifest, tuple(aside))
