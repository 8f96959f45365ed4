"""Paths through a graph: the distance of each node, and the relations that lead there. The same for every store."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from mnemic.errors import InvalidInput
from mnemic.types import Relation
from mnemic.types.graph import MAX_ALIASES, MAX_HOPS, MAX_NODES, check_node


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
