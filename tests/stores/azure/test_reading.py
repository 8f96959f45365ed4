"""Searches that read a search service: the engine queries it through the official SDK, the store returns the finds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta

import pytest

from mnemic.engine import MemoryEngine
from mnemic.inject.engine_injector import injector_for
from mnemic.stores.azure import AzureSearchIndex
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate
from tests.azure_search import KEY, AzureSearchServer
from tests.processes import running

ANA, BEN = Actor(user="ana"), Actor(user="ben")


@pytest.fixture
def service() -> Iterator[AzureSearchServer]:
    with running(AzureSearchServer()) as service:
        yield service


def engine_on(service: AzureSearchServer, store: InProcessStore, clock: ManualClock) -> MemoryEngine:
    index = AzureSearchIndex(service.endpoint, "memories", KEY, seconds=30, dimension=384)
    return MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock, projections=[index])


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def engine(service: AzureSearchServer, clock: ManualClock) -> AsyncIterator[MemoryEngine]:
    async with engine_on(service, InProcessStore(), clock) as engine:
        yield engine


async def test_a_search_asks_the_service_by_words_and_vector_within_the_actors_scopes(
    engine: MemoryEngine, service: AzureSearchServer
) -> None:
    tea = await engine.add("green tea in the morning", actor=ANA)
    await engine.add("green tea in the evening", actor=BEN)
    found = await engine.search("green tea", actor=ANA)
    assert [hit.memory.memory_id for hit in found.hits] == [tea.memory_id]
    assert found.hits[0].ranks["search_index"].position == 1
    assert "search_index" in found.plan.lists
    assert found.errors == {}
    asked = service.asked[-1]
    assert asked["search"] == "green tea"
    assert [query["fields"] for query in asked["vectorQueries"]] == ["vector"]
    assert "owner eq 'ana'" in asked["filter"]
    assert "ben" not in asked["filter"]


async def test_what_the_service_ranks_is_found_where_the_store_ranks_nothing(
    service: AzureSearchServer, clock: ManualClock
) -> None:
    async with engine_on(service, InProcessStore(), clock) as engine:
        searcher = engine.gateway.searcher
        searcher.early_lists, searcher.late_lists = {}, {}
        for number in range(30):
            await engine.add(f"an ordinary note with the number {number}", actor=ANA)
            clock.advance(timedelta(days=1))
        harp = await engine.add("the harp is in the attic", actor=ANA, occurred_at=clock.now() - timedelta(days=300))
        best = (await engine.search("harp in the attic", actor=ANA, top_k=1)).hits[0]
        assert (best.memory.memory_id, set(best.ranks)) == (harp.memory_id, {"search_index"})
        assert best.why.startswith("ranked by the search service")


async def test_what_is_gone_or_hidden_since_is_not_shown(
    engine: MemoryEngine, service: AzureSearchServer, clock: ManualClock
) -> None:
    gone = await engine.add("green tea in the morning", actor=ANA)
    short = await engine.add("green tea today only", actor=ANA, ttl=timedelta(days=1))
    before = dict(service.documents)
    clock.advance(timedelta(days=2))
    await engine.forget(gone.memory_id or "", actor=ANA)
    for document in before.values():
        document["expires_at"] = None
    service.documents = before  # a service that is behind
    found = await engine.search("green tea", actor=ANA)
    assert found.hits == ()
    assert short.memory_id not in str(found.hits)


@pytest.mark.parametrize("status", [404, 500, 503])
async def test_a_service_that_fails_is_named_and_the_store_answers(
    engine: MemoryEngine, service: AzureSearchServer, status: int
) -> None:
    tea = await engine.add("green tea in the morning", actor=ANA)
    service.status = status
    found = await engine.search("green tea", actor=ANA)
    assert [hit.memory.memory_id for hit in found.hits] == [tea.memory_id]
    assert found.errors == {"search_index": f"store_unavailable:azure_search:{status}"}


async def test_before_there_is_an_index_the_store_answers(engine: MemoryEngine, service: AzureSearchServer) -> None:
    found = await engine.search("green tea", actor=ANA)
    assert found.hits == ()
    assert found.errors == {"search_index": "store_unavailable:azure_search:404"}
    assert service.indexes == {}


async def test_the_past_is_asked_of_the_store_alone(
    engine: MemoryEngine, service: AzureSearchServer, clock: ManualClock
) -> None:
    await engine.add("aisle", key="seat", actor=ANA)
    clock.advance(timedelta(days=9))
    asked = len(service.asked)
    then = await engine.search("seat", actor=ANA, as_of=clock.now() - timedelta(days=1))
    assert [hit.memory.content for hit in then.hits] == ["aisle"]
    known = await engine.search("seat", actor=ANA, known_at=clock.now() - timedelta(days=1))
    assert [hit.memory.content for hit in known.hits] == ["aisle"]
    assert then.errors == known.errors == {}
    assert len(service.asked) == asked


async def test_what_is_injected_comes_through_it_too(engine: MemoryEngine, service: AzureSearchServer) -> None:
    await engine.add_many([Candidate(content="The ferry to Texel leaves at nine.")], actor=ANA)
    injection = await injector_for(engine, ANA).inject([{"role": "user", "content": "When does the ferry leave?"}])
    assert "Texel" in (injection.text or "")
    assert service.asked
