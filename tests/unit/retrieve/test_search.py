"""What a search says of lists that failed; where a long query is read."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any, TypeVar

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import StoreBusy
from mnemic.ports import Snapshot
from mnemic.retrieve import search_state
from mnemic.retrieve.candidate_lists import by_keyword, by_recency
from mnemic.retrieve.fusion import Weights
from mnemic.retrieve.question import Question, read_question
from mnemic.retrieve.relevance import DEFAULT_MODEL
from mnemic.retrieve.search import Searcher
from mnemic.retrieve.signals import SignalWeights
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Level, Scored, VectorSpace, Where

ANA = Actor(user="ana")
MINE = Where(scopes=ANA.scopes([Level.USER]))
T = TypeVar("T")


class TwiceStore(InProcessStore):
    """Gives up the first try of every read, and reads again: as after a lost race."""

    async def read(self, work: Callable[[Snapshot], Awaitable[T]]) -> T:
        await super().read(work)
        return await super().read(work)


@pytest.fixture
async def store() -> AsyncIterator[TwiceStore]:
    store = TwiceStore()
    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        await engine.add("The ship lies in the harbour.", actor=ANA)
        yield store


@pytest.mark.parametrize(("failing", "errors"), [({1}, {}), ({2}, {"keyword": "store_busy"})])
async def test_only_what_failed_in_the_try_that_counted_is_said(
    store: TwiceStore, failing: set[int], errors: dict[str, str]
) -> None:
    tries = 0

    async def failing_at_times(snapshot: Snapshot, where: Where, question: Question) -> Sequence[Scored]:
        nonlocal tries
        tries += 1
        if tries in failing:
            raise StoreBusy
        return await by_keyword(snapshot, where, question)

    lists = {"keyword": failing_at_times, "recency": by_recency}
    searcher = Searcher(store, WordEmbedder(), early_lists=lists)
    result = await searcher.search("the ship", MINE, top_k=3)
    assert tries == 2
    assert result.errors == errors
    assert ("keyword" in result.hits[0].ranks) is not bool(errors)


async def test_where_every_list_fails_the_failure_is_raised(store: TwiceStore) -> None:
    async def failing(snapshot: Snapshot, where: Where, question: Question) -> Sequence[Scored]:
        raise StoreBusy

    searcher = Searcher(store, WordEmbedder(), early_lists={"keyword": failing}, late_lists={"vector": failing})
    with pytest.raises(StoreBusy):
        await searcher.search("the ship", MINE, top_k=3)


@pytest.mark.parametrize(("query", "beside"), [("the ship", False), ("the ship " * 200, True)])
async def test_a_long_query_is_read_beside_the_loop(
    store: TwiceStore, monkeypatch: pytest.MonkeyPatch, query: str, beside: bool
) -> None:
    threads = []

    def watched(text: str, **given: Any) -> Question:
        threads.append(threading.current_thread() is not threading.main_thread())
        return read_question(text, **given)

    monkeypatch.setattr(search_state, "read_question", watched)
    result = await Searcher(store, WordEmbedder()).search(query, MINE, top_k=3)
    assert result.hits
    assert threads == [beside]


class Named(WordEmbedder):
    """Says that its vectors are those of `model`."""

    def __init__(self, model: str) -> None:
        super().__init__()
        self.model = model

    @property
    def space(self) -> VectorSpace:
        return VectorSpace(model=self.model, dimension=super().space.dimension)


@pytest.mark.parametrize(
    ("query", "told", "part"),
    [("Где моя лодка?", "Моя лодка стоит в гавани.", 0.25), ("Where is my boat?", "My boat lies in the harbour.", 1.0)],
)
async def test_vectors_weigh_a_quarter_where_the_model_does_not_know_the_letters(
    query: str, told: str, part: float
) -> None:
    scores = []
    for model in (DEFAULT_MODEL, "another"):
        store, embedder = InProcessStore(), Named(model)
        async with MemoryEngine(store=store, embedder=embedder) as engine:
            await engine.add(told, actor=ANA)
            weights = Weights(keyword=0.0, key=0.0, recency=0.0)
            signals = SignalWeights(importance=0.0)
            searcher = Searcher(store, embedder, weights=weights, signal_weights=signals)
            scores.append((await searcher.search(query, MINE, top_k=1)).hits[0].score)
    assert scores[0] == pytest.approx(part * scores[1])
