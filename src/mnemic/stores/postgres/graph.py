"""The graph in the same PostgreSQL database as the memories it is made of.

The store writes it in the transaction that writes the memory (`relate`), and a trigger removes what a memory held
together with the memory: the two cannot disagree, and nothing waits in the outbox.

For memories that live elsewhere it is a projection. `link` does not wait for the disk then: the outbox forgets the work
later, so after a power cut it comes again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import Any, TypeVar

from mnemic.errors import StoreUnavailable
from mnemic.stores.codec import dump, from_micros, to_micros
from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.opening import Access, Opened
from mnemic.stores.postgres.rows import place_of
from mnemic.stores.postgres.statements import load
from mnemic.stores.walks import check_limit, check_walk, halves, joined, other_names, ways
from mnemic.types import Deadline, Fragment, Memory, Neighbour, Node, Relation, Scope
from mnemic.types.graph import fragment_of
from mnemic.types.memory import holds_graph

T = TypeVar("T")
Fetch = Callable[..., Awaitable[list[Any]]]
"""A statement and its parameters in, its rows out."""

_GRAPH = load("graph")


class PostgresGraph:
    """A `GraphStore` in the database at `dsn`, where row-level security keeps tenants apart as it does for memories.

    `pool_size` bounds its connections, `statement_timeout` (seconds) every call. The first call migrates with the
    rights of `owner_dsn`, or of `dsn` where none is given.
    """

    def __init__(
        self, dsn: str, *, owner_dsn: str | None = None, pool_size: int = 4, statement_timeout: float = 10.0
    ) -> None:
        self._access = Access.checked(dsn, owner_dsn, pool_size, statement_timeout, "fast")
        self._opened: Opened | None = None
        self._open = False
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        self._open = True

    async def close(self) -> None:
        self._open = False
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.close()

    async def link(self, scope: Scope, fragments: Sequence[Fragment], *, deadline: Deadline | None = None) -> None:
        last = {fragment.memory_id: fragment for fragment in fragments}
        if not last:
            return

        async def write(session: Session) -> None:
            await _forget(session.fetch, scope, last)
            await _put(session.fetch, scope, last.values())

        await self._write(scope.tenant, write, deadline)

    async def forget(self, scope: Scope, memory_ids: Collection[str], *, deadline: Deadline | None = None) -> None:
        await self._write(scope.tenant, lambda session: _forget(session.fetch, scope, memory_ids), deadline)

    async def clear(self, tenant: str, *, deadline: Deadline | None = None) -> None:
        async def write(session: Session) -> None:
            await session.fetch(_GRAPH["clear_relations"], tenant)
            await session.fetch(_GRAPH["clear_nodes"], tenant)

        await self._write(tenant, write, deadline)

    async def nodes(
        self,
        scope: Scope,
        *,
        label: str | None = None,
        among: Collection[str] | None = None,
        limit: int = 50,
        deadline: Deadline | None = None,
    ) -> list[Node]:
        check_limit(limit)
        chosen = None if among is None else sorted(among)

        async def read(session: Session) -> list[Node]:
            return [_node(row) for row in await session.fetch(_GRAPH["nodes"], *place_of(scope), chosen, label, limit)]

        return await self._read(scope.tenant, read, deadline)

    async def neighbours(
        self,
        scope: Scope,
        node: str,
        *,
        hops: int = 1,
        at: datetime | None = None,
        limit: int = 50,
        deadline: Deadline | None = None,
    ) -> list[Neighbour]:
        check_walk(hops, node)
        check_limit(limit)
        where = (*place_of(scope), to_micros(at))

        async def read(session: Session) -> list[Neighbour]:
            rows = await session.fetch(_GRAPH["neighbours"], *where, node, hops, limit)
            distance = {node: 0} | {row["node"]: row["distance"] for row in rows}
            way = ways(distance, await _between(session, where, distance), list(distance))
            return [Neighbour(node=_node(row), path=way[row["node"]]) for row in rows]

        return await self._read(scope.tenant, read, deadline)

    async def path(
        self,
        scope: Scope,
        source: str,
        target: str,
        *,
        hops: int = 4,
        at: datetime | None = None,
        deadline: Deadline | None = None,
    ) -> tuple[Relation, ...] | None:
        check_walk(hops, source, target)
        half, rest = halves(hops)
        where = (*place_of(scope), to_micros(at))

        async def read(session: Session) -> tuple[Relation, ...] | None:
            rows = await session.fetch(_GRAPH["from_both_ends"], *where, source, half, target, rest)
            there, back = ({row["node"]: row["distance"] for row in rows if row["side"] == end} for end in (0, 1))
            if there.keys().isdisjoint(back):
                return None
            return joined(there, back, await _between(session, where, there.keys() | back.keys()))

        return await self._read(scope.tenant, read, deadline)

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        async def read(session: Session) -> int:
            (row,) = await session.fetch(_GRAPH["traces"], tenant, sorted(memory_ids))
            return int(row["held"])

        return await self._read(tenant, read, None)

    async def _ready(self) -> Connections:
        async with self._opening:
            if not self._open:
                raise StoreUnavailable("closed")
            if self._opened is None:
                self._opened = await self._access.open(None)
            return self._opened.connections

    async def _read(self, tenant: str, work: Callable[[Session], Awaitable[T]], deadline: Deadline | None) -> T:
        return await (await self._ready()).read(_inside(tenant, work), deadline)

    async def _write(self, tenant: str, work: Callable[[Session], Awaitable[None]], deadline: Deadline | None) -> None:
        await (await self._ready()).write(_inside(tenant, work), deadline)


def _inside(tenant: str, work: Callable[[Session], Awaitable[T]]) -> Callable[[Session], Awaitable[T]]:
    """`work` in a transaction that sees the rows of `tenant` alone."""

    async def run(session: Session) -> T:
        await session.enter(tenant)
        return await work(session)

    return run


async def relate(fetch: Fetch, memory: Memory, *, known: bool) -> None:
    """Let what `memory` holds of the graph be what it says now, in the transaction that writes it; `known` says that an
    earlier version of it may hold something.
    """
    if not holds_graph(memory):
        return
    fragment = fragment_of(memory)
    if known:
        await _forget(fetch, memory.scope, [memory.memory_id])
    if fragment is not None:
        await _put(fetch, memory.scope, [fragment])


async def _forget(fetch: Fetch, scope: Scope, memory_ids: Collection[str]) -> None:
    for statement in ("forget_relations", "forget_nodes"):
        await fetch(_GRAPH[statement], *place_of(scope), sorted(memory_ids))


async def _put(fetch: Fetch, scope: Scope, fragments: Collection[Fragment]) -> None:
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
    await fetch(_GRAPH["put_nodes"], *place_of(scope), dump(nodes))
    if relations:
        await fetch(_GRAPH["put_relations"], *place_of(scope), dump(relations))


async def _between(session: Session, where: tuple[Any, ...], nodes: Collection[str]) -> list[Relation]:
    rows = await session.fetch(_GRAPH["between"], *where, sorted(nodes))
    return [
        Relation(
            source=row["source"],
            relation=row["relation"],
            target=row["target"],
            valid_from=from_micros(row["valid_from"]),
            valid_to=from_micros(row["valid_to"]),
            memory_id=row["memory_id"],
        )
        for row in rows
    ]


def _node(row: Any) -> Node:
    return Node(
        node=row["node"],
        name=row["name"],
        label=row["label"],
        aliases=other_names(row["name"], row["spoken"]),
        first_seen_at=from_micros(row["first_seen_at"]),
        last_seen_at=from_micros(row["last_seen_at"]),
    )
