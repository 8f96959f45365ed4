"""Graph as a projection: for a graph outside the record store."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence

from mnemic.ports.further_stores import GraphStore
from mnemic.types import Change, Fragment, Scope
from mnemic.types.graph import fragment_of
from mnemic.types.memory import holds_graph


class GraphProjection:
    """Feeds a graph from the outbox. A superseded relation stays, with an end.

    The graph belongs to the engine, which opens and closes it.
    """

    def __init__(self, graph: GraphStore) -> None:
        self._graph = graph

    @property
    def name(self) -> str:
        """Its name in receipts and reports."""
        return "graph"

    async def apply(self, changes: Sequence[Change]) -> None:
        """Apply the changes: one transaction for new content of a scope, one for removals. Memories without a graph
        cost nothing. Raises StoreFailed.
        """
        linked: defaultdict[Scope, list[Fragment]] = defaultdict(list)
        gone: defaultdict[Scope, list[str]] = defaultdict(list)
        for change in changes:
            if change.memory is not None and not holds_graph(change.memory):
                continue
            fragment = None if change.memory is None else fragment_of(change.memory)
            if fragment is not None:
                linked[change.entry.scope].append(fragment)
            else:
                gone[change.entry.scope].append(change.entry.memory_id)
        for scope, memory_ids in gone.items():
            await self._graph.forget(scope, memory_ids)
        for scope, fragments in linked.items():
            await self._graph.link(scope, fragments)

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        """Return the number of nodes and relations that these memories still have. Raises StoreFailed."""
        return await self._graph.traces(tenant, memory_ids)

    async def clear(self, tenant: str) -> None:
        """Remove all data of the tenant."""
        await self._graph.clear(tenant)

    async def close(self) -> None:
        """Nothing: the engine closes the graph."""
