"""Form of every backup: a folder with one file of data, as of one moment, and `manifest.json`, which says what must be
found in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from mnemic.errors import InvalidInput, StoreCorrupt
from mnemic.stores.atomic_files import part_of, put, sync_to_disk
from mnemic.types import VectorSpace

FORMAT, MANIFEST = "mnemic-backup/1", "manifest.json"
_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """Content of a backup. `tenants`: how many lines each one's audit has, and the hash of the last. `layout` is what
    the `store` (`sqlite`, `postgres`) needs to know in order to read its data.
    """

    taken_at: datetime
    sha256: str
    bytes: int
    space: VectorSpace
    counts: Mapping[str, int]
    tenants: Mapping[str, tuple[int, str]]
    store: str = "sqlite"
    layout: Mapping[str, Any] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return the manifest as JSON data."""
        return {
            "format": FORMAT,
            "store": self.store,
            "taken_at": self.taken_at.isoformat(),
            "sha256": self.sha256,
            "bytes": self.bytes,
            "space": {"model": self.space.model, "dimension": self.space.dimension},
            "counts": dict(self.counts),
            "tenants": {name: {"lines": lines, "last_hash": last} for name, (lines, last) in self.tenants.items()},
            "layout": dict(self.layout),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Manifest:
        """Return the manifest of `as_dict`. Raises StoreCorrupt (`backup_manifest`)."""
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
                store=str(data.get("store", "sqlite")),
                layout=dict(data.get("layout", {})),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StoreCorrupt("backup_manifest", hint="not the manifest of a backup") from error

    def store_in(self, folder: Path) -> None:
        """Write the manifest next to the data, durably."""
        (folder / MANIFEST).write_text(json.dumps(self.as_dict(), indent=2) + "\n", encoding="utf-8")
        sync_to_disk(folder / MANIFEST)


class RestoreResult(NamedTuple):
    """Result of a restore, and the names under which the log of an earlier file of that name was set aside."""

    manifest: Manifest
    set_aside: tuple[Path, ...] = ()


@contextmanager
def new_folder(folder: Path) -> Iterator[Path]:
    """Yield a folder to fill, which becomes `folder` at the end, on the disk: nothing is there, or all. Raises
    InvalidInput (`backup:exists`, `backup:unwritable`).
    """
    if folder.exists():
        raise InvalidInput("backup:exists", hint="name a folder that is not there yet")
    try:
        with part_of(folder) as part:
            part.mkdir(mode=0o700)
            yield part
            put(part, folder)
    except OSError as error:
        raise InvalidInput("backup:unwritable", hint=error.strerror) from None


def manifest_in(folder: Path, store: str) -> Manifest:
    """Return the manifest of the backup in `folder`, which is to be one of this kind of store. Raises InvalidInput
    (`backup:missing`, `backup:other_store`), StoreCorrupt.
    """
    try:
        manifest = Manifest.from_dict(json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except OSError:
        raise InvalidInput("backup:missing", hint="there is no backup in that folder") from None
    except ValueError:
        raise StoreCorrupt("backup_manifest", hint="not the manifest of a backup") from None
    if manifest.store != store:
        raise InvalidInput(
            "backup:other_store",
            hint=f"a copy of {manifest.store} is restored into {manifest.store}; `mnemic move` changes stores",
        )
    return manifest


def check_data(file: Path, manifest: Manifest) -> None:
    """Raise StoreCorrupt (`backup_checksum`) if the data differs from the manifest, InvalidInput (`backup:missing`)."""
    try:
        if digest(file) != manifest.sha256:
            raise StoreCorrupt("backup_checksum", hint="the copy is not what the manifest says")
    except OSError:
        raise InvalidInput("backup:missing", hint="there is no data in that folder") from None


def digest(file: Path) -> str:
    """SHA-256 of a file's bytes."""
    found = hashlib.sha256()
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()
