"""Names and contents of entity memories: names that count, keys, nodes, their origins, and entities that the user has
declared to be the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.extract.entities import ME, NamedEntity, StatedRelation
from mnemic.language.entities.relations import LABELS, SAME_AS, THING, USER, rule_of
from mnemic.language.text.names import core, slug
from mnemic.types import Actor, Candidate, Kind, Memory, Message, Node, Relation, Source
from mnemic.types.graph import MAX_ALIASES

MAX_NAME_CHARS = 80
MAX_VALUE_CHARS = 120
SAME = "same"
"""Category of the memories that identify two nodes."""

_MAX_KEY_CHARS = 128
_ADDRESS = frozenset("@\n\t/\\")
_MAX_DIGITS = 4

ME_NODE: dict[str, Any] = {"node": f"{USER}:me", "name": "the user", "label": USER}


@dataclass(frozen=True, slots=True)
class StatementOrigin:
    """Origin of a written statement."""

    actor: Actor
    message: Message | None = None

    @property
    def sent_at(self) -> datetime | None:
        """Time of the statement, if known."""
        return None if self.message is None else self.message.sent_at

    def source(self, span: tuple[int, int] | None) -> Source:
        """Return the source of a memory made from the text at `span`."""
        if self.message is None:
            return Source(session=self.actor.session)
        quote = self.message.content[span[0] : span[1]] if span is not None else None
        return Source(
            origin=self.message.origin,
            ref=self.message.message_id,
            session=self.message.session or self.actor.session,
            quote=quote,
            span=span if quote else None,
        )


def chosen(named: NamedEntity, known: Mapping[tuple[str, str], dict[str, Any]]) -> dict[str, Any]:
    """Resolve `named`: an entity known by one of the names, else a new one. `known` is by name and label."""
    spellings = (named.name, *named.aliases)
    same = [known[name, named.label] for name in spellings if (name, named.label) in known]
    loose = [known[name, label] for name in spellings for label in sorted(LABELS) if (name, label) in known]
    distinct = {node["node"]: node for node in loose}
    if same:
        return same[0]
    if named.label == THING and len(distinct) == 1:
        return loose[0]
    if (named.name, THING) in known:
        return {**known[named.name, THING], "label": named.label}
    return {"node": f"{named.label}:{slug(named.name, named.label)}", "name": named.name, "label": named.label}


def node_of(memory: Memory) -> dict[str, Any] | None:
    """Return the first node of an entity memory: identity, name and label."""
    nodes: Any = memory.data.get("nodes") or ()
    return {name: nodes[0][name] for name in ("node", "name", "label")} if nodes else None


def ends_of(relation: StatedRelation) -> list[NamedEntity]:
    """Both ends of a relation, with the labels that its rule gives them."""
    rule = rule_of(relation.relation)
    return [NamedEntity(name=relation.source, label=rule.source), NamedEntity(name=relation.target, label=rule.target)]


def me_or(name: str) -> str:
    """Return `ME` for a caller's name of the user, else the name."""
    return ME if isinstance(name, str) and name.strip().casefold() in ("me", "the user") else name


def is_name(name: str) -> bool:
    """Return True if it can be a name: no address, no number, not too long."""
    return (
        isinstance(name, str)
        and 0 < len(name.strip()) <= MAX_NAME_CHARS
        and not _ADDRESS & set(name)
        and sum(c.isdigit() for c in name) <= _MAX_DIGITS
        and bool(core(name, THING))
    )


def check_name(named: NamedEntity) -> None:
    """Raise InvalidInput (`invalid_input:label`, `:name`)."""
    if named.label not in LABELS and named.name != ME:
        raise InvalidInput("label", hint=f"one of {', '.join(sorted(LABELS))}")
    for name in (named.name, *named.aliases):
        if name != ME and not is_name(name):
            raise InvalidInput("name", hint=f"a name of at most {MAX_NAME_CHARS} characters; no address, no number")


def name_key(label: str, name: str) -> str:
    """Return the key of the memory of a name for something of this label."""
    return key_of(f"{label}:{slug(name, label)}")


def key_of(*parts: str) -> str:
    """`entity:` and the parts. Nodes are short enough for two of them and a relation of usual length."""
    key = ":".join(("entity", *parts))
    return key if len(key) <= _MAX_KEY_CHARS else f"{key[: _MAX_KEY_CHARS - 10]}{slug(key, THING)[-9:]}"


def value_of(sentence: str, name: str) -> str:
    """Return the sentence, or the name alone if it would be too long."""
    return sentence if len(sentence) <= MAX_VALUE_CHARS else name


