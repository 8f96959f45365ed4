"""Reads of one call that may be as of its beginning.

A call that reads a store several times needs no more than the state at its beginning, or a later one. A store across
the network then need not ask again whether what it has read in the same call has changed since.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LONGEST = 2.0
"""Seconds for which a block counts: a background task that begins in one must not read the same for ever."""

_BEGAN: ContextVar[float | None] = ContextVar("mnemic_moment_began", default=None)


@contextmanager
def one_moment() -> Iterator[None]:
    """Let every read inside the block be as of any moment since its beginning; an outer block stays."""
    token = _BEGAN.set(_BEGAN.get() or time.monotonic())
    try:
        yield
    finally:
        _BEGAN.reset(token)


def moment_began() -> float | None:
    """Return the monotonic time at which the block began; None outside, where each read is as of its own moment."""
    began = _BEGAN.get()
    return None if began is None or time.monotonic() - began > _LONGEST else began
