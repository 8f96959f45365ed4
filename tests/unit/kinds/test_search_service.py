"""A search service as a list of each search: waited for a moment, then left alone for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from mnemic.errors import NotSupported, StoreBusy
from mnemic.retrieve.optional_backends import OptionalBackend, SearchIndexAdapter
from mnemic.retrieve.question import read_question
from mnemic.testing.clock import ManualClock
from mnemic.testing.record_store import scope
from mnemic.types import Memory, Scope, Scored, Vector, Where

HERE = Where(scopes=(scope(),))
ASKED = read_question("green tea", speakers=frozenset(), asked_on=None, depth=7)


class Index:
    """A search index that answers as the test says."""

    name = "search_index"

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.asked: list[tuple[str, int]] = []

    async def search(self, where: Where, query: str, vector: Vector | None, *, limit: int) -> list[Scored]:
        self.asked.append((query, limit))
        if isinstance(self.answer, Exception):
            raise self.answer
        if self.answer is None:
            await asyncio.Event().wait()
        return list(self.answer)

    async def upsert(self, memories: Sequence[Memory]) -> None: ...

    async def remove(self, scope: Scope, memory_ids: Sequence[str]) -> None: ...

    async def apply(self, changes: Any) -> None: ...

    async def clear(self, tenant: str) -> None: ...

    async def close(self) -> None: ...


async def test_it_is_asked_for_the_words_of_the_question() -> None:
    index = Index([Scored("m1", 0.5)])
    elsewhere = SearchIndexAdapter.from_projections([index], ManualClock())
    assert elsewhere is not None
    assert await elsewhere.rank(ASKED, HERE, None) == [Scored("m1", 0.5)]
    assert index.asked == [("green tea", 7)]


async def test_what_it_cannot_be_asked_is_no_failure() -> None:
    elsewhere = SearchIndexAdapter(Index(NotSupported("search_index:as_of")), OptionalBackend(ManualClock()))
    assert await elsewhere.rank(ASKED, HERE, None) == ()


async def test_one_that_hangs_is_left_alone_for_a_while() -> None:
    index, clock = Index(None), ManualClock()
    elsewhere = SearchIndexAdapter(index, OptionalBackend(clock, timeout=timedelta(milliseconds=1)))
    for _ in range(3):
        with pytest.raises(StoreBusy):
            await elsewhere.rank(ASKED, HERE, None)
    assert len(index.asked) == 1
    clock.advance(timedelta(minutes=1))
    index.answer = []
    assert await elsewhere.rank(ASKED, HERE, None) == []


def test_without_an_index_nothing_is_asked() -> None:
    assert SearchIndexAdapter.from_projections([], ManualClock()) is None
