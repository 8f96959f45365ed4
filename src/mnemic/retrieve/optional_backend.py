"""Time limit and circuit breaker for an optional backend, without which a search still answers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeVar

from mnemic.errors import StoreBusy
from mnemic.ports import Clock
from mnemic.runtime.circuit_breaker import REST, CircuitBreaker
from mnemic.types import Deadline

T = TypeVar("T")


@dataclass(slots=True)
class OptionalBackend:
    """Calls of a graph or a search index: each takes at most `timeout`, and after one that exceeded it none is made for
    the time of `rest`.
    """

    clock: Clock
    timeout: timedelta = timedelta(seconds=1)
    rest: timedelta = REST
    _circuit: CircuitBreaker = field(init=False)

    def __post_init__(self) -> None:
        self._circuit = CircuitBreaker(self.clock.monotonic, failures=1, rest=self.rest)

    async def call(self, work: Callable[[], Awaitable[T]], deadline: Deadline | None = None) -> T:
        """Return the result of `work`. Raises StoreBusy if it timed out, or the circuit is open."""
        if not self._circuit.allows():
            raise StoreBusy
        longest = self.timeout.total_seconds()
        seconds = longest if deadline is None else min(longest, deadline.remaining())
        try:
            async with asyncio.timeout(seconds):
                result = await work()
        except TimeoutError:
            if seconds == longest:  # the caller had set a shorter time
                self._circuit.count_timeout()
            raise StoreBusy from None
        except Exception:  # it failed at once, which costs the next call no time
            self._circuit.close_circuit()
            raise
        self._circuit.close_circuit()
        return result
