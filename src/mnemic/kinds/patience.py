"""Time limits for something beside the store: how long it is waited for, and how long it is left alone after it did not
answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from math import inf
from typing import TypeVar

from mnemic.errors import StoreBusy
from mnemic.ports import Clock
from mnemic.types import Deadline

T = TypeVar("T")


@dataclass(slots=True)
class Patience:
    """Waits at most `longest`. Who was waited for so long in vain is not asked for the time of `rest`: a server that
    hangs costs one call its patience, not every one. Then one more call tries, and the rest begins anew if it fails.
    """

    clock: Clock
    longest: timedelta = timedelta(seconds=1)
    rest: timedelta = timedelta(seconds=15)
    _rested_at: float = field(default=-inf, init=False)

    async def wait(self, work: Callable[[], Awaitable[T]], deadline: Deadline | None = None) -> T:
        """Return the result of `work`. Raises StoreBusy where it is too late, or is not begun."""
        if self.clock.monotonic() < self._rested_at:
            raise StoreBusy
        longest = self.longest.total_seconds()
        seconds = longest if deadline is None else min(longest, deadline.remaining())
        try:
            async with asyncio.timeout(seconds):
                return await work()
        except TimeoutError:
            if seconds == longest:  # less is the caller's haste
                self._rested_at = self.clock.monotonic() + self.rest.total_seconds()
            raise StoreBusy from None
