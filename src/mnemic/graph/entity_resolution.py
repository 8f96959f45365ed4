"""Resolution of entities that the user has declared to be the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mnemic.types import Memory, Node, Relation
from mnemic.types.graph import MAX_ALIASES


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
