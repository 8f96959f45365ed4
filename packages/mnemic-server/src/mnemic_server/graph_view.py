"""Graph of people and things that is read from memories when it is viewed; nothing is stored.

The write path extracts entities from ordinary texts only if policy asks for it. This module reads the newest memories
of one user by the same rules at the moment of viewing, so that every user has a graph and no write pays for it. Only
relations and their two ends are shown: their kinds follow from the relation, whereas the kind of a bare name is a
guess.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.extract.entities import ME, ROLE, EntityReader, StatedRelation
from mnemic.graph.entity_names import ME_NODE, is_name, me_or
from mnemic.kinds.entity_readers.rules import MarkedText, RuleEntityReader, mark_names
from mnemic.language.entities.relations import SAME_AS, THING, rule_of
from mnemic.language.text.names import core, slug
from mnemic.types import Deadline, Kind, Memory, Message, Neighbour, Node, Relation, to_json
from mnemic.types.search import MESSAGE_CATEGORY

MAX_READ = 500
"""Maximum number of memories read for one view, newest first: about a fifth of a millisecond each."""

_READING_TIME = timedelta(seconds=25)
_KINDS = (Kind.LONG_TERM, Kind.EPISODIC)
_RELATION_OF_KEY = {"home_city": "lives_in", "employer": "works_at"}
"""Relation of the user that a value of this key states."""


def readable(memory: Memory) -> bool:
    """Return True for ordinary memories of the user, which the rules can read."""
    return memory.kind in _KINDS and memory.scope.level == "user"


async def relations_of(memories: Sequence[Memory]) -> list[tuple[Memory, StatedRelation]]:
    """Return the relations that the memories state, in their order, those of "my sister" after those of names.

    Gives way to other requests after each memory.
    """
    reader, deadline = RuleEntityReader(), Deadline.after(_READING_TIME, time.monotonic)
    found: list[tuple[Memory, StatedRelation]] = []
    for memory in memories:
        found += [(memory, one) for one in await _stated_relations(memory, reader, deadline)]
        await asyncio.sleep(0)
    return sorted(found, key=lambda one: ROLE in one[1].source or ROLE in one[1].target)


async def _stated_relations(memory: Memory, reader: EntityReader, deadline: Deadline) -> list[StatedRelation]:
    relation = None if memory.key is None else _RELATION_OF_KEY.get(memory.key)
    if memory.key is not None and relation is None:
        return []
    if relation is not None and _is_one_name(memory.content):
        return [StatedRelation(source=ME, relation=relation, target=memory.content)]
    recorded = memory.category == MESSAGE_CATEGORY
    said = Message(
        role=(memory.source.speaker or "user") if recorded else "user",
        content=memory.content,
        origin=memory.source.origin,
    )
    try:
        reading = await reader.read(said, deadline=deadline)
    except InvalidInput:
        return []
    return [
        one for one in reading.relations if one.relation != SAME_AS and all(map(_is_shown, (one.source, one.target)))
    ]


def _is_one_name(value: str) -> bool:
    """Return True if the value of a key is a name as a whole, and no sentence."""
    return mark_names(value, MarkedText("")).strip() == "⟦1⟧"


def _is_shown(end: str) -> bool:
    return end == ME or end.startswith(ROLE) or is_name(end)


@dataclass(slots=True)
class ViewedGraph:
    """Nodes by their names, and relations: those of the stored graph first, then those read from memories."""

    nodes: dict[str, Node] = field(default_factory=dict)
    relations: list[Relation] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nodes[ME] = Node(**ME_NODE)

    def add_stored(self, neighbours: Iterable[Neighbour]) -> None:
        """Add the nodes and relations on the paths to these neighbours."""
        for one in neighbours:
            if one.node.node != ME_NODE["node"]:
                self.nodes.setdefault(core(one.node.name, one.node.label), one.node)
            self.relations += [step for step in one.path if step not in self.relations]

    def add_read(self, stated: Sequence[tuple[Memory, StatedRelation]]) -> None:
        """Add relations read from memories, newest first. An ended relation, or one with a single value, hides the
        older ones.
        """
        hidden: set[tuple[str, ...]] = {(one.source, one.relation) for one in self.relations if _single(one.relation)}
        hidden |= {(one.source, one.relation, one.target) for one in self.relations}
        for memory, one in stated:
            source, target = self._end(one.source, one, memory), self._end(one.target, one, memory)
            if source is None or target is None or source == target:
                continue
            alone = (source.node, one.relation) if _single(one.relation) else (source.node, one.relation, target.node)
            whole = (source.node, one.relation, target.node)
            if alone in hidden or whole in hidden:
                continue
            hidden |= {whole} if one.ended else {alone, whole}
            if not one.ended:
                self._relate(source, target, one, memory)

    def _relate(self, source: Node, target: Node, stated: StatedRelation, memory: Memory) -> None:
        for node in (source, target):
            if node.node != ME_NODE["node"]:
                self.nodes.setdefault(core(node.name, node.label), node)
        began = stated.since or memory.valid_from or memory.happened_at
        relation = Relation(
            source=source.node,
            relation=stated.relation,
            target=target.node,
            valid_from=began,
            memory_id=memory.memory_id,
        )
        self.relations.append(relation)

    def _end(self, name: str, stated: StatedRelation, memory: Memory) -> Node | None:
        """Return the node of one end of a relation; None for "my sister" unless exactly one sister is known."""
        if name == ME:
            return self.nodes[ME]
        if name.startswith(ROLE):
            relation = name.removeprefix(ROLE)
            targets = {
                one.target for one in self.relations if (one.source, one.relation) == (ME_NODE["node"], relation)
            }
            return (
                next((node for node in self.nodes.values() if node.node in targets), None)
                if len(targets) == 1
                else None
            )
        rule = rule_of(stated.relation)
        label = rule.source if name == stated.source else rule.target
        known = self.nodes.get(core(name, label)) or self.nodes.get(core(name, THING))
        if known is not None:
            return known
        node = Node(node=f"{label}:{slug(name, label)}", name=name, label=label)
        return replace(node, first_seen_at=memory.happened_at, last_seen_at=memory.updated_at)

    def find_neighbours(self, name: str, *, hops: int, limit: int) -> list[Neighbour]:
        """Return at most `limit` nodes within `hops` relations of the name, nearest first, each with its path."""
        start = self._find_named(name)
        if start is None:
            return []
        by_node = {node.node: node for node in self.nodes.values()}
        ways: dict[str, tuple[Relation, ...]] = {start.node: ()}
        waiting = deque([start.node])
        while waiting:
            here = waiting.popleft()
            for step, there in self._steps(here):
                if there not in ways and len(ways[here]) < hops and there in by_node:
                    ways[there] = (*ways[here], step)
                    waiting.append(there)
        return [Neighbour(node=by_node[node], path=way) for node, way in ways.items() if way][:limit]

    def _steps(self, node: str) -> Iterator[tuple[Relation, str]]:
        for one in self.relations:
            if node in (one.source, one.target):
                yield one, one.target if one.source == node else one.source

    def _find_named(self, name: str) -> Node | None:
        if me_or(name) == ME:
            return self.nodes[ME]
        return next(
            (node for node in self.nodes.values() if core(node.name, node.label) == core(name, node.label)), None
        )

    def others(self, limit: int) -> list[Node]:
        """Return the named things, without the user."""
        return [node for key, node in self.nodes.items() if key != ME][:limit]

    def answer(self, name: str, *, hops: int, limit: int) -> dict[str, Any]:
        """Return the neighbours of the name and all names, as values of JSON."""
        from mnemic_server.kind_request_bodies import neighbour_dict

        return {
            "neighbours": [neighbour_dict(one) for one in self.find_neighbours(name, hops=hops, limit=limit)],
            "entities": [to_json(one) for one in self.others(MAX_READ)],
        }


def _single(relation: str) -> bool:
    return rule_of(relation).single
