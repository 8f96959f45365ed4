"""A small family as memories of names and relations, for the tests of a search that walks the graph."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mnemic.graph.entity_names import ME_NODE, name_key
from mnemic.graph.search import GraphNeighbourhood
from mnemic.ports import RecordStore
from mnemic.ports.graph import GraphStore
from mnemic.retrieve.fusion_weights import Weights
from mnemic.retrieve.optional_backend import OptionalBackend
from mnemic.retrieve.search import Searcher
from mnemic.runtime.clock import SystemClock
from mnemic.testing.record_store.fixtures import EMBEDDER, memory, remember
from mnemic.types import Kind, Memory, SearchResult, Where
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
