"""The lists made of what is near: which ways may be known, what comes of them, and when nobody looks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from mnemic.errors import StoreUnavailable
from mnemic.ports import Snapshot
from mnemic.retrieve.fusion import Weights, fuse
from mnemic.retrieve.graph_neighbourhood import ReachedNode, Walk, visible_neighbours
from mnemic.retrieve.search import Searcher
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.record_store.fixtures import EMBEDDER, everything, memory, remember, scope
from mnemic.types import Deadline, Kind, Memory, Scored, Status, Where


async def store_of(*memories: Memory) -> InProcessStore:
    store = InProcessStore()
    await store.open(EMBEDDER.space)
    await remember(store, *memories)
    return store


def way(*memories: Memory, **more: Any) -> ReachedNode:
    given: dict[str, Any] = {"node": "x", "names": (), "score": 0.5, "way": tuple(one.memory_id for one in memories)}
    return ReachedNode(**given | more)


async def test_a_way_with_one_memory_that_is_not_accepted_is_no_way() -> None:
    fine = memory("a knows b")
    barred = [
        memory("b knows c", scope=scope("bob")),
        memory("b knows d", key="secret"),
        memory("b knows e", status=Status.SUPERSEDED),
        memory("b knows f", expires_at=datetime(2026, 1, 1, tzinfo=UTC)),
    ]
    store = await store_of(fine, *barred)
    where = everything(hidden_keys=frozenset({"secret"}), live_at=datetime(2026, 6, 1, tzinfo=UTC))
    ways = [way(fine), *(way(fine, one, said=True, names=("Siemens",)) for one in barred), way(fine, memory("gone"))]
    near, lists = await visible_neighbours(ways, where, (), store, depth=9)
    assert near == [ways[0]]
    assert lists == {"graph": [Scored(fine.memory_id, 0.5)]}


async def test_of_several_ways_over_one_relation_the_best_counts() -> None:
    one, other = memory("a knows b"), memory("b knows c")
    store = await store_of(one, other)
    ways = [way(one, score=0.2), way(one, other, score=0.8), way(other, one, score=0.4)]
    _, lists = await visible_neighbours(ways, everything(), (), store, depth=9)
    assert lists["graph"] == [Scored(other.memory_id, 0.8), Scored(one.memory_id, 0.4)]
    _, none = await visible_neighbours(ways, everything(kinds=frozenset({Kind.EPISODIC})), (), store, depth=9)
    assert none == {}


async def test_what_is_remembered_of_whom_the_query_means_comes_by_all_its_words() -> None:
    canteen, stock = memory("Siemens canteen is closed"), memory("Siemens stock rose")
    store = await store_of(canteen, stock, memory("the canteen closed early"), memory("Bosch canteen"))
    meant = [way(names=("Siemens",), said=True), way(names=("Bosch",))]
    asked = await store.match(everything(), "canteen close", limit=9)
    _, lists = await visible_neighbours(meant, everything(), asked, store, depth=9)
    assert [entry.memory_id for entry in lists["near"]] == [canteen.memory_id, stock.memory_id]
    quoted = [way(names=('"Siemens stock"',), named=True)]
    _, lists = await visible_neighbours(quoted, everything(), (), store, depth=9)
    assert {entry.memory_id for entry in lists["near"]} == {canteen.memory_id, stock.memory_id}


def test_a_relation_is_worth_what_it_is_worth_alone() -> None:
    weights = Weights(graph=0.5)
    assert fuse({"graph": [Scored("a", 0.2)]}, weights) == {"a": 0.1}
    assert fuse({"near": [Scored("a", 0.2)]}, weights) == {"a": weights.near}


class Asked:
    """Surroundings that note whether anybody asked."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.queries: list[str] = []
        self._failure = failure

    async def find_named(self, query: str, where: Where, snapshot: Snapshot) -> Walk | None:
        self.queries.append(query)
        if self._failure is not None:
            raise self._failure
        return self._walk

    async def _walk(self, deadline: Deadline | None) -> Sequence[ReachedNode]:
        return ()


@pytest.mark.parametrize(("graph", "near", "asked"), [(0.0, 0.0, 0), (0.1, 0.0, 1), (0.0, 0.1, 1)])
async def test_with_both_weights_at_nothing_nobody_looks(graph: float, near: float, asked: int) -> None:
    surroundings = Asked()
    searcher = Searcher(await store_of(memory("tea")), EMBEDDER, surroundings, Weights(graph=graph, near=near))
    await searcher.search("tea", everything(), top_k=1)
    assert len(surroundings.queries) == asked
    await searcher.search("", everything(), top_k=1)
    assert len(surroundings.queries) == asked


async def test_names_that_cannot_be_read_are_named_and_the_rest_answers() -> None:
    searcher = Searcher(await store_of(memory("tea")), EMBEDDER, Asked(StoreUnavailable()))
    result = await searcher.search("tea", everything(), top_k=1)
    assert [hit.memory.content for hit in result.hits] == ["tea"]
    assert result.errors == {"graph": "store_unavailable"}


async def test_scores_of_other_queries_stay_as_they_were() -> None:
    store = await store_of(memory("green tea"), memory("black tea"), memory("a train"))
    found = [
        await Searcher(store, EMBEDDER, Asked(), weights).search("green tea", everything(), top_k=3)
        for weights in (Weights(), Weights(graph=0.0, near=0.0))
    ]
    assert found[0].hits == found[1].hits
