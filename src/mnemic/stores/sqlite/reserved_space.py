"""Reserved disk space, with which an erasure can run on a full disk."""

from __future__ import annotations

import os
from pathlib import Path


class ReservedSpace:
    """A file `<store>.ballast` next to the store that reserves `size` bytes of disk space; none if `size` is 0."""

    def __init__(self, store: Path, size: int) -> None:
        # The name of the first versions: with another one, an upgraded store would reserve its space twice.
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
