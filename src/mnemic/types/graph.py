"""Graph of named things: the nodes of one scope, their relations, and the contribution of each memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.types.enums import Kind, Status
from mnemic.types.json_forms import Serialisable
from mnemic.types.memory import Memory, holds_graph
from mnemic.types.values import aware

MAX_NODE_CHARS = 320
MAX_NAME_CHARS = 256
MAX_ALIASES = 32
MAX_HOPS = 6
MAX_NODES = 500
MAX_FRAGMENT = 256
"""Nodes, and relations, that one memory may add: a turn names a handful of things, a payload does not decide more."""

_WORD = re.compile(r"[a-z][a-z0-9_]{0,63}", re.ASCII)


def _checked_word(value: object, name: str) -> None:
    if not isinstance(value, str) or not _WORD.fullmatch(value):
        raise InvalidInput(name, hint="a word of a-z, 0-9 and _, at most 64 of them, beginning with a letter")


def _checked_text(value: object, name: str, limit: int) -> None:
    plain = isinstance(value, str) and "\0" not in value and not any("\ud800" <= c <= "\udfff" for c in value)
    if not plain or not value or len(value) > limit:  # type: ignore[arg-type]
        raise InvalidInput(name, hint=f"1 to {limit} characters, none of them NUL or half a surrogate pair")


def check_node(node: object) -> None:
    """Raise InvalidInput (`invalid_input:node`) for an invalid node name."""
    _checked_text(node, "node", MAX_NODE_CHARS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(Serialisable):
    """A named thing. `node` is its identity within its scope, `label` its type (`person`), `aliases` its other names.

    `first_seen_at` and `last_seen_at` bound the memories that mention it; a store fills them in, and returns the most
    recent name, label and aliases. Raises InvalidInput (`invalid_input:node`, `:name`, `:label`, `:aliases`).
    """

    node: str = field(repr=False)
    name: str = field(repr=False)
    label: str = "thing"
    aliases: tuple[str, ...] = field(default=(), repr=False)
    first_seen_at: datetime | None = None
    last_seen_at: datetime | None = None

    def __post_init__(self) -> None:
        check_node(self.node)
        _checked_text(self.name, "name", MAX_NAME_CHARS)
        _checked_word(self.label, "label")
        if len(self.aliases) > MAX_ALIASES:
            raise InvalidInput("aliases", hint=f"at most {MAX_ALIASES}")
        for alias in self.aliases:
            _checked_text(alias, "aliases", MAX_NAME_CHARS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation(Serialisable):
    """Relation from `source` to `target` (both `Node.node`), stated by `memory_id`.

    It is valid from `valid_from` (inclusive; None: always before) to `valid_to` (exclusive; None: still). Raises
    InvalidInput (`invalid_input:node`, `:relation`, `:valid_to`).
    """

    source: str = field(repr=False)
    relation: str
    target: str = field(repr=False)
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    memory_id: str = ""

    def __post_init__(self) -> None:
        check_node(self.source)
        check_node(self.target)
        _checked_word(self.relation, "relation")
        for name in ("valid_from", "valid_to"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, aware(getattr(self, name), name))

    def holds_at(self, moment: datetime) -> bool:
        """Return True if it was true at `moment`."""
        return (self.valid_from is None or self.valid_from <= moment) and (
            self.valid_to is None or self.valid_to > moment
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment(Serialisable):
    """Part of the graph contributed by one memory. Both ends of every relation are among its nodes, each node once.

    Raises InvalidInput (`invalid_input:fragment`).
    """

    memory_id: str
    seen_at: datetime
    nodes: tuple[Node, ...]
    relations: tuple[Relation, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "seen_at", aware(self.seen_at, "seen_at"))
        named = [node.node for node in self.nodes]
        ends = {end for relation in self.relations for end in (relation.source, relation.target)}
        if len(set(named)) != len(named) or not ends <= set(named):
            raise InvalidInput("fragment", hint="every end of a relation is one of the nodes, each named once")
        if not named or max(len(named), len(self.relations)) > MAX_FRAGMENT:
            raise InvalidInput("fragment", hint=f"1 to {MAX_FRAGMENT} nodes and at most as many relations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour(Serialisable):
    """A node and the shortest path to it: consecutive relations, in either direction."""

    node: Node
    path: tuple[Relation, ...]

    @property
    def hops(self) -> int:
        """Number of relations between the start and this node."""
        return len(self.path)


_OF_EPISODE = "@episode:"
"""Prefix of the identities of an episode's parts, which no name given by a user has: it begins with its label."""
_HOW = {True: "worked", False: "failed", None: "done"}
HAS_STEP, NEXT_STEP, ENDED_IN = "has_step", "next_step", "ended_in"


