"""The real clock."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta


class SystemClock:
    """The machine's time; the `Clock` every engine uses unless a test injects another."""

    def now(self) -> datetime:
        """Return the wall clock, aware, UTC."""
        return datetime.now(UTC)

    monotonic = staticmethod(time.perf_counter)
    """Seconds on the performance counter, which is monotonic."""

    async def sleep(self, duration: timedelta) -> None:
        """Wait on the event loop."""
        await asyncio.sleep(duration.total_seconds())