def relating(
    key: str, stated: StatedRelation, source: dict[str, Any], target: dict[str, Any], origin: StatementOrigin
) -> Candidate:
    """Return the candidate that states a relation between two nodes, or its end. Raises InvalidInput
    (`invalid_input:relation`).
    """
    relation = Relation(source=source["node"], relation=stated.relation, target=target["node"])
    sentence = rule_of(relation.relation).sentence(source["name"], target["name"])
    active = {"source": relation.source, "relation": relation.relation, "target": relation.target}
    return Candidate(
        content=value_of(f"No longer: {sentence}" if stated.ended else sentence, target["name"]),
        key=key,
        kind=Kind.ENTITY,
        category=SAME if relation.relation == SAME_AS else "relation",
        data={
            "nodes": [source] if source == target else [source, target],
            "relations": [] if stated.ended else [active],
        },
        source=origin.source(stated.span),
        valid_from=stated.since,
        occurred_at=None if stated.since else origin.sent_at,
    )


@dataclass(frozen=True, slots=True)
class MergedNodes:
    """Merged nodes, by the memories of `same_as`: `chiefs` leads from each to its representative. Nothing in the graph
    is rewritten, so removing one memory separates the nodes again.
    """

    chiefs: Mapping[str, str] = field(default_factory=dict, repr=False)
    nodes: Mapping[str, dict[str, Any]] = field(default_factory=dict, repr=False)

    @classmethod
    def from_memories(cls, memories: Iterable[Memory]) -> MergedNodes:
        """Read these memories, in their order: each makes the target's representative that of the source."""
        chiefs: dict[str, str] = {}
        nodes: dict[str, dict[str, Any]] = {}
        for memory in memories:
            data: Any = memory.data
            for relation in data.get("relations", ()):
                source, target = (_root(chiefs, relation[end]) for end in ("source", "target"))
                nodes |= {node["node"]: dict(node) for node in data["nodes"]}
                # Declared twice: a chief of itself would make `_root` loop forever.
                if source != target:
                    chiefs[source] = target
        # Chains are resolved once here, so that each lookup is a single step.
        return cls({node: _root(chiefs, node) for node in nodes}, nodes)

    @property
    def fewer(self) -> int:
        """Number of nodes less after identical ones are merged."""
        return max(0, len(self.chiefs) - len(set(self.chiefs.values())))

    def chief(self, node: str) -> str:
        """Return the representative of `node`."""
        return self.chiefs.get(node, node)

    def representative(self, node: Mapping[str, Any]) -> dict[str, Any]:
        """Return the node, or its representative."""
        chief = self.chief(node["node"])
        return dict(node) if chief == node["node"] else dict(self.nodes[chief])

    def group(self, node: str) -> list[str]:
        """Every node that is one with `node`, itself among them."""
        chief = self.chief(node)
        return sorted({node, *(one for one, other in self.chiefs.items() if other == chief)})

    def way(self, path: Sequence[Relation]) -> tuple[Relation, ...]:
        """Return a way without the steps between nodes that are one."""
        return tuple(
            replace(step, source=self.chief(step.source), target=self.chief(step.target))
            for step in path
            if self.chief(step.source) != self.chief(step.target)
        )

    def join_nodes(self, found: Sequence[Node]) -> list[Node]:
        """Return nodes in their order, merged ones as one: under the representative's name, with all
        others as aliases.
        """
        groups: dict[str, list[Node]] = {}
        for node in found:
            groups.setdefault(self.chief(node.node), []).append(node)
        return [_one_of(chief, nodes, self.nodes) for chief, nodes in groups.items()]


def _root(chiefs: Mapping[str, str], node: str) -> str:
    while node in chiefs:
        node = chiefs[node]
    return node


def _one_of(chief: str, nodes: Sequence[Node], known: Mapping[str, dict[str, Any]]) -> Node:
    shown = next((node for node in nodes if node.node == chief), None)
    if len(nodes) == 1 and shown is not None:
        return shown
    name, label = (shown.name, shown.label) if shown else (known[chief]["name"], known[chief]["label"])
    others = {spoken for node in nodes for spoken in (node.name, *node.aliases)} - {name}
    first = [node.first_seen_at for node in nodes if node.first_seen_at is not None]
    last = [node.last_seen_at for node in nodes if node.last_seen_at is not None]
    return Node(
        node=chief,
        name=name,
        label=label,
        aliases=tuple(sorted(others)[:MAX_ALIASES]),
        first_seen_at=min(first, default=None),
        last_seen_at=max(last, default=None),
    )
