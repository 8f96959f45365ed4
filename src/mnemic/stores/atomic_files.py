"""Atomic creation of files and folders: they appear whole or not at all, and are durable once they have appeared.

Work in progress is named `.NAME.PID.part`, next to its target, and locked by its process. A rename puts it in place;
then the folder is synced, since a power cut could otherwise undo the rename. A process that was killed leaves its part
without a lock, and the next process that works in the same folder removes it.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PART = re.compile(r"\A(\..+\.\d+\.part)(?:\.lock)?")
_BESIDE = ("-wal", "-shm", "-journal")
_BESIDE_PART = (*_BESIDE, ".ballast")
_LOCKS = ".lock"


def sync_to_disk(file: Path) -> None:
    """Sync the file, or the names in the folder, to the disk."""
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def part_of(target: Path) -> Iterator[Path]:
    """Yield an unused name for a file or folder in progress; `put` renames it to `target`. It is removed at the end in
    any case.
    """
    # The next writer cleans up after killed ones; nobody else would notice their parts.
    clear_parts(target.parent)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    lock = Path(f"{part}{_LOCKS}")
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield part
    finally:
        _remove(part)
        lock.unlink(missing_ok=True)
        os.close(handle)


def put(part: Path, target: Path) -> None:
    """Rename the work in progress to `target`, durably: first its own folder entries are synced, then the rename."""
    sync_to_disk(part)
    part.replace(target)
    sync_to_disk(target.parent)


def left_parts(folder: Path) -> list[Path]:
    """Find the unfinished work of killed processes in the folder: parts of backups, restored files and exports."""
    if not folder.is_dir():
        return []
    named = {folder / found[1] for path in folder.iterdir() if (found := _PART.fullmatch(path.name))}
    return sorted(part for part in named if not _is_being_made(part))


def clear_parts(folder: Path) -> list[Path]:
    """Remove the unfinished work of killed processes from the folder; a part that cannot be removed stays."""
    left = left_parts(folder)
    for part in left:
        with suppress(OSError):
            _remove(part)
            Path(f"{part}{_LOCKS}").unlink(missing_ok=True)
    return left


def set_aside(target: Path) -> list[Path]:
    """Move away a log that an earlier file of this name has left: SQLite would apply it to the new one.

    It may contain the last acknowledged writes of a damaged file, so it is not deleted. Returns the new names,
    `NAME-wal.left`, `NAME-wal.left2`, and so on.
    """
    moved = []
    for name in _BESIDE:
        stale = Path(f"{target}{name}")
        if stale.exists():
            free = _free(stale)
            stale.rename(free)
            moved.append(free)
    if moved:
        sync_to_disk(target.parent)
    return moved


def _free(stale: Path) -> Path:
    number = 1
    while (free := Path(f"{stale}.left{'' if number == 1 else number}")).exists():
        number += 1
    return free


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part, ignore_errors=True)
    for name in ("", *_BESIDE_PART):
        Path(f"{part}{name}").unlink(missing_ok=True)


def _is_being_made(part: Path) -> bool:
    """Return True if a process has its lock."""
    try:
        handle = os.open(f"{part}{_LOCKS}", os.O_RDWR)
    except OSError:
        return False  # the lock is made before the part, and removed after it
    try:
        # The kernel drops the lock of a killed process, so a lock that can be taken proves that nobody is working on
        # the part.
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
