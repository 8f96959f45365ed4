"""A file system with power cuts: writes that were not synced may be lost in whole, in part, or torn.

`PowerCutVfs` is an SQLite VFS. Files behave as always while the machine is "on"; beside them it records, for each file,
the bytes that a completed sync has made durable and the writes after it, and for the folder the files with unsynced
deletions. `cut` then writes a possible content of the disk after a power cut, which any SQLite can open.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import apsw

_JOURNALS = apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_SUPER_JOURNAL


class Survives(StrEnum):
    """Fate of the writes since the last sync of their file."""

    NOTHING = "nothing"
    PREFIX = "prefix"
    SUBSET = "subset"
    TORN = "torn"


Write = tuple[int, bytes | None]
"""An offset and the bytes written there; None truncates the file to the offset."""


@dataclass(slots=True)
class _Disk:
    """One file: its durable content, and the writes since the last sync, in order."""

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
    """Register by making one; open stores with `vfs=name`. Only files directly in `folder` are watched.

    `on_step` is called after every write, truncation, sync and deletion of a watched file, on the thread that made it:
    from there a `cut` shows the disk at that moment. It must not raise.
    """

    def __init__(self, name: str, folder: Path, *, on_step: Callable[[], None] = lambda: None) -> None:
        self.name = name
        self.on_step = on_step
        self._folder = folder
        self._disks: dict[str, _Disk] = {}
        self._undead: dict[str, _Disk] = {}
        self._lock = threading.Lock()
        super().__init__(name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file for SQLite."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        if path is None or Path(path).parent != self._folder:
            return super().xOpen(name, flags)
        with self._lock:
            if path not in self._disks:
                known = Path(path).read_bytes() if Path(path).exists() else b""
                self._disks[path] = _Disk(durable=bytearray(known))
            disk = self._disks[path]
        # SQLite syncs the folder together with the first sync of a journal that it may have created.
        created = flags[0] & apsw.SQLITE_OPEN_CREATE and flags[0] & _JOURNALS
        return _WatchedFile(self, name, flags, disk, syncs_folder=bool(created))

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """Delete a file. Until the folder is synced, a cut may bring it back."""
        super().xDelete(filename, syncdir)
        with self._lock:
            disk = self._disks.pop(filename, None)
            if disk is not None:
                self._undead[filename] = disk
        if syncdir:
            self.folder_synced()
        if disk is not None:
            self.on_step()

    def folder_synced(self) -> None:
        """Sync the folder, so that deletions survive a cut."""
        with self._lock:
            self._undead.clear()

    def note(self, disk: _Disk, write: Write | None) -> None:
        """Record a write to a file; None is a sync of the file."""
        with self._lock:
            if write is None:
                disk.sync()
            else:
                disk.pending.append(write)

    def cut(self, target: Path, survives: Survives, choice: random.Random) -> None:
        """Write to the folder `target` a possible content of the disk after a power cut at this moment."""
        target.mkdir(parents=True, exist_ok=True)
        with self._lock:
            back = {
                path: disk
                for path, disk in self._undead.items()
                if survives is Survives.NOTHING or choice.random() < 0.5
            }
            for path, disk in (self._disks | back).items():
                (target / Path(path).name).write_bytes(disk.after_cut(survives, choice))


class _WatchedFile(apsw.VFSFile):
    def __init__(self, vfs: PowerCutVfs, name: Any, flags: list[int], disk: _Disk, *, syncs_folder: bool) -> None:
        super().__init__("", name, flags)
        self._vfs = vfs
        self._disk = disk
        self._syncs_folder = syncs_folder

    def xLock(self, level: int) -> None:  # noqa: N802
        """Ignore "busy": a read-only connection cannot take the last lock when it closes. SQLite tolerates that, and of
        errors raised by a VFS in Python it tolerates only "busy".
        """
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError from error

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._vfs.note(self._disk, (offset, bytes(data)))
        self._vfs.on_step()

    def xTruncate(self, size: int) -> None:  # noqa: N802
        super().xTruncate(size)
        self._vfs.note(self._disk, (size, None))
        self._vfs.on_step()

    def xSync(self, flags: int) -> None:  # noqa: N802
        super().xSync(flags)
        self._vfs.note(self._disk, None)
        if self._syncs_folder:
            self._syncs_folder = False
            self._vfs.folder_synced()
        self._vfs.on_step()
