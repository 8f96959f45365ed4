"""Clock that advances only on request."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

from mnemic.types import aware

_START = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


class ManualClock:
    """A `Clock` that the test sets. Sleeping takes no time: it moves the clock and lets other tasks run."""

    def __init__(self, now: datetime = _START) -> None:
        self._now = aware(now, "now")
        self._monotonic = 0.0
        self.slept: list[timedelta] = []

    def now(self) -> datetime:
        """Return the wall clock, as set."""
        return self._now

    def monotonic(self) -> float:
        """Return the sum of the seconds of `advance` and `sleep`."""
        return self._monotonic

    async def sleep(self, duration: timedelta) -> None:
        """Advance by `duration`, record it in `slept`, and let other tasks run."""
        self.slept.append(duration)
        self.advance(duration)
        await asyncio.sleep(0)

    def advance(self, duration: timedelta) -> datetime:
        """Advance both clocks, and return the new wall-clock time. Raises ValueError for a negative duration."""
        if duration < timedelta(0):
            raise ValueError("time passes forwards; `jump_to` sets the wall clock back")
        self._now += duration
        self._monotonic += duration.total_seconds()
        return self._now

    def jump_to(self, moment: datetime) -> None:
        """Set the wall clock, also backwards, as an administrator would; the monotonic clock is unaffected."""
        self._now = aware(moment, "moment")
