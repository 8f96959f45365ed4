"""The ranked lists a search is made of: one small function for each list, all with the same signature.

Each takes a snapshot of the store, the filter and the question, and gives its best memories with a score in its own
unit. One that fails is named in the result and the others still count.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from mnemic.language.questions.word_fields import language_asked_in
from mnemic.ports import Snapshot
from mnemic.retrieve.background_similarity import (
    APART,
    APART_IN_OTHERS,
    APART_UNKNOWN,
    SAMPLE,
    above_background,
    background_of,
)
from mnemic.retrieve.question import Question
from mnemic.types import Scored, Vector, VectorSpace, Where
from mnemic.types.recall_limits import read

# With a weight of 0.01 recency only decides between hits that are otherwise equal.
RECENT_DEPTH = 20

RankedList = Callable[[Snapshot, Where, Question], Awaitable[Sequence[Scored]]]


async def by_vector(snapshot: Snapshot, where: Where, question: Question) -> Sequence[Scored]:
    """Rank by cosine between the query's and the memory's embedding; a model other than the default one is read on its
    own scale. That one and questions in another language than English are read against the scope's background.
    """
    vector, space = question.vector, question.space
    if vector is None:
        return ()
    found = await snapshot.nearest(where, vector, limit=question.depth, space=space)
    if space is None or not (space.scale or language_asked_in(question.text)):
        return found
    found = _read(space, found)
    # A list that is not full contains the whole scope; otherwise the newest represent it.
    others = found if len(found) < question.depth else await _newest(snapshot, where, vector, space)
    apart, usual = (APART, APART) if space.scale else (APART_UNKNOWN, APART_IN_OTHERS)
    return above_background(found, background_of([one.score for one in others], usual), apart)


async def _newest(snapshot: Snapshot, where: Where, vector: Vector, space: VectorSpace) -> list[Scored]:
    """Return cosines of the newest memories, near or not."""
    newest = frozenset(one.memory_id for one in await snapshot.recent(where, limit=SAMPLE))
    return _read(space, await snapshot.nearest(replace(where, memory_ids=newest), vector, limit=SAMPLE, space=space))


def _read(space: VectorSpace, found: Sequence[Scored]) -> list[Scored]:
    return [Scored(one.memory_id, read(space, one.score)) for one in found]


async def by_keyword(snapshot: Snapshot, where: Where, question: Question) -> Sequence[Scored]:
    """By BM25 over the memory's words and those of its context."""
    return await snapshot.match(where, question.keywords, limit=question.depth)


async def by_key(snapshot: Snapshot, where: Where, question: Question) -> Sequence[Scored]:
    """Memories whose key the query spells out ("update channel" finds `update_channel`), each with score 1."""
    keys = question.keys if where.keys is None else question.keys & where.keys
    if not keys:
        return ()
    found = await snapshot.recent(replace(where, keys=keys), limit=question.depth)
    return [Scored(entry.memory_id, 1.0) for entry in found]


async def by_recency(snapshot: Snapshot, where: Where, question: Question) -> Sequence[Scored]:
    """Rank by the time it happened, newest first; few memories, because the list has little weight."""
    return await snapshot.recent(where, limit=min(RECENT_DEPTH, question.depth))


EARLY_LISTS: Mapping[str, RankedList] = MappingProxyType({"keyword": by_keyword, "key": by_key, "recency": by_recency})
"""Lists that need no vector: they are made while the query is embedded."""

LATE_LISTS: Mapping[str, RankedList] = MappingProxyType({"vector": by_vector})

PINNED_LISTS: Mapping[str, RankedList] = MappingProxyType(
    {"vector": by_vector, "keyword": by_keyword, "recency": by_recency}
)
"""Lists that order pinned memories; the newest are always among them."""

PART_LISTS: Mapping[str, RankedList] = MappingProxyType({"vector": by_vector, "keyword": by_keyword})
"""Lists that are also made for each part of a question about several things."""
