"""The graph in the same SQLite file as the memories it is made of.

The store writes it in the transaction that writes the memory (`relate`), and a trigger removes what a memory held
together with the memory: the two cannot disagree, and nothing waits in the outbox.

For memories that live elsewhere it is a projection. `link` does not sync then: the outbox forgets the work later, so
after a power cut it comes again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

import apsw

from mnemic.errors import StoreBusy, StoreUnavailable
from mnemic.stores.codec import dump, from_micros, load, to_micros
from mnemic.stores.sqlite.failures import immediate, typed_failures
from mnemic.stores.sqlite.file import BUSY_SECONDS, Patience, connect, prepare
from mnemic.stores.sqlite.rows import fetch, place
from mnemic.stores.sqlite.threads import Readers, finished
from mnemic.stores.walks import check_limit, check_walk, halves, joined, other_names, ways
from mnemic.types import Deadline, Fragment, Memory, Neighbour, Node, Relation, Scope
from mnemic.types.graph import fragment_of
from mnemic.types.memory import holds_graph

T = TypeVar("T")

_MOST_STEPS = 50_000
"""Steps of one walk: beyond them only what is nearer is found. It ends a walk through a graph in which all know all."""

_HERE = "{0}.tenant = :tenant AND {0}.level = :level AND {0}.owner = :owner"
_NODE, _RELATION = _HERE.format("n"), _HERE.format("r")
_HOLDS = """(:at IS NULL OR (
    (r.valid_from IS NULL OR r.valid_from <= :at) AND (r.valid_to IS NULL OR r.valid_to > :at)
))"""
_SAID_LAST = f"FROM graph_node n WHERE {_NODE} AND n.node = w.node ORDER BY n.seen_at DESC, n.memory_id DESC LIMIT 1"
_DESCRIBED = f"""
    w.node,
    (SELECT n.names {_SAID_LAST}), (SELECT n.label {_SAID_LAST}),
    (
        SELECT json_group_array(DISTINCT spoken.value) FROM graph_node n, json_each(n.names) spoken
        WHERE {_NODE} AND n.node = w.node
    ),
    w.first_seen_at, w.last_seen_at
"""  # noqa: S608
_REACHED = f"""
    {{0}} (node, distance) AS (
        SELECT :{{1}}, 0
        UNION
        SELECT r.target, o.distance + 1 FROM {{0}} o CROSS JOIN graph_relation r
        WHERE {_RELATION} AND r.source = o.node AND o.distance < :{{2}} AND {_HOLDS}
        UNION
        SELECT r.source, o.distance + 1 FROM {{0}} o CROSS JOIN graph_relation r
        WHERE {_RELATION} AND r.target = o.node AND o.distance < :{{2}} AND {_HOLDS}
        LIMIT :most
    ),
    {{0}}_nearest (node, distance) AS MATERIALIZED (SELECT node, min(distance) FROM {{0}} GROUP BY node)
"""  # noqa: S608

_NODES = f"""
    WITH w AS (
        SELECT n.node, min(n.seen_at) AS first_seen_at, max(n.seen_at) AS last_seen_at FROM graph_node n
        WHERE {_NODE} AND (:among IS NULL OR n.node IN (SELECT value FROM json_each(:among)))
        AND (:among IS NOT NULL OR :label IS NOT NULL OR substr(n.node, 1, 9) <> '@episode:')
        GROUP BY n.node
    ),
    described (node, names, label, spoken, first_seen_at, last_seen_at) AS (SELECT {_DESCRIBED} FROM w)
    SELECT * FROM described WHERE :label IS NULL OR label = :label
    ORDER BY last_seen_at DESC, node LIMIT :limit
"""  # noqa: S608
_NEIGHBOURS = f"""
    WITH RECURSIVE {_REACHED.format("outwards", "start", "hops")},
    w AS (
        SELECT o.node, o.distance, min(n.seen_at) AS first_seen_at, max(n.seen_at) AS last_seen_at
        FROM outwards_nearest o CROSS JOIN graph_node n
        WHERE {_NODE} AND n.node = o.node AND o.distance > 0
        GROUP BY o.node ORDER BY o.distance, last_seen_at DESC, o.node LIMIT :limit
    )
    SELECT {_DESCRIBED}, w.distance FROM w ORDER BY w.distance, w.last_seen_at DESC, w.node
