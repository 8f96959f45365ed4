"""Walks through a graph in which some nodes are one: from any of them to any other is no step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from mnemic.graph.entity_resolution import MergedNodes
from mnemic.ports.further_stores import GraphStore
from mnemic.types import Neighbour, Node, Relation, Scope
from mnemic.types.graph import MAX_NODES, newest_first

Way = tuple[Relation, ...]


@dataclass(slots=True)
class _Reached:
    """Nodes reached from a start: the path to each, by its name, and the nodes as the graph stores them."""

    ways: dict[str, Way]
    nodes: dict[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GraphTraversal:
    """Walks of one scope as of the moment `at`; None: over all statements. Raises the errors of the graph."""

    graph: GraphStore
    scope: Scope
    same: MergedNodes
    at: datetime | None

    async def find_neighbours(self, start: str, *, hops: int, limit: int) -> list[Neighbour]:
        """At most `limit` nodes within `hops` steps of `start`, in the order of `GraphStore.neighbours`."""
        if not self.same.chiefs:
            return await self.graph.neighbours(self.scope, start, hops=hops, at=self.at, limit=limit)
        most = MAX_NODES if limit in range(1, MAX_NODES + 1) else limit  # the graph rejects a limit out of range
        reached = await self._find_reached(start, hops, most)
        near = newest_first(self.same.join_nodes(list(reached.nodes.values())))
        found = [Neighbour(node=node, path=reached.ways[node.node]) for node in near if reached.ways[node.node]]
        return sorted(found, key=lambda one: one.hops)[:limit]

    async def path(self, source: str, target: str, *, hops: int) -> Way | None:
        """Return a shortest path of at most `hops` steps; None if there is none."""
        if not self.same.chiefs:
            return await self.graph.path(self.scope, source, target, hops=hops, at=self.at)
        reached = await self._find_reached(source, hops, MAX_NODES)
        best = reached.ways.get(self.same.chief(target))
        if len(reached.nodes) < MAX_NODES:
            return best
        # A traversal of a large graph does not list every node, so the last part of the path takes a separate query.
        for node, way in self._stations(reached):
            for end in self.same.group(target):
                left = (hops if best is None else len(best) - 1) - len(way)
                last = await self.graph.path(self.scope, node, end, hops=left, at=self.at) if left > 0 else None
                best = best if last is None else way + self.same.way(last)
        return best

    def _stations(self, reached: _Reached) -> Iterator[tuple[str, Way]]:
        """Yield the start and every node that is one with others, as far as they are reached, with the way there."""
        for chief, way in reached.ways.items():
            group = self.same.group(chief)
            if not way or len(group) > 1:
                yield from ((node, way) for node in group)

    async def _find_reached(self, start: str, hops: int, most: int) -> _Reached:
        """All within `hops` of `start`, nearest first: from it, and on from each that is one with others."""
        begin = self.same.chief(start)
        reached, onward = _Reached({begin: ()}), {begin}
        while onward:
            chief = min(onward, key=lambda one: (len(reached.ways[one]), one))
            onward.remove(chief)
            way = reached.ways[chief]
            left = hops - len(way)
            if way and left == 0:
                break
            for node in self.same.group(chief):
                for one in await self.graph.neighbours(self.scope, node, hops=left, at=self.at, limit=most):
                    there = self.same.chief(one.node.node)
                    further = way + self.same.way(one.path)
                    reached.nodes[one.node.node] = one.node
                    if there in reached.ways and len(reached.ways[there]) <= len(further):
                        continue
                    reached.ways[there] = further
                    onward |= {there} if len(self.same.group(there)) > 1 else set()
        return reached
