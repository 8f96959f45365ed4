"""A search index that the outbox feeds, as a list of each search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Self

from mnemic.errors import NotSupported
from mnemic.kinds.optional_backend import OptionalBackend
from mnemic.ports import Clock
from mnemic.ports.projections import Projection, SearchIndex
from mnemic.retrieve.question import Question
from mnemic.types import Deadline, Scored, Where


@dataclass(frozen=True, slots=True)
class IndexedElsewhere:
    """`mnemic.retrieve.search_service.Elsewhere` by a `SearchIndex`, within the time limit of `backend`."""

    index: SearchIndex
    backend: OptionalBackend

    @classmethod
    def among(cls, projections: Sequence[Projection], clock: Clock) -> Self | None:
        """Return the first of these projections that is a search index; None where none is."""
        index = next((each for each in projections if isinstance(each, SearchIndex)), None)
        return None if index is None else cls(index, OptionalBackend(clock))

    async def ranked(self, question: Question, where: Where, deadline: Deadline | None) -> Sequence[Scored]:
        """Return the service's best, words and vector asked at once; nothing where it cannot be asked such a thing (a
        time in the past). Raises StoreBusy and StoreUnavailable.
        """
        ask = partial(self.index.search, where, question.keywords, question.vector, limit=question.depth)
        try:
            return await self.backend.call(ask, deadline)
        except NotSupported:
            return ()
