"""Files and folders that appear whole or not at all, and are on the disk once they have appeared.

What is being made has the name `.NAME.PID.part` beside its target and is locked by whoever makes it. The rename puts it
in place; the folder is synced then, for until that a power cut takes the name away again. A process that was killed
leaves its part: nobody has locked that any more, and the next one that makes something in the same folder removes it.
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


def synced(file: Path) -> None:
    """Return once the contents of the file, or the names in the folder, are on the disk."""
    handle = os.open(file, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def part_of(target: Path) -> Iterator[Path]:
    """Yield a name to make something under, file or folder, which nobody else uses; `put` makes it `target`. Nothing of
    it is left at the end, however that comes.
    """
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
    """Let what was made be `target`, durably: the names first that are in it, then the rename."""
    synced(part)
    part.replace(target)
    synced(target.parent)


def left_parts(folder: Path) -> list[Path]:
    """Find what killed processes left half made in the folder: parts of backups, restored files and exports."""
    if not folder.is_dir():
        return []
    named = {folder / found[1] for path in folder.iterdir() if (found := _PART.fullmatch(path.name))}
    return sorted(part for part in named if not _is_being_made(part))


def clear_parts(folder: Path) -> list[Path]:
    """Remove what killed processes left half made in the folder; a part that cannot be removed stays."""
    left = left_parts(folder)
    for part in left:
        with suppress(OSError):
            _remove(part)
            Path(f"{part}{_LOCKS}").unlink(missing_ok=True)
    return left


def set_aside(target: Path) -> list[Path]:
    """Move away the log that another file of this name has left: SQLite would play it into the new one.

    It may hold what was acknowledged last and never reached the damaged file, so that nothing is deleted. Returns the
    new names, `NAME-wal.left`, `NAME-wal.left2`, and so on.
    """
    moved = []
    for name in _BESIDE:
        stale = Path(f"{target}{name}")
        if stale.exists():
            free = _free(stale)
            stale.rename(free)
            moved.append(free)
    if moved:
        synced(target.parent)
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
    """Somebody holds its lock; a part without one is from a version that made none, and its process may live on."""
    try:
        handle = os.open(f"{part}{_LOCKS}", os.O_RDWR)
    except OSError:
        return _lives(int(part.name.split(".")[-2]))
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
