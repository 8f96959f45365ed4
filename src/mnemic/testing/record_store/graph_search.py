"""Contract of results that a search finds by traversing the graph."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest_asyncio

from mnemic.graph.entity_names import ME_NODE, name_key
from mnemic.graph.search import GraphNeighbourhood
from mnemic.ports import RecordStore
from mnemic.ports.further_stores import GraphStore
from mnemic.retrieve.fusion import Weights
from mnemic.retrieve.optional_backends import OptionalBackend
from mnemic.retrieve.search import Searcher
from mnemic.runtime.clock import SystemClock
from mnemic.stores.graph import InProcessGraph
from mnemic.testing.record_store.fixtures import EMBEDDER, Setting, change, day, everything, memory, remember, scope
from mnemic.types import Kind, Memory, SearchResult, Status, Where
from mnemic.types.graph import fragment_of

FAMILY = (
    ("me", "sister", "Ana"),
    ("Ana", "works_at", "Siemens"),
    ("Siemens", "located_in", "Munich"),
)
CITY = "Which city is my sister's employer in?"
CANTEEN = "When is the canteen of Ana's employer closed?"
FRIDAYS = "Siemens' canteen is closed on Fridays"


def relate(source: str, relation: str, target: str, **fields: Any) -> list[Memory]:
    """Return the memories of two names and of the relation between them; `fields` are those of the last one."""
    nodes = [_node(name) for name in (source, target)]
    owned = {"scope": fields["scope"]} if "scope" in fields else {}
    names = [
        memory(node["name"], kind=Kind.ENTITY, key=name_key("thing", node["name"]), data={"nodes": [node]}, **owned)
        for node in nodes
        if node is not ME_NODE
    ]
    stated = {"source": nodes[0]["node"], "relation": relation, "target": nodes[1]["node"]}
    said = f"{target} {relation} {source}"
    data = {"nodes": nodes, "relations": [stated]}
    key = ":".join(("entity", stated["source"], relation, stated["target"]))
    return [*names, memory(said, kind=Kind.ENTITY, key=key, category="relation", data=data, **fields)]


def _node(name: str) -> dict[str, Any]:
    return ME_NODE if name == "me" else {"node": f"thing:{name.lower()}", "name": name, "label": "thing"}


def family(**fields: Any) -> list[Memory]:
    """Return the user's sister, her employer, and its place; each name once."""
    memories = [one for found in FAMILY for one in relate(*found, **fields)]
    return list({one.key: one for one in memories}.values())


async def tell(store: RecordStore, graph: GraphStore, *memories: Memory) -> None:
    """Store `memories`, and link their names and relations in the graph."""
    await remember(store, *memories)
    for one in memories:
        fragment = fragment_of(one)
        if fragment is not None:
            await graph.link(one.scope, [fragment])


async def ask(
    store: RecordStore, graph: GraphStore, query: str, where: Where, *, weights: Weights | None = None, top_k: int = 4
) -> SearchResult:
    """Return the search of an engine that has this graph, and waits for it."""
    searcher = Searcher(
        store,
        EMBEDDER,
        GraphNeighbourhood(graph, OptionalBackend(SystemClock(), timedelta(minutes=2))),
        weights or Weights(),
    )
    return await searcher.search(query, where, top_k=top_k)


def contents(result: SearchResult) -> Sequence[str]:
    """Return the contents that were found, best first."""
    return [hit.memory.content for hit in result.hits]


# ruff: noqa: D102


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
