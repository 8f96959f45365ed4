"""Backends without which a search still answers: their time limit and circuit breaker, and the external search service
as one more list. It gives ids, and the store gives the memories.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import Protocol, Self, TypeVar

from mnemic.errors import NotSupported, StoreBusy
from mnemic.ports import Clock, Snapshot
from mnemic.ports.projections import Projection, SearchIndex
from mnemic.retrieve.question import Question
from mnemic.runtime.circuit_breaker import REST, CircuitBreaker
from mnemic.types import Deadline, Scored, Where

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


INDEX = "search_index"
"""The list's name."""


class ExternalSearch(Protocol):
    """A service that ranks memories by words and by meaning."""

    async def rank(self, question: Question, where: Where, deadline: Deadline | None) -> Sequence[Scored]:
        """Return its best memories within `where`, in a possibly slightly older state. Raises MnemicError."""


async def keep_accepted(found: Sequence[Scored], where: Where, snapshot: Snapshot) -> Sequence[Scored]:
    """Return the memories that `where` accepts in their stored state: a service may lag, or name memories that are
    gone.
    """
    memories = await snapshot.get_many([one.memory_id for one in found], scopes=where.scopes)
    return [one for one in found if one.memory_id in memories and where.accepts(memories[one.memory_id])]


@dataclass(frozen=True, slots=True)
class SearchIndexAdapter:
    """`ExternalSearch` by a `SearchIndex`, within the time limit of `backend`."""

    index: SearchIndex
    backend: OptionalBackend

    @classmethod
    def from_projections(cls, projections: Sequence[Projection], clock: Clock) -> Self | None:
        """Return the first of these projections that is a search index; None if none is."""
        index = next((each for each in projections if isinstance(each, SearchIndex)), None)
        return None if index is None else cls(index, OptionalBackend(clock))

    async def rank(self, question: Question, where: Where, deadline: Deadline | None) -> Sequence[Scored]:
        """Return the service's best, words and vector in one query; nothing if it does not support the query (a time in
        the past). Raises StoreBusy and StoreUnavailable.
        """
        ask = partial(self.index.search, where, question.keywords, question.vector, limit=question.depth)
        try:
            return await self.backend.call(ask, deadline)
        except NotSupported:
            return ()
