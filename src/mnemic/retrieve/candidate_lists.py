"""The ranked lists a search is made of: one small function for each list, all with the same signature.

Each takes a snapshot of the store, the filter and the question, and gives its best memories with a score in its own
unit. One that fails is named in the result and the others still count.

Cosines are calibrated against the background of a scope: the similarity of a query to memories that do not answer it.

A multilingual model places texts of one language close to each other regardless of meaning, and a question in another
language far from all of them; other models show the same effect for subjects. Relative to the scope's own background, a
conspicuous cosine means the same in each case. Models with a scale (`VectorSpace.scale`) are calibrated so. The default
model, whose thresholds were measured on its raw cosines of English texts, is for questions in other languages alone, as
it places their texts as close to each other.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from mnemic.language.questions.word_fields import language_asked_in
from mnemic.ports import Snapshot
from mnemic.retrieve.question import Question
from mnemic.types import Scored, Vector, VectorSpace, Where
from mnemic.types.recall_limits import read

SAMPLE = 100
"""Number of memories that determine the background of a larger scope: the newest, for every query."""
APART = 0.07
"""Cosine of unrelated texts in the default model."""
APART_UNKNOWN = 0.12
"""The same in a language that the default model hardly knows: there it separates related from unrelated texts less
well, and a lost answer is worse than a needless one.
"""
APART_IN_OTHERS = 0.3
"""Raw cosine of the default model that the background of a small scope in another language is drawn towards. Unrelated
questions and statements have 0.40 (Portuguese) to 0.47 (Dutch) there (`training/relevance/everyday.txt`). It is lower,
because the best of few is less by chance than the best of many: of 0.07, 0.3 and 0.43 the one with which scopes of 5
and of 30 abstain about as often.
"""
UNRELATED_IN_OTHERS = 0.43
"""Raw cosine of the default model between unrelated texts in another language, the mean over languages."""
DOUBT = 10
"""Number of memories of the usual cosine added to those of the scope: the mean of a few is unreliable."""
_LIKELY_APART = 0.75
"""Share of the memories, the least similar ones, that are taken as not answering the query."""


def background_of(cosines: Sequence[float], usual: float = APART) -> float:
    """Return the mean cosine of the memories that do not answer a query, from those of the whole scope; `usual` is that
    of other scopes.
    """
    apart = sorted(cosines)[: int(len(cosines) * _LIKELY_APART)]
    return (sum(apart) + DOUBT * usual) / (len(apart) + DOUBT)


def above_background(found: Sequence[Scored], background: float, apart: float = APART) -> list[Scored]:
    """Return `found` with cosines rescaled so that the background is at `apart` and an identical text at 1."""
    if background >= 1:
        return list(found)
    return [Scored(one.memory_id, rescale(one.score, background, apart)) for one in found]


def rescale(cosine: float, background: float, apart: float = APART) -> float:
    """Return a cosine on the scale on which the background, less than 1, is at `apart` and an identical text at 1."""
    return 1 - (1 - cosine) * (1 - apart) / (1 - background)


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
