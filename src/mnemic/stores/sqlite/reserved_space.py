"""Room kept free for the day on which the disk is full and something must be deleted."""

from __future__ import annotations

import os
from pathlib import Path


class ReservedSpace:
    """A file next to the store that reserves `size` bytes of disk space. `size` 0: there is none."""

    def __init__(self, store: Path, size: int) -> None:
        self._path = Path(f"{store}.ballast")
        self.size = size

    def load(self) -> None:
        """Take up the room where there is enough; a disk that is too full for it is left alone."""
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
        """Give the room up; whether there was any."""
        try:
            self._path.unlink()
        except OSError:
            return False
        return True


def _reserve(handle: int, size: int) -> None:
    """Blocks that are really taken: a hole would free nothing."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
        return
    while size > 0:
        size -= os.write(handle, bytes(min(size, 1 << 20)))
