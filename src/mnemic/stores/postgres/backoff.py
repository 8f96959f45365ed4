"""Exponential backoff: a server that failed is not asked for a while, twice as long after each further failure."""

from __future__ import annotations

import time


class Backoff:
    """Pause after failures of one server, from `shortest` to `longest` seconds. An answer ends it."""

    def __init__(self, shortest: float, longest: float) -> None:
        self._shortest, self._longest = shortest, longest
        self._pause, self._until = 0.0, float("-inf")

    @property
    def failing(self) -> bool:
        """True if the server did not answer when it was last asked."""
        return self._pause > 0

    @property
    def pausing(self) -> bool:
        """True while it is not asked."""
        return time.monotonic() < self._until

    def begin_pause(self) -> None:
        """Begin the next pause."""
        self._pause = min(self._longest, max(self._shortest, 2 * self._pause))
        self._until = time.monotonic() + self._pause

    def reset_pause(self) -> None:
        """Let the next failure begin with the shortest pause again."""
        self._pause = 0.0
