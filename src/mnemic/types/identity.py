"""Identifiers that sort by time: UUID version 7 (RFC 9562, section 5.7), and pseudonyms of people."""

from __future__ import annotations

import hmac
import os
import threading
from datetime import UTC, datetime
from functools import lru_cache


class _Stamps:
    """Milliseconds and a 12-bit counter, never the same twice in one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = 0

    def following(self, at: datetime) -> int:
        with self._lock:
            # If the clock goes back the counter goes on, so identifiers never repeat and always increase.
            self._last = max(self._last + 1, int(at.timestamp() * 1000) << 12)
            return self._last


_stamps = _Stamps()


def new_id(at: datetime) -> str:
    """Return a UUIDv7 for the moment `at`, as text.

    Identifiers made in one process are strictly increasing, even if the clock stops or goes back: 12 bits
    below the millisecond count on (RFC 9562, section 6.2, method 1).
    """
    stamp = _stamps.following(at)
    # 62 random bits tell processes apart that write within the same millisecond.
    random_bits = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    milliseconds, counter = stamp >> 12, stamp & 0xFFF
    value = (milliseconds & ((1 << 48) - 1)) << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | random_bits
    digits = f"{value:032x}"  # as `str(uuid.UUID(int=value))`, in a fraction of the time
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def first_id(at: datetime) -> str:
    """Return the text that no identifier made at `at` or later is smaller than, and every earlier one is."""
    milliseconds = f"{int(at.timestamp() * 1000) & ((1 << 48) - 1):012x}"
    return f"{milliseconds[:8]}-{milliseconds[8:]}"


def time_of_id(memory_id: str) -> datetime:
    """Return the time at which an identifier was made, to the millisecond."""
    milliseconds = int(memory_id.replace("-", "")[:12], 16)
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


@lru_cache(maxsize=1024)
def token_of(secret: bytes, user: str) -> str:
    """Return the pseudonym of a user: 32 hex digits, keyed by the tenant's secret."""
    return hmac.digest(secret, f"subject\x1f{user}".encode(), "sha256").hex()[:32]
