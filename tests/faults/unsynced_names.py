"""A disk that loses everything unsynced at a power cut: contents of files, and names in folders.

`PowerCutVfs` shows the files that SQLite leaves behind; this shows those of a program that writes, renames and syncs
files itself. While a `SyncedNames` is in use it listens to `os.fsync`; `cut` writes the files certain to be there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, ParamSpec, Self

if TYPE_CHECKING:
    from _typeshed import HasFileno

P = ParamSpec("P")


class SyncedNames:
    """Files of `folder` that a power cut at this moment leaves: each with the bytes of its last sync, under the names
    that its folder had at that folder's last sync. Files present at the start are durable.

    `on_step` is called after each sync, and before each rename. Linux only, because it reads the names of descriptors.
    """

    def __init__(self, folder: Path, *, on_step: Callable[[], None] = lambda: None) -> None:
        self._folder = folder.resolve()
        self._on_step = on_step
        self._bytes: dict[int, bytes] = {}
        self._names: dict[int, dict[str, int]] = {}
        self._root = self._folder.stat().st_ino

    def __enter__(self) -> Self:
        self._fsync, self._rename, self._replace = os.fsync, os.rename, os.replace
        for path in (self._folder, *self._folder.rglob("*")):
            self._note(path)
        os.fsync = self._sync_descriptor
        os.rename = self._before(os.rename)
        os.replace = self._before(os.replace)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.fsync, os.rename, os.replace = self._fsync, self._rename, self._replace

    def cut(self, target: Path) -> None:
        """Write to the new folder `target` the files that are left after a power cut at this moment."""
        self._lay_out(self._root, target)

    def _lay_out(self, inode: int, target: Path) -> None:
        target.mkdir()
        for name, one in self._names.get(inode, {}).items():
            if one in self._names:
                self._lay_out(one, target / name)
            else:
                (target / name).write_bytes(self._bytes.get(one, b""))

    def _sync_descriptor(self, fd: int | HasFileno) -> None:
        self._fsync(fd)
        number = fd if isinstance(fd, int) else fd.fileno()
        self._note(Path(f"/proc/self/fd/{number}"))
        self._on_step()

    def _note(self, path: Path) -> None:
        found = path.stat()
        if stat.S_ISDIR(found.st_mode):
            self._names[found.st_ino] = {one.name: one.stat().st_ino for one in path.iterdir()}
        else:
            self._bytes[found.st_ino] = path.read_bytes()

    def _before(self, call: Callable[P, None]) -> Callable[P, None]:
        def run(*args: P.args, **kwargs: P.kwargs) -> None:
            self._on_step()
            call(*args, **kwargs)

        return run
