"""Graph in plain dictionaries: it ends with the process, and is the model that the contract suites compare with."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from mnemic.errors import InvalidInput, StoreUnavailable
from mnemic.types import Fragment, Neighbour, Node, Relation, Scope
from mnemic.types.graph import MAX_ALIASES, MAX_HOPS, MAX_NODES, check_node, is_of_episode, newest_first


def check_walk(hops: object, *nodes: object) -> None:
    """Raise InvalidInput (`invalid_input:hops`) unless it is 1 to 6, or (`:node`) for a name that no node can have."""
    _check(hops, "hops", MAX_HOPS)
    for node in nodes:
        check_node(node)


def check_limit(limit: object) -> None:
    """Raise InvalidInput (`invalid_input:limit`) unless it is 1 to 500."""
    _check(limit, "limit", MAX_NODES)


def _check(number: object, name: str, most: int) -> None:
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise InvalidInput(name, hint=f"1 to {most}")


def distances(start: str, touching: Callable[[str], Iterable[Relation]], *, hops: int) -> dict[str, int]:
    """Return the distance from `start` of each node within `hops` relations; `touching` gives a node's relations."""
    found = {start: 0}
    edge = [start]
    for distance in range(1, hops + 1):
        beyond = {end for node in edge for relation in touching(node) for end in (relation.source, relation.target)}
        edge = [node for node in beyond if node not in found]
        found |= dict.fromkeys(edge, distance)
    return found


def ways(
    distance: Mapping[str, int], relations: Iterable[Relation], wanted: Collection[str]
) -> dict[str, tuple[Relation, ...]]:
    """Return the path to each of `wanted` from the node at distance 0, by relations between nodes one step apart.

    Of several paths the relation of the newest memory is taken: memory_ids sort by creation.
    """
    steps: dict[str, tuple[Relation, str]] = {}
    for relation in sorted(relations, key=_age, reverse=True):
        for node, before in ((relation.target, relation.source), (relation.source, relation.target)):
            if node in distance and before in distance and distance[node] == distance[before] + 1:
                steps.setdefault(node, (relation, before))
    return {node: _way(node, steps) for node in wanted}


def halves(hops: int) -> tuple[int, int]:
    """Return how far to go from either end, so that every way of at most `hops` relations is met in the middle."""
    return (hops + 1) // 2, hops // 2


def shortest_join(
    there: Mapping[str, int], back: Mapping[str, int], relations: Collection[Relation]
) -> tuple[Relation, ...] | None:
    """Return a shortest way between the nodes at distance 0 of `there` and of `back`, or None if the two never meet."""
    meeting = [node for node in there if node in back]
    if not meeting:
        return None
    middle = min(meeting, key=lambda node: (there[node] + back[node], there[node], node))
    first, second = ways(there, relations, [middle])[middle], ways(back, relations, [middle])[middle]
    return (*first, *reversed(second))


def _way(node: str, steps: Mapping[str, tuple[Relation, str]]) -> tuple[Relation, ...]:
    way: list[Relation] = []
    while node in steps:
        relation, node = steps[node]
        way.append(relation)
    return tuple(reversed(way))


def _age(relation: Relation) -> tuple[str, str, str, str]:
    return relation.memory_id, relation.relation, relation.source, relation.target


