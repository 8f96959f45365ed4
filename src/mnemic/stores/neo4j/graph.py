"""The graph store over Bolt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from weakref import WeakValueDictionary

from mnemic.errors import InvalidConfig, MnemicError, StoreUnavailable
from mnemic.stores.codec import dump, from_micros, load, to_micros
from mnemic.stores.graph import check_limit, check_walk, other_names, shortest_join, ways
from mnemic.stores.neo4j import cypher
from mnemic.stores.neo4j.connection import Connection, Transaction
from mnemic.types import Fragment, Neighbour, Node, Relation, Scope

_MAX_RELATIONS = 20_000
"""Maximum relations read at one distance of a walk: beyond it only nearer nodes are sure to be found."""
_CLEARED_AT_ONCE = 2_000
_PLANNING_SECONDS = 5.0
"""Longest wait, when the store closes, for a statement that the server is planning."""


class Neo4jGraph:
    """A `GraphStore` at `url`, `neo4j://user:password@host:port/database` or `bolt://...`.

    Every write is one managed transaction, which the server may have the driver run again. `timeout` (seconds) bounds
    every call on any network, `pool_size` the connections.
    """

    def __init__(self, url: str, *, timeout: float = 5.0, pool_size: int = 8) -> None:
        if not 0 < timeout <= 3600 or pool_size < 1:
            raise InvalidConfig("graph", hint="timeout is above 0 and at most 3600, pool_size at least 1")
        self._connection = Connection(url, pool_size=pool_size, seconds=timeout)
        self._open = self._ready = self._planned = False
        self._planning: asyncio.Task[None] | None = None
        self._made = 0
        self._turns: WeakValueDictionary[Scope, asyncio.Lock] = WeakValueDictionary()

    async def open(self) -> None:
        self._open = True

    async def close(self) -> None:
        self._open = self._ready = self._planned = False
        self._made = 0
        planning, self._planning = self._planning, None
        if planning is not None:
            # Cancelling a call leaves its socket to the event loop, which may be closed next. The task ends with its
            # current call, because the next one finds the store closed.
            await asyncio.wait({planning}, timeout=_PLANNING_SECONDS)
            planning.cancel()
            await asyncio.gather(planning, return_exceptions=True)
        await self._connection.close()

    async def link(self, scope: Scope, fragments: Sequence[Fragment]) -> None:
        last = {fragment.memory_id: fragment for fragment in fragments}
        place = _place(scope)
        nodes = [row for fragment in last.values() for row in _node_rows(place, fragment)]
        relations = [row for fragment in last.values() for row in _relation_rows(place, fragment)]

        async def write(transaction: Transaction) -> None:
            freed = await _forget(transaction, scope, last)
            await transaction.run(cypher.PUT_NODES, place=place, tenant=scope.tenant, nodes=nodes)
            if relations:
                await transaction.run(cypher.PUT_RELATIONS, relations=relations)
            if freed:
                await transaction.run(cypher.SWEEP_NODES, nodes=freed)

        if last and not await self._link_new(scope, last, nodes, relations):
            await self._write(scope, write)
            self._plan(scope)

    async def forget(self, scope: Scope, memory_ids: Collection[str]) -> None:
        async def write(transaction: Transaction) -> None:
            freed = await _forget(transaction, scope, memory_ids)
            if freed:
                await transaction.run(cypher.SWEEP_NODES, nodes=freed)
            await transaction.run(cypher.SWEEP_SCOPE, place=_place(scope))

        await self._write(scope, write)

    async def clear(self, tenant: str) -> None:
        connection = await self._prepare_schema()
        for row in await connection.read(lambda one: one.run(cypher.PLACES, tenant=tenant)):
            for statement in (cypher.CLEAR_NODES, cypher.CLEAR_MEMORIES):
                while await connection.write(lambda one, what=statement, row=row: _clear_rows(one, what, row)):  # type: ignore[misc]
                    pass
            await connection.write(lambda one, row=row: one.run(cypher.CLEAR_SCOPE, **row))  # type: ignore[misc]

    async def nodes(
        self, scope: Scope, *, label: str | None = None, among: Collection[str] | None = None, limit: int = 50
    ) -> list[Node]:
        check_limit(limit)
        place = _place(scope)
        connection = await self._prepare_schema()
        if among is not None:
            return await connection.read(lambda one: _describe_nodes(one, place, among, label, limit))
        rows = await connection.read(lambda one: one.run(cypher.NODES, place=place, label=label, limit=limit))
        return [_node(row) for row in rows]

    async def neighbours(
        self, scope: Scope, node: str, *, hops: int = 1, at: datetime | None = None, limit: int = 50
    ) -> list[Neighbour]:
        check_walk(hops, node)
        check_limit(limit)
        place = _place(scope)

        async def read(transaction: Transaction) -> list[Neighbour]:
            distance, relations = await _walk_hops(transaction, place, node, hops, at)
            others = [name for name in distance if name != node]
            found = await _describe_nodes(transaction, place, others, None, len(others))
            nearest = sorted(found, key=lambda one: distance[one.node])[:limit]
            way = ways(distance, relations, [one.node for one in nearest])
            return [Neighbour(node=one, path=way[one.node]) for one in nearest]

        return await (await self._prepare_schema()).read(read)

    async def path(
        self, scope: Scope, source: str, target: str, *, hops: int = 4, at: datetime | None = None
    ) -> tuple[Relation, ...] | None:
        check_walk(hops, source, target)
        place = _place(scope)

        async def read(transaction: Transaction) -> tuple[Relation, ...] | None:
            if source == target:
                return () if await _describe_nodes(transaction, place, [source], None, 1) else None
            return await _meet_halfway(transaction, place, source, target, hops, at)

        return await (await self._prepare_schema()).read(read)

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        connection = await self._prepare_schema()
        wanted = sorted(memory_ids)
        rows = await connection.read(lambda one: one.run(cypher.TRACES, tenant=tenant, memory_ids=wanted))
        return int(rows[0]["traces"]) if rows else 0

    async def _link_new(
        self,
        scope: Scope,
        memory_ids: Collection[str],
        nodes: Sequence[dict[str, Any]],
        relations: Sequence[dict[str, Any]],
    ) -> bool:
        """Link memories of which none is known, as most are; False if one is, or the server could not finish."""
        if not self._planned:
            return False
        given = {"memories": _uids(_place(scope), memory_ids), "nodes": nodes, "relations": relations}
        statement = cypher.LINK_RELATED if relations else cypher.LINK_NODES
        try:
            rows = await self._once(statement, scope, given, turn=self._turn(scope))
        except BaseException:
            self._planned = False  # the server may have been restarted
            raise
        return bool(rows and rows[0]["linked"])

    def _plan(self, scope: Scope) -> None:
        """Have the server plan the statements of `_linked`, in parallel to the calls: after its start that may take
        seconds, too long for a write.
        """
        if not self._planned and (self._planning is None or self._planning.done()):
            self._planning = asyncio.create_task(self._plans(scope), name="mnemic-graph-plans")

    async def _plans(self, scope: Scope) -> None:
        nothing: dict[str, Any] = {"memories": [], "nodes": [], "relations": []}
        with suppress(MnemicError):
            plans = [await self._once(one, scope, nothing) for one in (cypher.LINK_NODES, cypher.LINK_RELATED)]
            self._planned = all(plans)

    async def _once(
        self, statement: str, scope: Scope, given: dict[str, Any], *, turn: asyncio.Lock | None = None
    ) -> list[dict[str, Any]]:
        connection = await self._prepare_schema()
        return await connection.once(statement, turn=turn, place=_place(scope), tenant=scope.tenant, **given)

    async def _write(self, scope: Scope, work: Callable[[Transaction], Awaitable[None]]) -> None:
        await (await self._prepare_schema()).write(work, turn=self._turn(scope))

    def _turn(self, scope: Scope) -> asyncio.Lock:
        """Return the lock that serialises the writes of a scope: the server makes them wait anyway, or restarts all but
        one.
        """
        return self._turns.setdefault(scope, asyncio.Lock())

    async def _prepare_schema(self) -> Connection:
        """Return the connection, once the schema is there. Raises StoreUnavailable."""
        if not self._open:
            raise StoreUnavailable("closed")
        if not self._ready:
            for number, statement in enumerate(cypher.SCHEMA):
                if number >= self._made:  # an interrupted call has created those before
                    await self._connection.run_alone(statement)
                    self._made = max(self._made, number + 1)
            self._ready = True
        return self._connection


def _place(scope: Scope) -> str:
    return f"{scope.tenant}/{scope.level.value}/{scope.owner}"


def _uids(place: str, names: Iterable[str]) -> list[str]:
    return [f"{place}/{name}" for name in sorted(names)]


async def _forget(transaction: Transaction, scope: Scope, memory_ids: Collection[str]) -> list[str]:
    """Remove the relations and names of these memories, under the scope's lock; return the nodes they named, which may
    be orphaned now.
    """
    place = _place(scope)
    memories = _uids(place, memory_ids)
    (found,) = await transaction.run(cypher.LOCK, place=place, tenant=scope.tenant, memories=memories)
    if found["known"]:
        await transaction.run(cypher.FORGET_RELATIONS, memories=found["known"])
        await transaction.run(cypher.FORGET_MEMORIES, memories=found["known"])
    nodes: list[str] = found["nodes"]
    return nodes


async def _clear_rows(transaction: Transaction, statement: str, row: dict[str, Any]) -> bool:
    (counted,) = await transaction.run(statement, batch=_CLEARED_AT_ONCE, **row)
    return int(counted["gone"]) > 0


@dataclass(slots=True)
class _Walk:
    """Distance of every node from one end, and the relations on the way, as far as queried."""

    distance: dict[str, int]
    edge: list[str]
    relations: list[Relation] = field(default_factory=list)

    @classmethod
    def from_(cls, node: str) -> _Walk:
        return cls({node: 0}, [node])

    async def step(self, transaction: Transaction, place: str, at: datetime | None) -> None:
        """Go one hop further, with one query."""
        hop = self.distance[self.edge[0]] + 1
        edge = _uids(place, self.edge)
        rows = await transaction.run(cypher.TOUCHING, nodes=edge, at=to_micros(at), most=_MAX_RELATIONS)
        found = [_relation(row) for row in rows]
        self.relations += found
        ends = {name for one in found for name in (one.source, one.target)}
        self.edge = [name for name in ends if name not in self.distance]
        self.distance |= dict.fromkeys(self.edge, hop)


async def _walk_hops(
    transaction: Transaction, place: str, start: str, hops: int, at: datetime | None
) -> tuple[dict[str, int], list[Relation]]:
    """Return the distance of every node within `hops`, and the relations on the way."""
    walk = _Walk.from_(start)
    for _ in range(hops):
        if walk.edge:
            await walk.step(transaction, place, at)
    return walk.distance, walk.relations


async def _meet_halfway(
    transaction: Transaction, place: str, source: str, target: str, hops: int, at: datetime | None
) -> tuple[Relation, ...] | None:
    """Search a shortest way from both ends: always a hop from the side with fewer nodes. They meet at the first hop
    that joins the ways, so that no way is shorter.
    """
    there, back = _Walk.from_(source), _Walk.from_(target)
    for _ in range(hops):
        walk = min(there, back, key=lambda one: len(one.edge))
        if not walk.edge:
            return None
        await walk.step(transaction, place, at)
        way = shortest_join(there.distance, back.distance, there.relations + back.relations)
        if way is not None:
            return way
    return None


async def _describe_nodes(
    transaction: Transaction, place: str, among: Collection[str], label: str | None, limit: int
) -> list[Node]:
    rows = await transaction.run(cypher.AMONG, among=_uids(place, among), label=label, limit=limit)
    return [_node(row) for row in rows]


def _node_rows(place: str, fragment: Fragment) -> list[dict[str, Any]]:
    said = {
        "memory": f"{place}/{fragment.memory_id}",
        "memory_id": fragment.memory_id,
        "seen_at": to_micros(fragment.seen_at),
    }
    return [
        said
        | {
            "uid": f"{place}/{node.node}",
            "node": node.node,
            "label": node.label,
            "names": dump([node.name, *node.aliases]),
        }
        for node in fragment.nodes
    ]


def _relation_rows(place: str, fragment: Fragment) -> list[dict[str, Any]]:
    triples = {(one.source, one.relation, one.target): one for one in fragment.relations}
    return [
        {
            "source": f"{place}/{one.source}",
            "relation": one.relation,
            "target": f"{place}/{one.target}",
            "valid_from": to_micros(one.valid_from),
            "valid_to": to_micros(one.valid_to),
            "memory_id": fragment.memory_id,
        }
        for one in triples.values()
    ]


def _relation(row: dict[str, Any]) -> Relation:
    return Relation(
        source=row["source"],
        relation=row["relation"],
        target=row["target"],
        valid_from=from_micros(row["valid_from"]),
        valid_to=from_micros(row["valid_to"]),
        memory_id=row["memory_id"],
    )


def _node(row: dict[str, Any]) -> Node:
    name = load(row["names"])[0]
    return Node(
        node=row["node"],
        name=name,
        label=row["label"],
        aliases=other_names(name, [one for names in row["spoken"] for one in load(names)]),
        first_seen_at=from_micros(row["first_seen_at"]),
        last_seen_at=from_micros(row["last_seen_at"]),
    )
