"""A file system that loses power: what was not synced may be gone, in whole, in part, or torn.

`PowerCutVfs` is an SQLite VFS. Files behave as always while the machine is "on"; beside them it keeps, for each file, the bytes
that a completed sync has made durable and the writes that came after. `cut` then lays out what a disk may hold after a power
cut, and any SQLite can open that.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import apsw


class Survives(StrEnum):
    """What becomes of the writes since the last sync of their file."""

    NOTHING = "nothing"
    PREFIX = "prefix"
    SUBSET = "subset"
    TORN = "torn"


Write = tuple[int, bytes | None]
"""An offset and the bytes written there; None truncates the file to the offset."""


@dataclass(slots=True)
class _Disk:
    """One file: what is durable, and what came after the last sync, in order."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[Write] = field(default_factory=list)

    def sync(self) -> None:
        _apply(self.durable, self.pending)
        self.pending.clear()

    def after_cut(self, survives: Survives, choice: random.Random) -> bytes:
        content = bytearray(self.durable)
        _apply(content, _surviving(self.pending, survives, choice))
        return bytes(content)


def _apply(content: bytearray, writes: Iterable[Write]) -> None:
    for offset, data in writes:
        if data is None:
            del content[offset:]
        else:
            content.extend(b"\0" * (offset - len(content)))
            content[offset : offset + len(data)] = data


def _surviving(pending: list[Write], survives: Survives, choice: random.Random) -> list[Write]:
    if survives is Survives.NOTHING or not pending:
        return []
    if survives is Survives.SUBSET:
        return [write for write in pending if choice.random() < 0.5]
    kept = pending[: choice.randrange(len(pending) + 1)]
    if survives is Survives.TORN and kept and kept[-1][1]:
        offset, data = kept[-1]
        kept[-1] = (offset, (data or b"")[: choice.randrange(len(data or b"") + 1)])
    return kept


class PowerCutVfs(apsw.VFS):
    """Register by making one; open stores with `vfs=name`. Only files under `folder` are watched."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self._folder = folder
        self._disks: dict[str, _Disk] = {}
        self._lock = threading.Lock()
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file of SQLite's, watched when it has a name."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        return _WatchedFile(name, flags, self._disk(path) if path else None, self._lock)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """Delete a file: gone after a cut, too, once the folder is synced; else it may come back empty-handed as it was."""
        super().xDelete(filename, syncdir)
        with self._lock:
            self._disks.pop(filename, None)

    def _disk(self, path: str) -> _Disk:
        with self._lock:
            if path not in self._disks:
                existing = Path(path)
                self._disks[path] = _Disk(durable=bytearray(existing.read_bytes() if existing.exists() else b""))
            return self._disks[path]

    def cut(self, target: Path, survives: Survives, choice: random.Random) -> None:
        """Write to the folder `target` what the disk may hold if power is lost at this moment."""
        target.mkdir(parents=True, exist_ok=True)
        with self._lock:
            for path, disk in self._disks.items():
                (target / Path(path).name).write_bytes(disk.after_cut(survives, choice))


class _WatchedFile(apsw.VFSFile):
    def __init__(self, name: Any, flags: list[int], disk: _Disk | None, lock: threading.Lock) -> None:
        super().__init__("", name, flags)
        self._disk = disk
        self._lock = lock

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._note(offset, bytes(data))

    def xTruncate(self, size: int) -> None:  # noqa: N802
        super().xTruncate(size)
        self._note(size, None)

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        if self._disk is not None:
            with self._lock:
                self._disk.sync()

    def _note(self, offset: int, data: bytes | None) -> None:
        if self._disk is not None:
            with self._lock:
                self._disk.pending.append((offset, data))
