"""Hot set and graphs show what holds once they have taken everything, whatever happened on the way."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from mnemic.graph.projection import GraphProjection
from mnemic.ports import RecordStore
from mnemic.ports.further_stores import GraphStore
from mnemic.ports.projections import Projection
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.neo4j import Neo4jGraph
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.redis import RedisHotSet, RedisLink
from mnemic.stores.sqlite import SqliteStore
from mnemic.types import Change, Memory, OutboxEntry, Status
from tests.bolt_servers import BoltServer
from tests.faults.scale import size
from tests.servers import PostgresServer
from tests.stateful.projection_machine import SCOPES, SECONDS, ProjectionMachine
from tests.valkey import ValkeyServer

RUNS = size(12, 5000)
SIZE = 3
"""Members of a hot set here: few, so that it overflows."""


class HotSetMachine(ProjectionMachine):
    """Valkey, fed by a SQLite file."""

    server: ClassVar[ValkeyServer]

    def new_store(self, folder: Path) -> RecordStore:
        return SqliteStore(folder / "m.db", durability="fast")

    async def new_copy(self, folder: Path) -> Projection:
        self.server.ask("FLUSHALL")
        self.hot = RedisHotSet(RedisLink(self.server.url, seconds=SECONDS), size=SIZE)
        for place in SCOPES:
            await self.hot.begin(place)
            await self.hot.fill(place, [], complete=True)
        return self.hot

    async def check(self, held: Sequence[Memory]) -> None:
        for place in SCOPES:
            inside = [one for one in held if one.scope == place and one.status is Status.ACTIVE]
            inside.sort(key=lambda one: (one.happened_at, one.memory_id), reverse=True)
            newest = [one.memory_id for one in inside]
            known = await self.hot.newest(place, limit=999)
            if known is not None:
                assert list(known.memory_ids) == newest[: len(known.memory_ids)]
                assert not known.complete or len(known.memory_ids) == len(newest)


class GraphMachine(ProjectionMachine):
    """A graph server, fed by a store in the process."""

    server: ClassVar[BoltServer]

    async def new_copy(self, folder: Path) -> Projection:
        self.graph: GraphStore = Neo4jGraph(self.server.empty(*{place.tenant for place in SCOPES}), timeout=SECONDS)
        await self.graph.open()
        return _Owned(self.graph)

    async def check(self, held: Sequence[Memory]) -> None:
        model = InProcessGraph()
        await model.open()
        told = GraphProjection(model)
        await told.apply([Change(entry=OutboxEntry.for_memory(one), memory=one) for one in held])
        for place in SCOPES:
            nodes = await model.nodes(place, limit=500)
            assert await self.graph.nodes(place, limit=500) == nodes
            for node in nodes:
                expected = await model.neighbours(place, node.node, hops=3)
                assert await self.graph.neighbours(place, node.node, hops=3) == expected


class _Owned(GraphProjection):
    """A projection whose graph has no engine to close it."""

    def __init__(self, graph: GraphStore) -> None:
        super().__init__(graph)
        self._mine = graph

    async def close(self) -> None:
        await self._mine.close()


class OutboxMachine(GraphMachine):
    """The graph in the process, fed by PostgreSQL."""

    database: ClassVar[PostgresServer]

    def new_store(self, folder: Path) -> RecordStore:
        return PostgresStore(self.database.emptied(folder), pool_size=2)

    async def new_copy(self, folder: Path) -> Projection:
        self.graph = InProcessGraph()
        await self.graph.open()
        return _Owned(self.graph)


SETTINGS = settings(max_examples=RUNS, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck))


def test_the_hot_set(valkey: ValkeyServer) -> None:
    HotSetMachine.server = valkey
    run_state_machine_as_test(HotSetMachine, settings=SETTINGS)


def test_a_graph_server(bolt: BoltServer) -> None:
    GraphMachine.server = bolt
    run_state_machine_as_test(GraphMachine, settings=SETTINGS)


def test_the_outbox_in_postgres(postgres: PostgresServer) -> None:
    OutboxMachine.database = postgres
    run_state_machine_as_test(OutboxMachine, settings=SETTINGS)
