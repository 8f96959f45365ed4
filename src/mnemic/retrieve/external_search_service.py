"""External search service as one more list: it gives ids, and the store gives the memories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, Self

from mnemic.errors import NotSupported
from mnemic.ports import Clock, Snapshot
from mnemic.ports.projections import Projection, SearchIndex
from mnemic.retrieve.optional_backend import OptionalBackend
from mnemic.retrieve.question import Question
from mnemic.types import Deadline, Scored, Where

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
