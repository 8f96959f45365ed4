"""Search of the graph, from the names in a query to their neighbours. Some nodes are one: from any of them to any other
is no step.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from functools import partial
from typing import Any

from mnemic.graph.entity_names import ME_NODE, SAME, MergedNodes, key_of, node_of
from mnemic.language.entities.relation_questions import AskedRelations, read_asked
from mnemic.language.entities.relations import LABELS, THING
from mnemic.language.questions.question_words import COMMON
from mnemic.language.text.names import slug, spelled_names
from mnemic.ports import Snapshot
from mnemic.ports.further_stores import GraphStore
from mnemic.retrieve.graph_neighbourhood import SAID, ReachedNode, Walk
from mnemic.retrieve.optional_backends import OptionalBackend
from mnemic.types import Deadline, Kind, Level, Neighbour, Node, Relation, Scope, Where
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


MAX_CHARS = 2_000
"""Words of a query after which nothing is named."""

MAX_STARTS = 4
MAX_ONWARD = 3
MAX_REACHED = 20
MAX_UNSAID = 6
MAX_HUB_RELATIONS = 50
MAX_OWN_RELATIONS = 100
MAX_SAME = 500
_NOT_NAMES = COMMON | {"s"}
_ME: str = ME_NODE["node"]


@dataclass(frozen=True, slots=True)
class GraphNeighbourhood:
    """`mnemic.retrieve.graph_neighbourhood.Neighbourhood` by the graph of entities: from at most four things, at most
    two relations far, to at most twenty that the query asks for and six others. The second relation is only gone along
    if the query names it ("employer", "city").

    No path goes through the user, a node near to everything; from the user only along a relation that the query calls
    theirs ("my sister"). A walk raises StoreBusy past the time limit of `backend`.
    """

    graph: GraphStore
    backend: OptionalBackend

    async def find_named(self, query: str, where: Where, snapshot: Snapshot) -> Walk | None:
        """See `Neighbourhood`. Names are those of the user's own scope; without it there are none."""
        own = next((scope for scope in where.scopes if scope.level == Level.USER), None)
        if own is None:
            return None
        inside = _entities(where, own)
        begin = query[:MAX_CHARS]
        spelled, asked = spelled_names(begin, common=_NOT_NAMES), read_asked(begin)
        starts = await _nodes_by_name(spelled, inside, snapshot)
        if not starts and not (asked.mine and await snapshot.recent(inside, limit=1)):
            return None
        walks = GraphTraversal(self.graph, own, await _same(inside, snapshot), where.as_of or where.live_at)
        walk = _Walk(walks, asked, frozenset(spelled))
        return partial(self._walk_graph, walk, starts)

    async def _walk_graph(
        self, walk: _Walk, starts: Sequence[dict[str, Any]], deadline: Deadline | None
    ) -> Sequence[ReachedNode]:
        return await self.backend.call(partial(walk.find_reached, starts), deadline)


def _entities(where: Where, own: Scope) -> Where:
    """Return the filter for all statements about names, without the query's filters and time: a name has no time."""
    return replace(
        where,
        scopes=(own,),
        kinds=frozenset({Kind.ENTITY}),
        categories=None,
        keys=None,
        happened_from=None,
        happened_to=None,
        as_of=None,
    )


async def _nodes_by_name(spelled: Sequence[str], inside: Where, snapshot: Snapshot) -> list[dict[str, Any]]:
    """Return the nodes that go by one of these names, those that were spoken of last first."""
    keys = frozenset(key_of(f"{label}:{name}") for name in spelled for label in LABELS)
    found = await snapshot.recent(replace(inside, keys=keys), limit=MAX_STARTS * len(LABELS)) if keys else ()
    if not found:
        return []
    ids = [entry.memory_id for entry in found]
    memories = await snapshot.get_many(ids, scopes=inside.scopes)
    nodes = [node_of(memories[memory_id]) for memory_id in ids if memory_id in memories]
    return list({node["node"]: node for node in nodes if node is not None}.values())[:MAX_STARTS]


class _Worth(Enum):
    """Weight of a relation: one that the query names, as the first or the `further` one; one that it names and that was
    followed already (who else works there); one that it does not name, which is hardly more than a name.
    """

    said = 1.0
    further = SAID
    again = 0.3
    unsaid = 0.2


async def _same(inside: Where, snapshot: Snapshot) -> MergedNodes:
    """Return the merged nodes. Usually there are none, and no memory is read."""
    entries = await snapshot.recent(replace(inside, categories=frozenset({SAME})), limit=MAX_SAME)
    memories = await snapshot.get_many([entry.memory_id for entry in entries], scopes=inside.scopes) if entries else {}
    return MergedNodes.from_memories(memories[memory_id] for memory_id in sorted(memories))


