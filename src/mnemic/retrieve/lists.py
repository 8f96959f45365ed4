"""The ranked lists a search is made of: one small function a list, all of one shape.

Each takes the store, the filter and the question, and gives its best memories with a score in its own unit. They run
side by side; one that fails is named in the result and the others still count.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from mnemic.ports import RecordStore
from mnemic.retrieve.question import Question
from mnemic.types import Scored, Where

RankedList = Callable[[RecordStore, Where, Question], Awaitable[Sequence[Scored]]]


async def by_vector(store: RecordStore, where: Where, question: Question) -> Sequence[Scored]:
    """By cosine between the query's and the memory's embedding."""
    if question.vector is None:
        return ()
    return await store.nearest(where, question.vector, limit=question.depth)


async def by_keyword(store: RecordStore, where: Where, question: Question) -> Sequence[Scored]:
    """By BM25 over the memory's words and those of its context."""
    return await store.match(where, question.keywords, limit=question.depth)


async def by_key(store: RecordStore, where: Where, question: Question) -> Sequence[Scored]:
    """Memories whose key the query spells out ("update channel" finds `update_channel`), each with score 1."""
    keys = question.keys if where.keys is None else question.keys & where.keys
    if not keys:
        return ()
    found = await store.newest(replace(where, keys=keys), limit=question.depth)
    return [Scored(memory_id=memory.memory_id, score=1.0) for memory in found]


async def by_recency(store: RecordStore, where: Where, question: Question) -> Sequence[Scored]:
    """By when it happened, newest first."""
    return await store.recent(where, limit=question.depth)


LISTS: Mapping[str, RankedList] = MappingProxyType(
    {"vector": by_vector, "keyword": by_keyword, "key": by_key, "recency": by_recency}
)
