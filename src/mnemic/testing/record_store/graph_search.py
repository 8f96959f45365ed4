"""Contract of results that a search finds by traversing the graph."""

# ruff: noqa: D102

from __future__ import annotations

import pytest_asyncio

from mnemic.ports import RecordStore
from mnemic.retrieve.fusion_weights import Weights
from mnemic.stores.graph import InProcessGraph
from mnemic.testing.record_store.family_graph import CANTEEN, CITY, FRIDAYS, ask, contents, family, relate, tell
from mnemic.testing.record_store.fixtures import Setting, change, day, everything, memory, scope
from mnemic.types import Kind, Status
from mnemic.types.graph import fragment_of

MUNICH = "Munich located_in Siemens"
OFF = Weights(graph=0.0, near=0.0)


class SurroundingContract(Setting):
    """Check that a search reaches two relations far, and never beyond the filter."""

    @pytest_asyncio.fixture
    async def graph(self, store: RecordStore) -> InProcessGraph:
        """Return a family, a note about her employer, and many notes that are more like the questions."""
        graph = InProcessGraph()
        await graph.open()
        noise = [memory(f"city canteen closed {number}") for number in range(12)]
        await tell(store, graph, *family(), memory(FRIDAYS), *noise)
        return graph

    async def test_what_is_two_relations_away_is_found(self, store: RecordStore, graph: InProcessGraph) -> None:
        for query, wanted in ((CITY, MUNICH), (CANTEEN, FRIDAYS)):
            result = await ask(store, graph, query, everything())
            assert wanted in contents(result)
            assert {"graph", "near"} <= set(result.plan.lists)
            assert result.plan.nodes == ("thing:ana",)
            assert result.plan.reached >= 2
            assert wanted not in contents(await ask(store, graph, query, everything(), weights=OFF))

    async def test_a_way_ends_where_the_filter_ends(self, store: RecordStore, graph: InProcessGraph) -> None:
        hidden = everything(hidden_keys=frozenset({"entity:thing:ana:works_at:thing:siemens"}))
        assert not {MUNICH, FRIDAYS, "Siemens works_at Ana"} & set(contents(await ask(store, graph, CITY, hidden)))
        notes = await ask(store, graph, CANTEEN, everything(kinds=frozenset({Kind.LONG_TERM})))
        assert FRIDAYS in contents(notes)
        assert {hit.memory.kind for hit in notes.hits} == {Kind.LONG_TERM}
        before = everything(as_of=day(-1))
        assert (await ask(store, graph, CITY, before)).hits == ()

    async def test_what_another_user_tells_leads_nowhere(self, store: RecordStore, graph: InProcessGraph) -> None:
        foreign = memory("Siemens moves", scope=scope("bob"))
        await tell(store, graph, *relate("Ana", "works_at", "Bosch", scope=scope("bob")), foreign)
        mine, theirs = everything(), everything(scope("bob"))
        assert not {"Bosch works_at Ana", "Siemens moves"} & set(
            contents(await ask(store, graph, CANTEEN, mine, top_k=9))
        )
        assert (await ask(store, graph, CITY, theirs)).plan.nodes == ()
        assert contents(await ask(store, graph, CANTEEN, theirs))[0] == "Bosch works_at Ana"

    async def test_an_ended_relation_leads_on_in_its_time_alone(self, store: RecordStore) -> None:
        graph = InProcessGraph()
        await graph.open()
        relation = relate("Ana", "works_at", "Siemens", valid_from=day(-9))
        await tell(store, graph, *relation, memory(FRIDAYS, valid_from=day(-9)))
        ended = relation[-1].next_version(day(2), status=Status.SUPERSEDED, valid_to=day(2))
        await change(store, ended)
        fragment = fragment_of(ended)
        assert fragment is not None
        await graph.link(scope(), [fragment])
        then = await ask(store, graph, CANTEEN, everything(as_of=day(1)))
        assert FRIDAYS in contents(then)
        assert [hit.memory.memory_id for hit in then.hits if "graph" in hit.ranks] == [ended.memory_id]
        now = await ask(store, graph, CANTEEN, everything(live_at=day(3)))
        assert now.plan.nodes == ("thing:ana",)
        assert not {"graph", "near"} & set(now.plan.lists)
