"""Graph in the same database as its memories.

The store writes it in the transaction that writes the memory (`relate`), and a trigger removes a memory's graph
together with the memory: the two cannot disagree, and nothing waits in the outbox.

For memories in another store it is a projection. `link` does not sync to the disk then: the outbox forgets the entry
later, so that after a power cut it is delivered again.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from mnemic.errors import StoreUnavailable
from mnemic.stores.codec import dump, from_micros, load, to_micros
from mnemic.stores.graph import check_limit, check_walk, halves, other_names, shortest_join, ways
from mnemic.stores.relational.statements import Ask
from mnemic.types import Fragment, Memory, Neighbour, Node, Relation, Scope
from mnemic.types.graph import fragment_of
from mnemic.types.memory import holds_graph

T = TypeVar("T")
Opened = TypeVar("Opened")


class RelationalGraph(ABC, Generic[Opened]):
    """A `GraphStore` with the statements of `sql/graph.sql`. The first call opens it."""

    def __init__(self) -> None:
        self._opened: Opened | None = None
        self._open = False
        self._opening = asyncio.Lock()

    @abstractmethod
    async def _open_database(self) -> Opened:
        """Connect, and create the schema if it is missing."""

    @abstractmethod
    async def _close_database(self, opened: Opened) -> None:
        """Release everything."""

    @abstractmethod
    async def _read(self, tenant: str, work: Callable[[Ask], Awaitable[T]]) -> T:
        """Run `work` on the rows of the tenant as of one moment."""

    @abstractmethod
    async def _write(self, tenant: str, work: Callable[[Ask], Awaitable[None]]) -> None:
        """Run `work` in one transaction of the tenant."""

    async def open(self) -> None:
        self._open = True

    async def close(self) -> None:
        self._open = False
        opened, self._opened = self._opened, None
        if opened is not None:
            await self._close_database(opened)

    async def _ready(self) -> Opened:
        async with self._opening:
            if not self._open:
                raise StoreUnavailable("closed")
            if self._opened is None:
                self._opened = await self._open_database()
            return self._opened

    async def link(self, scope: Scope, fragments: Sequence[Fragment]) -> None:
        last = {fragment.memory_id: fragment for fragment in fragments}

        async def write(ask: Ask) -> None:
            await _forget(ask, scope, last)
            await _put(ask, scope, last.values())

        if last:
            await self._write(scope.tenant, write)

    async def forget(self, scope: Scope, memory_ids: Collection[str]) -> None:
        await self._write(scope.tenant, lambda ask: _forget(ask, scope, memory_ids))

    async def clear(self, tenant: str) -> None:
        async def write(ask: Ask) -> None:
            await ask("clear_relations", tenant)
            await ask("clear_nodes", tenant)

        await self._write(tenant, write)

    async def nodes(
        self, scope: Scope, *, label: str | None = None, among: Collection[str] | None = None, limit: int = 50
    ) -> list[Node]:
        check_limit(limit)
        chosen = None if among is None else sorted(among)

        async def read(ask: Ask) -> list[Node]:
            return [_node(row) for row in await ask("nodes", *_place(scope), chosen, label, limit)]

        return await self._read(scope.tenant, read)

    async def neighbours(
        self, scope: Scope, node: str, *, hops: int = 1, at: datetime | None = None, limit: int = 50
    ) -> list[Neighbour]:
        check_walk(hops, node)
        check_limit(limit)
        where = (*_place(scope), to_micros(at))

        async def read(ask: Ask) -> list[Neighbour]:
            rows = await ask("neighbours", *where, node, hops, limit)
            distance = {node: 0} | {name: steps for name, *_, steps in rows}
            way = ways(distance, await _between(ask, where, distance), list(distance))
            return [Neighbour(node=_node(described), path=way[described[0]]) for *described, _ in rows]

        return await self._read(scope.tenant, read)

    async def path(
        self, scope: Scope, source: str, target: str, *, hops: int = 4, at: datetime | None = None
    ) -> tuple[Relation, ...] | None:
        check_walk(hops, source, target)
        # From both ends at once: two walks of half the length meet far fewer nodes than one of the whole length.
        half, rest = halves(hops)
        where = (*_place(scope), to_micros(at))

        async def read(ask: Ask) -> tuple[Relation, ...] | None:
            rows = await ask("from_both_ends", *where, source, half, target, rest)
            there, back = ({node: distance for side, node, distance in rows if side == end} for end in (0, 1))
            if there.keys().isdisjoint(back):
                return None
            return shortest_join(there, back, await _between(ask, where, there.keys() | back.keys()))

        return await self._read(scope.tenant, read)

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        async def read(ask: Ask) -> int:
            ((count,),) = await ask("traces", tenant, sorted(memory_ids))
            return int(count)

        return await self._read(tenant, read)


async def relate(ask: Ask, memory: Memory, *, known: bool) -> None:
    """Replace the graph of `memory` by its current content, in the transaction that writes the memory; `known` tells
    that an earlier version may have a graph.
    """
    if not holds_graph(memory):
        return
    fragment = fragment_of(memory)
    if known:
        await _forget(ask, memory.scope, [memory.memory_id])
    if fragment is not None:
        await _put(ask, memory.scope, [fragment])


async def _forget(ask: Ask, scope: Scope, memory_ids: Collection[str]) -> None:
    for statement in ("forget_relations", "forget_nodes"):
        await ask(statement, *_place(scope), sorted(memory_ids))


async def _put(ask: Ask, scope: Scope, fragments: Iterable[Fragment]) -> None:
    nodes = [
        {
            "node": node.node,
            "memory_id": fragment.memory_id,
            "label": node.label,
            "names": [node.name, *node.aliases],
            "seen_at": to_micros(fragment.seen_at),
        }
        for fragment in fragments
        for node in fragment.nodes
    ]
    relations = [
        {
            "source": one.source,
            "relation": one.relation,
            "target": one.target,
            "memory_id": fragment.memory_id,
            "valid_from": to_micros(one.valid_from),
            "valid_to": to_micros(one.valid_to),
        }
        for fragment in fragments
        for one in fragment.relations
    ]
    # One parameter with a list as JSON: one statement and one plan, for any number of nodes.
    await ask("put_nodes", *_place(scope), dump(nodes))
    if relations:
        await ask("put_relations", *_place(scope), dump(relations))


async def _between(ask: Ask, where: tuple[Any, ...], nodes: Collection[str]) -> list[Relation]:
    rows = await ask("between", *where, sorted(nodes))
    return [
        Relation(
            source=source,
            relation=relation,
            target=target,
            valid_from=from_micros(valid_from),
            valid_to=from_micros(valid_to),
            memory_id=memory_id,
        )
        for source, relation, target, valid_from, valid_to, memory_id in rows
    ]


def _node(row: Sequence[Any]) -> Node:
    node, names, label, spoken, first_seen_at, last_seen_at = row
    name = _texts(names)[0]
    return Node(
        node=node,
        name=name,
        label=label,
        aliases=other_names(name, _texts(spoken)),
        first_seen_at=from_micros(first_seen_at),
        last_seen_at=from_micros(last_seen_at),
    )


def _texts(value: Any) -> list[str]:
    """Return a list of texts, which is JSON in SQLite."""
    found: list[str] = load(value) if isinstance(value, str) else value
    return found


def _place(scope: Scope) -> tuple[str, str, str]:
    return scope.tenant, scope.level.value, scope.owner