def other_names(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """Every other name, each once, in order; as many as a node may have."""
    return tuple(sorted({one for one in names if one != name})[:MAX_ALIASES])


@dataclass(slots=True)
class _Graph:
    """Graph of one scope: fragments by memory, and the memories that mention each node."""

    fragments: dict[str, Fragment] = field(default_factory=dict)
    speaking: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def put(self, fragment: Fragment) -> None:
        self.drop(fragment.memory_id)
        self.fragments[fragment.memory_id] = fragment
        for node in fragment.nodes:
            self.speaking[node.node].add(fragment.memory_id)

    def drop(self, memory_id: str) -> None:
        fragment = self.fragments.pop(memory_id, None)
        for node in fragment.nodes if fragment is not None else ():
            speaking = self.speaking[node.node]
            speaking.discard(memory_id)
            if not speaking:
                del self.speaking[node.node]

    def node(self, name: str) -> Node:
        said = [
            (fragment.seen_at, fragment.memory_id, node)
            for fragment in (self.fragments[memory_id] for memory_id in self.speaking[name])
            for node in fragment.nodes
            if node.node == name
        ]
        last = max(said, key=lambda one: one[:2])
        names = [spoken for _, _, node in said for spoken in (node.name, *node.aliases)]
        return replace(
            last[2],
            aliases=other_names(last[2].name, names),
            first_seen_at=min(one[0] for one in said),
            last_seen_at=last[0],
        )

    def touching(self, node: str, at: datetime | None) -> Iterable[Relation]:
        for memory_id in self.speaking.get(node, ()):
            for relation in self.fragments[memory_id].relations:
                if node in (relation.source, relation.target) and (at is None or relation.holds_at(at)):
                    yield replace(relation, memory_id=memory_id)


class InProcessGraph:
    """A `GraphStore` in dictionaries."""

    def __init__(self) -> None:
        self._graphs: dict[Scope, _Graph] = {}
        self._lock = threading.Lock()
        self._open = False

    async def open(self) -> None:
        self._open = True

    async def close(self) -> None:
        self._open = False

    async def link(self, scope: Scope, fragments: Sequence[Fragment]) -> None:
        with self._lock:
            graph = self._ready.setdefault(scope, _Graph())
            for fragment in fragments:
                graph.put(fragment)

    async def forget(self, scope: Scope, memory_ids: Collection[str]) -> None:
        with self._lock:
            graph = self._ready.get(scope, _Graph())
            for memory_id in memory_ids:
                graph.drop(memory_id)

    async def clear(self, tenant: str) -> None:
        with self._lock:
            for scope in [scope for scope in self._ready if scope.tenant == tenant]:
                del self._graphs[scope]

    async def nodes(
        self, scope: Scope, *, label: str | None = None, among: Collection[str] | None = None, limit: int = 50
    ) -> list[Node]:
        check_limit(limit)
        with self._lock:
            graph = self._ready.get(scope, _Graph())
            found = [graph.node(name) for name in graph.speaking if among is None or name in among]
        if among is None and label is None:
            found = [node for node in found if not is_of_episode(node)]
        return newest_first(node for node in found if label is None or node.label == label)[:limit]

    async def neighbours(
        self, scope: Scope, node: str, *, hops: int = 1, at: datetime | None = None, limit: int = 50
    ) -> list[Neighbour]:
        check_walk(hops, node)
        check_limit(limit)
        with self._lock:
            graph = self._ready.get(scope, _Graph())
            distance = distances(node, lambda name: graph.touching(name, at), hops=hops)
            found = newest_first(graph.node(name) for name in distance if name != node)
            nearest = sorted(found, key=lambda one: distance[one.node])[:limit]
            relations = [relation for name in distance for relation in graph.touching(name, at)]
        way = ways(distance, relations, [one.node for one in nearest])
        return [Neighbour(node=one, path=way[one.node]) for one in nearest]

    async def path(
        self, scope: Scope, source: str, target: str, *, hops: int = 4, at: datetime | None = None
    ) -> tuple[Relation, ...] | None:
        check_walk(hops, source, target)
        with self._lock:
            graph = self._ready.get(scope, _Graph())
            distance = distances(source, lambda name: graph.touching(name, at), hops=hops)
            relations = [relation for name in distance for relation in graph.touching(name, at)]
        if target not in distance or source not in graph.speaking:
            return None
        return ways(distance, relations, [target])[target]

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        with self._lock:
            graphs = [graph for scope, graph in self._ready.items() if scope.tenant == tenant]
            fragments = [graph.fragments[one] for graph in graphs for one in memory_ids if one in graph.fragments]
        return sum(len(fragment.nodes) + len(fragment.relations) for fragment in fragments)

    @property
    def _ready(self) -> dict[Scope, _Graph]:
        if not self._open:
            raise StoreUnavailable("closed")
        return self._graphs