@dataclass(slots=True)
class _Walk:
    """Walk for one query; `walks` are those of the scope at the time in question. `spelled`: names that the query may
    contain.
    """

    walks: GraphTraversal
    asked: AskedRelations
    spelled: frozenset[str]
    named: list[ReachedNode] = field(default_factory=list)
    near: dict[str, ReachedNode] = field(default_factory=dict)
    """By the memory of the last relation."""

    async def find_reached(self, starts: Sequence[dict[str, Any]]) -> Sequence[ReachedNode]:
        """Return the entities that the query names, and their neighbours, best first."""
        meant = {self.walks.same.chief(start["node"]): start for start in starts}
        # Side by side: graph servers answer each in a round trip.
        others = await asyncio.gather(*map(self._others, meant))
        self.named = [
            ReachedNode(node=node, names=names, named=True) for node, names in zip(meant, others, strict=True)
        ]
        if self.asked.mine:
            self.named += await self._of_mine()
        for before, one in await self._beyond(self.named, limit=MAX_HUB_RELATIONS):
            self._meet(self._step(before, one, _Worth.said if self._says(one) else _Worth.unsaid))
        for before, one in await self._beyond(self._onward(), limit=MAX_HUB_RELATIONS):
            if self._says(one):
                again = before.relation == one.path[-1].relation
                self._meet(self._step(before, one, _Worth.again if again else _Worth.further))
        best = self._best()
        said = [one for one in best if one.said]
        return [*self.named, *said[:MAX_REACHED], *[one for one in best if not one.said][:MAX_UNSAID]]

    def _onward(self) -> list[ReachedNode]:
        """Start of the search for a second relation: none if the query names none."""
        if not self.asked.said:
            return []
        passed = {_ME, *(one.node for one in self.named)}
        first = [one for one in self._best() if one.node not in passed]
        said = [one for one in first if one.said]
        return (said or first)[:MAX_ONWARD]

    async def _others(self, node: str) -> tuple[str, ...]:
        """Return the other names of the things that are one with `node`."""
        walks = self.walks
        nodes = await walks.graph.nodes(walks.scope, among=walks.same.group(node), limit=MAX_REACHED)
        return self._unspelled_names(name for one in nodes for name in (one.name, *one.aliases))

    async def _of_mine(self) -> list[ReachedNode]:
        """Return the people whom the user calls theirs in the query; none if there are many."""
        around = await self.walks.find_neighbours(_ME, hops=1, limit=MAX_OWN_RELATIONS)
        meant = [one for one in around if one.path[0].relation in self.asked.mine and _leads_to(one)]
        # With more than that ("my colleagues") the relation no longer singles anybody out.
        return [replace(self._step(None, one, _Worth.said), named=True) for one in meant if len(meant) <= MAX_STARTS]

    async def _beyond(self, begin: Sequence[ReachedNode], *, limit: int) -> list[tuple[ReachedNode, Neighbour]]:
        """Return the nodes that are one relation further from each."""
        around = await asyncio.gather(*(self.walks.find_neighbours(one.node, hops=1, limit=limit) for one in begin))
        return [(before, one) for before, found in zip(begin, around, strict=True) for one in found]

    def _meet(self, step: ReachedNode) -> None:
        known = self.near.get(step.way[-1])
        # Not back along the relation it came by, and the better of two ways to the same statement.
        if step.way[-1] not in step.way[:-1] and (known is None or known.score < step.score):
            self.near[step.way[-1]] = step

    def _says(self, one: Neighbour) -> bool:
        return self.asked.says(one.path[-1].relation, common=_NOT_NAMES)

    def _step(self, before: ReachedNode | None, one: Neighbour, worth: _Worth) -> ReachedNode:
        names = () if one.node.node == _ME else self._unspelled_names((one.node.name, *one.node.aliases))
        return ReachedNode(
            node=one.node.node,
            names=names,
            way=(*(before.way if before else ()), *(relation.memory_id for relation in one.path)),
            relation=one.path[-1].relation,
            score=worth.value,
            said=worth in (_Worth.said, _Worth.further),
        )

    def _unspelled_names(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in dict.fromkeys(names) if slug(name, THING) not in self.spelled)

    def _best(self) -> list[ReachedNode]:
        return sorted(self.near.values(), key=lambda one: (one.score, one.way[-1]), reverse=True)


def _leads_to(one: Neighbour) -> bool:
    """Return True if the relation describes the other person from the user's side, not the reverse."""
    return one.path[0].target == one.node.node
