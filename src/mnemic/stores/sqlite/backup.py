"""A copy of the file while it is in use, and the proof that it can be read again.

A backup is a folder: `memory.db`, as of one moment, and `manifest.json`, which says what must be found in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from mnemic.errors import InvalidInput, StoreCorrupt
from mnemic.stores.sqlite.failures import typed_failures
from mnemic.stores.sqlite.file import connect
from mnemic.stores.sqlite.inspection import inspect
from mnemic.stores.sqlite.rows import fetch
from mnemic.stores.sqlite.upkeep import broken_audit
from mnemic.types import VectorSpace

FORMAT = "mnemic-backup/1"
DATA, MANIFEST = "memory.db", "manifest.json"
_CHUNK = 1024 * 1024
_COUNTED = ("memory", "memory_version", "memory_search", "audit", "mark", "request", "document")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """What a backup holds. `tenants`: how many lines each one's audit has, and the hash of the last."""

    taken_at: datetime
    sha256: str
    bytes: int
    space: VectorSpace
    counts: dict[str, int]
    tenants: dict[str, tuple[int, str]]

    def as_dict(self) -> dict[str, Any]:
        """The manifest as JSON data."""
        return {
            "format": FORMAT,
            "taken_at": self.taken_at.isoformat(),
            "sha256": self.sha256,
            "bytes": self.bytes,
            "space": {"model": self.space.model, "dimension": self.space.dimension},
            "counts": self.counts,
            "tenants": {name: {"lines": lines, "last_hash": last} for name, (lines, last) in self.tenants.items()},
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Manifest:
        """The manifest of `as_dict`. Raises StoreCorrupt (`backup_manifest`)."""
        try:
            if data["format"] != FORMAT:
                raise StoreCorrupt("backup_manifest", hint=f"expected {FORMAT}")
            return cls(
                taken_at=datetime.fromisoformat(data["taken_at"]),
                sha256=str(data["sha256"]),
                bytes=int(data["bytes"]),
                space=VectorSpace(model=str(data["space"]["model"]), dimension=int(data["space"]["dimension"])),
                counts={str(name): int(count) for name, count in data["counts"].items()},
                tenants={name: (int(one["lines"]), str(one["last_hash"])) for name, one in data["tenants"].items()},
            )
        except (KeyError, TypeError, ValueError) as error:
            raise StoreCorrupt("backup_manifest", hint="not the manifest of a backup") from error


def take(path: Path, folder: Path, now: datetime) -> Manifest:
    """Copy the file at `path` into the new `folder`; others may read and write meanwhile. Nothing is there, or all.

    Raises InvalidInput (`backup:exists`, `backup:unwritable`) and StoreFailed.
    """
    if folder.exists():
        raise InvalidInput("backup:exists", hint="name a folder that is not there yet")
    part = folder.with_name(f".{folder.name}.{os.getpid()}.part")
    try:
        part.mkdir(mode=0o700)
        with typed_failures():
            _copy(path, part / DATA)
            manifest = described(part / DATA, now)
        text = json.dumps(manifest.as_dict(), indent=2)
        (part / MANIFEST).write_text(text + "\n", encoding="utf-8")
        _synced(part / MANIFEST)
        part.rename(folder)
    except OSError as error:
        raise InvalidInput("backup:unwritable", hint=error.strerror) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return manifest


def _copy(path: Path, target: Path) -> None:
    """As of one moment, without what had been freed; SQLite reads on while others write."""
    with closing(connect(path, durability="durable")) as connection:
        connection.execute("VACUUM INTO ?", (str(target),))
    target.chmod(0o600)
    _synced(target)


def _synced(file: Path) -> None:
    with file.open("rb") as opened:
        os.fsync(opened.fileno())


def described(path: Path, now: datetime) -> Manifest:
    """What is in the file at `path`. Raises StoreCorrupt where it is damaged or its audit does not hold."""
    found = inspect(path)
    if found.damage or found.broken_audit is not None or found.space is None:
        raise StoreCorrupt("backup", hint="the file is damaged, or a line of its audit was changed")
    with closing(connect(path, durability="durable")) as connection:
        counts = {name: fetch(connection, f"SELECT count(*) FROM {name}")[0][0] for name in _COUNTED}  # noqa: S608
        tenants = [name for (name,) in fetch(connection, "SELECT tenant FROM tenant ORDER BY tenant")]
        chains = {tenant: broken_audit(connection, tenant) for tenant in tenants}
    return Manifest(
        taken_at=now,
        sha256=_digest(path),
        bytes=path.stat().st_size,
        space=found.space,
        counts=counts,
        tenants={tenant: (lines, last) for tenant, (lines, _, last) in chains.items()},
    )


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def checked(folder: Path) -> Manifest:
    """The manifest of the backup in `folder`, once everything it says was found: checksum, counts, every audit's chain.

    Raises InvalidInput (`backup:missing`), StoreCorrupt, StoreNewer.
    """
    try:
        manifest = Manifest.from_dict(json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
        if _digest(folder / DATA) != manifest.sha256:
            raise StoreCorrupt("backup_checksum", hint="the copy is not what the manifest says")
    except OSError:
        raise InvalidInput("backup:missing", hint="there is no backup in that folder") from None
    except ValueError as error:
        if isinstance(error, StoreCorrupt | InvalidInput):
            raise
        raise StoreCorrupt("backup_manifest", hint="not the manifest of a backup") from None
    with typed_failures():
        found = described(folder / DATA, manifest.taken_at)
    if found != manifest:
        raise StoreCorrupt("backup_contents", hint="counts or the end of an audit are not what the manifest says")
    return manifest


def restore(folder: Path, target: Path, prepare: Callable[[Path, Manifest], None]) -> Manifest:
    """Put the checked copy at `target`, where nothing may be yet; `prepare` works on it before anybody can open it.

    Raises InvalidInput (`restore:exists`, `restore:unwritable`), and what `checked` and `prepare` raise; then nothing
    is there.
    """
    manifest = checked(folder)
    if target.exists():
        raise InvalidInput("restore:exists", hint="restore into a file that is not there yet")
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        shutil.copyfile(folder / DATA, part)
        part.chmod(0o600)
        prepare(part, manifest)
        with typed_failures(), closing(apsw.Connection(str(part))) as connection:
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        described(part, manifest.taken_at)
        _synced(part)
        part.rename(target)
    except OSError as error:
        raise InvalidInput("restore:unwritable", hint=error.strerror) from None
    finally:
        for name in ("", "-wal", "-shm", "-journal"):
            Path(f"{part}{name}").unlink(missing_ok=True)
    return manifest