"""  # noqa: S608
_FROM_BOTH_ENDS = f"""
    WITH RECURSIVE {_REACHED.format("outwards", "start", "hops")}, {_REACHED.format("back", "end", "hops_back")}
    SELECT 0, node, distance FROM outwards_nearest UNION ALL SELECT 1, node, distance FROM back_nearest
"""  # noqa: S608
_BETWEEN = f"""
    SELECT r.source, r.relation, r.target, r.valid_from, r.valid_to, r.memory_id
    FROM json_each(:nodes) w CROSS JOIN graph_relation r
    WHERE {_RELATION} AND r.source = w.value AND r.target IN (SELECT value FROM json_each(:nodes)) AND {_HOLDS}
"""  # noqa: S608
_KNOWN = f"SELECT 1 FROM graph_node n WHERE {_NODE} AND n.node = :start LIMIT 1"  # noqa: S608

_PUT_NODE = "INSERT INTO graph_node VALUES (:tenant, :level, :owner, :node, :memory_id, :label, :names, :seen_at)"
_PUT_RELATION = """
    INSERT OR REPLACE INTO graph_relation
    VALUES (:tenant, :level, :owner, :source, :relation, :target, :memory_id, :valid_from, :valid_to)
"""
_TABLES = ("graph_relation", "graph_node")
_FORGET = tuple(
    f"DELETE FROM {table} AS n WHERE {_NODE} AND n.memory_id IN (SELECT value FROM json_each(:memory_ids))"  # noqa: S608
    for table in _TABLES
)
_CLEAR = tuple(f"DELETE FROM {table} WHERE tenant = ?" for table in _TABLES)  # noqa: S608
_TRACES = " UNION ALL ".join(
    f"SELECT count(*) FROM {table} WHERE tenant = :tenant AND memory_id IN (SELECT value FROM json_each(:memory_ids))"  # noqa: S608
    for table in _TABLES
)


class SqliteGraph:
    """A `GraphStore` in the file at `path`, which a `SqliteStore` and other processes may have open as well.

    `readers` of its calls read at once, one writes. The folder of `path` must exist.
    """

    def __init__(self, path: str | Path, *, readers: int = 2) -> None:
        self._path = Path(path).absolute()
        self._reader_count = readers
        self._opened: _Opened | None = None
        self._open = False
        self._opening = asyncio.Lock()

    async def open(self) -> None:
        self._open = True

    async def close(self) -> None:
        self._open = False
        opened, self._opened = self._opened, None
        if opened is not None:
            await asyncio.to_thread(opened.close)

    async def link(self, scope: Scope, fragments: Sequence[Fragment], *, deadline: Deadline | None = None) -> None:
        last = {fragment.memory_id: fragment for fragment in fragments}
        where = place(scope)

        def write(connection: apsw.Connection) -> None:
            _forget(connection, where, last)
            _put(connection, where, last.values())

        await self._write(write, deadline)

    async def forget(self, scope: Scope, memory_ids: Collection[str], *, deadline: Deadline | None = None) -> None:
        await self._write(lambda connection: _forget(connection, place(scope), memory_ids), deadline)

    async def clear(self, tenant: str, *, deadline: Deadline | None = None) -> None:
        def write(connection: apsw.Connection) -> None:
            for statement in _CLEAR:
                connection.execute(statement, (tenant,))

        await self._write(write, deadline)

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
        chosen = None if among is None else dump(sorted(among))
        wanted = place(scope) | {"label": label, "among": chosen, "limit": limit}
        return await self._read(lambda connection: [_node(row) for row in fetch(connection, _NODES, wanted)], deadline)

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
        wanted = _walk(scope, node, hops, at) | {"limit": limit}

        def read(connection: apsw.Connection) -> list[Neighbour]:
            rows = fetch(connection, _NEIGHBOURS, wanted)
            distance = {node: 0} | {row[0]: row[-1] for row in rows}
            way = ways(distance, _between(connection, wanted, distance), list(distance))
            return [Neighbour(node=_node(row[:-1]), path=way[row[0]]) for row in rows]

        return await self._read(read, deadline)

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
        wanted = _walk(scope, source, half, at) | {"end": target, "hops_back": rest}

        def read(connection: apsw.Connection) -> tuple[Relation, ...] | None:
            rows = fetch(connection, _FROM_BOTH_ENDS, wanted)
            there, back = ({node: distance for side, node, distance in rows if side == end} for end in (0, 1))
            if there.keys().isdisjoint(back) or not fetch(connection, _KNOWN, wanted):
                return None
            return joined(there, back, _between(connection, wanted, there.keys() | back.keys()))

        return await self._read(read, deadline)

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        wanted = {"tenant": tenant, "memory_ids": dump(sorted(memory_ids))}
        return await self._read(lambda connection: sum(count for (count,) in fetch(connection, _TRACES, wanted)))

    async def _ready(self) -> _Opened:
        async with self._opening:
            if not self._open:
                raise StoreUnavailable("closed")
            if self._opened is None:
                self._opened = await asyncio.to_thread(_Opened, self._path, self._reader_count)
            return self._opened

    async def _read(self, work: Callable[[apsw.Connection], T], deadline: Deadline | None = None) -> T:
        def run(connection: apsw.Connection) -> T:
            _seconds_left(deadline)
            with typed_failures():
                return work(connection)

        return await (await self._ready()).readers.run(run)

    async def _write(self, work: Callable[[apsw.Connection], None], deadline: Deadline | None) -> None:
        opened = await self._ready()

        def run() -> None:
            opened.patience.wait(_seconds_left(deadline))
            with typed_failures(), immediate(opened.writing):
                work(opened.writing)

        await finished(opened.writer.submit(run))


class _Opened:
    """An open file: one connection and thread that write, a few that read."""

    def __init__(self, path: Path, readers: int) -> None:
        with typed_failures():
            self.patience = Patience()
            self.writing = prepare(path, durability="fast", patience=self.patience)
            self.readers = Readers(lambda: connect(path, durability="fast"), threads=readers)
        self.writer = ThreadPoolExecutor(1, thread_name_prefix="mnemic-graph")

    def close(self) -> None:
        """Finish what runs, then let go of the file."""
        self.writer.shutdown(wait=True)
        self.readers.close()
        self.writing.close()


def relate(connection: apsw.Connection, memory: Memory) -> None:
    """Let what `memory` holds of the graph be what it says now, in the transaction that writes it."""
    if holds_graph(memory):
        fragment = fragment_of(memory)
        _forget(connection, place(memory.scope), [memory.memory_id])
        _put(connection, place(memory.scope), [fragment] if fragment is not None else [])


def _seconds_left(deadline: Deadline | None) -> float:
    seconds = BUSY_SECONDS if deadline is None else deadline.remaining()
    if seconds <= 0:
        raise StoreBusy
    return seconds


def _walk(scope: Scope, start: str, hops: int, at: datetime | None) -> dict[str, Any]:
    return place(scope) | {"start": start, "hops": hops, "at": to_micros(at), "most": _MOST_STEPS}


def _forget(connection: apsw.Connection, where: Mapping[str, Any], memory_ids: Collection[str]) -> None:
    for statement in _FORGET:
        connection.execute(statement, {**where, "memory_ids": dump(sorted(memory_ids))})


def _put(connection: apsw.Connection, where: Mapping[str, Any], fragments: Collection[Fragment]) -> None:
    connection.executemany(_PUT_NODE, [{**where, **row} for one in fragments for row in _node_rows(one)])
    connection.executemany(_PUT_RELATION, [{**where, **row} for one in fragments for row in _relation_rows(one)])


def _between(connection: apsw.Connection, wanted: Mapping[str, Any], nodes: Collection[str]) -> list[Relation]:
    rows = fetch(connection, _BETWEEN, {**wanted, "nodes": dump(sorted(nodes))})
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


def _node_rows(fragment: Fragment) -> list[dict[str, Any]]:
    seen = {"memory_id": fragment.memory_id, "seen_at": to_micros(fragment.seen_at)}
    return [
        seen | {"node": node.node, "label": node.label, "names": dump([node.name, *node.aliases])}
        for node in fragment.nodes
    ]


def _relation_rows(fragment: Fragment) -> list[dict[str, Any]]:
    return [
        {
            "memory_id": fragment.memory_id,
            "source": relation.source,
            "relation": relation.relation,
            "target": relation.target,
            "valid_from": to_micros(relation.valid_from),
            "valid_to": to_micros(relation.valid_to),
        }
        for relation in fragment.relations
    ]


def _node(row: Sequence[Any]) -> Node:
    node, names, label, spoken, first_seen_at, last_seen_at = row
    name = load(names)[0]
    return Node(
        node=node,
        name=name,
        label=label,
        aliases=other_names(name, load(spoken)),
        first_seen_at=from_micros(first_seen_at),
        last_seen_at=from_micros(last_seen_at),
    )
