"""Room on a full disk: the log emptied into the file, and the reserved space lent or given up."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import apsw


class ReservedSpace:
    """A file `<store>.ballast` next to the store that reserves `size` bytes of disk space; none if `size` is 0."""

    def __init__(self, store: Path, size: int) -> None:
        self._path = Path(f"{store}.ballast")
        self.size = size

    def load(self) -> None:
        """Reserve the space if there is enough; on a disk too full for it, do nothing."""
        if not self.size or (self._path.exists() and self._path.stat().st_size >= self.size):
            return
        try:
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
            try:
                _reserve(handle, self.size)
            finally:
                os.close(handle)
        except OSError:
            self.drop()

    def drop(self) -> bool:
        """Release the space; return True if there was any."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True


def _reserve(handle: int, size: int) -> None:
    """Allocate real blocks: a sparse file would free nothing."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
        return
    while size > 0:
        size -= os.write(handle, bytes(min(size, 1 << 20)))


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DiskSpace:
    """Room for work on one file. `removing`: the work is a removal, which may use up the reserved space."""

    writing: apsw.Connection
    path: Path
    reserved: ReservedSpace
    removing: bool = False

    def done(self, work: Callable[[], T]) -> T:
        """Do `work`, and again after making room if the disk is full."""
        try:
            return work()
        except apsw.FullError:
            return self.again(work)

    def again(self, work: Callable[[], T]) -> T:
        """Repeat `work` after a full disk. Raises apsw.FullError if no room can be made."""
        # First choice: a checkpoint frees the log without touching the reserve.
        if self._empty_log():
            with suppress(apsw.FullError):
                return work()
        # An erasure may use up the reserve for good: it frees space itself, and it must not fail on a full disk.
        if self.removing:
            self.reserved.drop()
            return work()
        return self._with_reserved(work)

    def _with_reserved(self, work: Callable[[], T]) -> T:
        """Lend the reserved space to the log. New data goes into free pages of the file, or into the space that the
        emptied log has left.
        """
        # The reserve would not be enough for the log, so it is kept for an erasure.
        if self._growth() > self.reserved.size or not self.reserved.drop():
            raise apsw.FullError
        emptied = self._empty_log()
        lent = self._bytes("freelist_count") >= self.reserved.size
        # The file took the space: the reserve is filled again as far as the disk allows.
        if not lent:
            self.reserved.load()
        if not (lent or emptied):
            raise apsw.FullError
        try:
            return work()
        finally:
            if lent:
                self._empty_log()
                self.reserved.load()

    def _empty_log(self) -> bool:
        """Try to empty the log into the file, to write it from its start again; return True on success."""
        log = Path(f"{self.path}-wal")
        try:
            before = log.stat().st_size
            self.writing.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            return log.stat().st_size < before
        except (apsw.Error, OSError):
            return False

    def _growth(self) -> int:
        """Return the number of bytes by which the file will grow once the log is written into it."""
        return self._bytes("page_count") - self.path.stat().st_size

    def _bytes(self, pages: str) -> int:
        return int(self.writing.pragma(pages)) * int(self.writing.pragma("page_size"))
