"""A search service beside the store, as one more list: it says which memories, the store says what they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mnemic.ports import Snapshot
from mnemic.retrieve.question import Question
from mnemic.types import Deadline, Scored, Where

INDEX = "search_index"
"""The list's name."""


class Elsewhere(Protocol):
    """A service that ranks memories by words and by meaning."""

    async def ranked(self, question: Question, where: Where, deadline: Deadline | None) -> Sequence[Scored]:
        """Its best memories inside `where`, which it may know as they were a moment ago. Raises MnemicError."""


async def accepted(found: Sequence[Scored], where: Where, moment: Snapshot) -> Sequence[Scored]:
    """Those that `where` accepts as the store has them now: a service may be behind, or name what is gone."""
    memories = await moment.get_many([one.memory_id for one in found], scopes=where.scopes)
    return [one for one in found if one.memory_id in memories and where.accepts(memories[one.memory_id])]
