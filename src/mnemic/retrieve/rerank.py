"""Reranking: a model that reads the query and a memory together puts the best of the lists in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from heapq import nlargest

from mnemic.errors import MnemicError
from mnemic.ports import Reranker, Snapshot
from mnemic.retrieve.result_assembly import RERANKER, RankedMemories
from mnemic.retrieve.search_state import ParsedSearch
from mnemic.types import Deadline, Scored

RERANKED = 50
"""Minimum number of memories given to the reranker; a call that requests more hits gives it that many."""


async def rerank(
    reranker: Reranker,
    search: ParsedSearch,
    ranked: RankedMemories,
    texts: Mapping[str, str],
    deadline: Deadline | None,
) -> RankedMemories:
    """Return `ranked` with the reranker's scores of the memories in `texts`, by id, and without the others; unchanged
    if the reranker fails, which is recorded.
    """
    try:
        scores = await reranker.rerank(search.question.text, list(texts.values()), deadline=deadline)
    except MnemicError as failure:
        search.note(RERANKER, failure)
        return ranked
    entries = [Scored(one, score) for one, score in zip(texts, scores, strict=True)]
    entries.sort(key=lambda entry: -entry.score)
    return replace(ranked, scores=dict(entries), lists=ranked.lists | {RERANKER: entries})


async def texts_of(scores: Mapping[str, float], search: ParsedSearch, snapshot: Snapshot) -> Mapping[str, str]:
    """Return the texts of the best, which a reranker reads, by id."""
    best = nlargest(max(RERANKED, search.request.top_k), scores, key=lambda one: (scores[one], one))
    rows = await snapshot.get_many(best, scopes=search.where.scopes)
    return {one: rows[one].content for one in best if one in rows}
