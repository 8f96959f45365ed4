"""Checksums of rows: what a disk, a cable or a file system has changed is noticed before it is believed.

They tell damage, not fraud: whoever can write rows can write checksums too. None is that of a row from before there
were any, which says nothing; `maintain` gives it one.
"""

from __future__ import annotations

import hashlib
import logging
import zlib
from functools import lru_cache
from typing import Any

from mnemic.errors import StoreCorrupt

logger = logging.getLogger(__name__)

_MOST_NOTED = 1000
_HINT = "the row is damaged; `mnemic doctor` names it, `mnemic forget` removes it, a backup or `mnemic salvage` helps"


def body_check(tenant: str, level: str, owner: str, body: bytes | str) -> int:
    """The checksum of what a memory says, with the scope in which it does: 64 bits."""
    digest = _in_scope(tenant, level, owner).copy()
    digest.update(body if isinstance(body, bytes) else body.encode())
    return int.from_bytes(digest.digest(), "little", signed=True)


@lru_cache(maxsize=1024)
def _in_scope(tenant: str, level: str, owner: str) -> Any:
    return hashlib.blake2b(f"{tenant}\x1f{level}\x1f{owner}\x1f".encode(), digest_size=8)


def text_check(*parts: str | bytes) -> int:
    """The checksum of other values of a row: 64 bits."""
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        digest.update(b"%d\x1f" % len(data) + data)
    return int.from_bytes(digest.digest(), "little", signed=True)


def blob_check(*parts: bytes | None) -> int:
    """The checksum of a vector or of packed words: CRC-32, for there are many of them and they decide no statement."""
    found = 0
    for part in parts:
        found = zlib.crc32(part or b"", found)
    return found


def damaged(what: str) -> StoreCorrupt:
    """The error that says a row of `what` is not what was written."""
    return StoreCorrupt(what, hint=_HINT)


class Noted:
    """Rows that were skipped because they are damaged, each logged once."""

    def __init__(self) -> None:
        self._rows: set[object] = set()

    def note(self, row: object) -> None:
        """Log that the row, by its number or identifier, was skipped."""
        if row not in self._rows and len(self._rows) < _MOST_NOTED:
            self._rows.add(row)
            logger.warning("row=<%s> | damaged row skipped | `mnemic doctor` names its memory", row)