def episode_node(memory_id: str, part: str) -> str:
    """Return the identity of a part of an episode: `task`, `outcome`, or `step:<n>` from 0."""
    return f"{_OF_EPISODE}{memory_id}:{part}"


def is_of_episode(node: Node) -> bool:
    """Return True if the node is a part of an episode, and not a thing that a user has named."""
    return node.node.startswith(_OF_EPISODE)


def fragment_of(memory: Memory) -> Fragment | None:
    """Return the part of the graph that a memory contributes. A memory of kind `entity`: the `nodes` and `relations` of
    its data. An active episode: its task, its steps (each related to the next) and its outcome, but not its words,
    which are read from the possibly sealed memory. None for every other memory.

    An active memory contributes all of them, for the time in which it is true. A superseded one contributes its
    relations as history: they end when it does. Invalid data raises nothing: it contributes nothing.
    """
    if not holds_graph(memory) or memory.status not in (Status.ACTIVE, Status.SUPERSEDED):
        return None
    try:
        if memory.kind is Kind.EPISODIC:
            return _episode(memory) if memory.status is Status.ACTIVE else None
        nodes = tuple(Node(**{**one, "aliases": tuple(one.get("aliases", ()))}) for one in _list_field(memory, "nodes"))
        began = memory.valid_from or memory.happened_at
        relations = tuple(
            Relation(**one, valid_from=began, valid_to=memory.valid_to, memory_id=memory.memory_id)
            for one in _list_field(memory, "relations")
        )
        if memory.status is Status.SUPERSEDED and not relations:
            return None
        return Fragment(memory_id=memory.memory_id, seen_at=memory.updated_at, nodes=nodes, relations=relations)
    except (InvalidInput, TypeError, AttributeError, KeyError):
        return None


def _episode(memory: Memory) -> Fragment:
    began, steps = memory.happened_at, _list_field(memory, "steps")
    parts = ["task", *(f"step:{number}" for number in range(len(steps))), "outcome"]
    task, *walked, outcome = (episode_node(memory.memory_id, part) for part in parts)
    nodes = (
        Node(node=task, name="task", label="task"),
        *(
            Node(node=node, name=f"step {number}: {_HOW.get(step.get('ok'), 'done')}", label="step")
            for number, (node, step) in enumerate(zip(walked, steps, strict=True), start=1)
        ),
        Node(node=outcome, name=str(memory.data["outcome"]), label="outcome"),
    )
    items = [(task, HAS_STEP, step) for step in walked]
    items += [(one, NEXT_STEP, following) for one, following in pairwise(walked)]
    relations = tuple(
        Relation(source=source, relation=relation, target=target, valid_from=began, memory_id=memory.memory_id)
        for source, relation, target in [*items, (task, ENDED_IN, outcome)]
    )
    return Fragment(memory_id=memory.memory_id, seen_at=memory.updated_at, nodes=nodes, relations=relations)


def _list_field(memory: Memory, name: str) -> list[dict[str, Any]]:
    stored = memory.data.get(name, ())
    return [dict(one) for one in stored] if isinstance(stored, Sequence) else []  # type: ignore[arg-type]


def newest_first(nodes: Iterable[Node]) -> list[Node]:
    """Return the nodes, last seen first, equals by identity: the order in which every store lists them."""
    ordered = sorted(nodes, key=lambda one: one.node)
    return sorted(ordered, key=lambda one: one.last_seen_at.timestamp() if one.last_seen_at else 0.0, reverse=True)
