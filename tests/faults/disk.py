"""A disk on which calls fail, or that is full: SQLite's own system calls are replaced, so that it meets true errors.

Linux only, and process-wide: nothing else in the process may use apsw meanwhile. `fdatasync` cannot be replaced in this
way; `FailingSyncs` is a VFS for that.
"""

from __future__ import annotations

import ctypes
import errno
import os
import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import apsw

_INT, _SIZE, _TEXT, _BYTES = ctypes.c_int, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_void_p
_OFFSET = ctypes.c_int64
_SHAPES: dict[str, tuple[tuple[str, ...], Any, tuple[Any, ...]]] = {
    "open": (("open",), _INT, (_TEXT, _INT, _INT)),
    "read": (("pread64", "pread", "read"), ctypes.c_ssize_t, (_INT, _BYTES, _SIZE, _OFFSET)),
    "write": (("pwrite64", "pwrite", "write"), ctypes.c_ssize_t, (_INT, _BYTES, _SIZE, _OFFSET)),
    "truncate": (("ftruncate",), _INT, (_INT, _OFFSET)),
    "unlink": (("unlink",), _INT, (_TEXT,)),
}
KINDS = tuple(_SHAPES)


class _Replaced:
    """A replaced system call of SQLite's. `before(*arguments)` returns 0, or the errno to fail with."""

    def __init__(self, kind: str, before: Callable[..., int]) -> None:
        names, answer, arguments = _SHAPES[kind]
        self._vfs = apsw.VFS(f"mnemic-{kind}", "unix")
        self._name = next(name for name in names if self._vfs.xGetSystemCall(name))
        shape = ctypes.CFUNCTYPE(answer, *arguments, use_errno=True)
        real = shape(self._vfs.xGetSystemCall(self._name) or 0)

        def call(*given: Any) -> int:
            number = before(*given)
            if not number:
                return int(real(*given))
            ctypes.set_errno(number)
            return -1

        self._hook = shape(call)
        self._vfs.xSetSystemCall(self._name, ctypes.cast(self._hook, ctypes.c_void_p).value or 0)

    def restore(self) -> None:
        self._vfs.xSetSystemCall(self._name, 0)
        self._vfs.unregister()


class FailingDisk:
    """Inside `with`, the calls that `fail` names fail with EIO. `calls` counts those of the chosen kinds since then.

    Only calls on files directly in `folder` count; `-shm`, which is memory, does not.
    """

    def __init__(self, folder: Path) -> None:
        self.calls = 0
        self._folder = str(folder)
        self._kinds: frozenset[str] = frozenset()
        self._nth = 0
        self._sticky = False
        self._lock = threading.Lock()
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        for kind in KINDS:
            call = _Replaced(kind, lambda file, *_, kind=kind: self._before(kind, file))
            self._undo.callback(call.restore)
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    def fail(self, nth: int, kinds: Iterable[str] = KINDS, *, sticky: bool = False) -> None:
        """From now on, the `nth` call (from 1) of one of `kinds` fails; `sticky`: so do all after it."""
        with self._lock:
            self.calls, self._nth, self._kinds, self._sticky = 0, nth, frozenset(kinds), sticky

    def heal(self) -> None:
        """Stop failing; `calls` is kept."""
        with self._lock:
            self._nth = 0

    def _before(self, kind: str, file: int | bytes) -> int:
        if kind not in self._kinds or not _is_watched(file, self._folder):
            return 0
        with self._lock:
            self.calls += 1
            hit = self.calls == self._nth or (self._sticky and self.calls > self._nth > 0)
        return errno.EIO if hit else 0


class FullDisk:
    """Inside `with`, the files directly in `folder` share `room` bytes: rewriting them works, growing beyond does not,
    nor does claiming more with `os.posix_fallocate`.

    `room` may be changed at any time.
    """

    def __init__(self, folder: Path, *, room: int) -> None:
        self.room = room
        self._folder = folder
        self._lock = threading.Lock()
        self._undo = ExitStack()

    def __enter__(self) -> Self:
        self._undo.callback(_Replaced("write", self._before).restore)
        real = os.posix_fallocate

        def claim(file: int, offset: int, length: int) -> None:
            if number := self._before(file, 0, length, offset):
                raise OSError(number, os.strerror(number))
            real(file, offset, length)

        self._undo.callback(setattr, os, "posix_fallocate", real)
        os.posix_fallocate = claim
        return self

    def __exit__(self, *_: object) -> None:
        self._undo.close()

    @property
    def used(self) -> int:
        """Return the bytes that the folder's files occupy."""
        return sum(file.stat().st_size for file in self._folder.iterdir() if not file.name.endswith("-shm"))

    def _before(self, file: int, _: int, length: int, offset: int) -> int:
        if not _is_watched(file, str(self._folder)):
            return 0
        with self._lock:
            growth = offset + length - os.fstat(file).st_size
            return errno.ENOSPC if growth > 0 and self.used + growth > self.room else 0


def _is_watched(file: int | bytes, folder: str) -> bool:
    """Return True if an open file, or one that is to be opened, is in `folder`."""
    try:
        path = os.fsdecode(file) if isinstance(file, bytes) else os.readlink(f"/proc/self/fd/{file}")
    except OSError:
        return False
    return os.path.dirname(path) == folder and not path.removesuffix(" (deleted)").endswith("-shm")


class FailingSyncs(apsw.VFS):
    """Register by making one; open stores with `vfs=name`. After `fail`, the `nth` sync fails, `sticky`: all from then.

    A failure here reaches the caller of SQLite, even where SQLite itself would ignore it: while a checkpoint or a
    connection's end is under way. Heal it before those.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.calls = 0
        self._nth = 0
        self._sticky = False
        super().__init__(name, "")

    def fail(self, nth: int, *, sticky: bool = False) -> None:
        """From now on, the `nth` sync (from 1) fails."""
        self.calls, self._nth, self._sticky = 0, nth, sticky

    def heal(self) -> None:
        """Stop failing; `calls` is kept."""
        self._nth = 0

    def step(self) -> None:
        """Count a sync. Raises apsw.IOError if it is to fail."""
        self.calls += 1
        if self.calls == self._nth or (self._sticky and self.calls > self._nth > 0):
            raise apsw.IOError("sync")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file of SQLite's."""
        return _FailingSync(self, name, flags)


class _FailingSync(apsw.VFSFile):
    def __init__(self, vfs: FailingSyncs, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        self._vfs = vfs

    def xLock(self, level: int) -> None:  # noqa: N802
        """As in `PowerCutVfs`: a read-only connection cannot take the last lock when it closes."""
        try:
            super().xLock(level)
        except apsw.IOError as error:
            raise apsw.BusyError from error

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._vfs.step()
        super().xSync(flags)
