"""A graph that does not lie in the store is fed from the outbox: it misses nothing, holds nobody up, forgets all."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from mnemic.engine import MemoryEngine
from mnemic.errors import StoreUnavailable
from mnemic.graph.projection import GraphProjection
from mnemic.kinds.entity import EntityMemory
from mnemic.runtime.sync_facade import Awaited, async_mode
from mnemic.stores.graph import InProcessGraph
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.graph_store import mention, node
from mnemic.types import Actor, Fragment, Outcome, Scope
from mnemic.write.outbox import OutboxConsumer

ANA = Actor(user="ana")
OPERATOR = Actor(user="operator")


class Unreachable(InProcessGraph):
    """A graph whose server is down as long as `down` says so."""

    down = False

    async def traces(self, tenant: str, memory_ids: Collection[str]) -> int:
        if self.down:
            raise StoreUnavailable
        return await super().traces(tenant, memory_ids)

    async def link(self, scope: Scope, fragments: Sequence[Fragment]) -> None:
        if self.down:
            raise StoreUnavailable
        await super().link(scope, fragments)

    async def forget(self, scope: Scope, memory_ids: Collection[str]) -> None:
        if self.down:
            raise StoreUnavailable
        await super().forget(scope, memory_ids)


def house() -> tuple[MemoryEngine, Unreachable, ManualClock]:
    graph, clock = Unreachable(), ManualClock()
    engine = MemoryEngine(
        store=InProcessStore(),
        embedder=WordEmbedder(),
        clock=clock,
        graph=graph,
        projections=[GraphProjection(graph)],
    )
    return engine, graph, clock


async def names(entity: EntityMemory[Awaited], at: datetime | None = None) -> set[str]:
    return {one.node.name for one in await entity.neighbours("Ana", at=at)}


async def test_what_is_told_is_in_the_graph_and_what_is_forgotten_is_not() -> None:
    engine, _, clock = house()
    async with engine:
        entity = EntityMemory(engine, ANA, async_mode())
        await entity.relate("Ana", "works_at", "Siemens")
        clock.advance(timedelta(days=1))
        receipt = await entity.relate("Ana", "works_at", "Bosch")
        assert receipt.outcome is Outcome.SUPERSEDED
        assert await names(entity) == {"Bosch"}
        assert await names(entity, clock.now() - timedelta(hours=1)) == {"Siemens"}
        await engine.forget(receipt.memory_id or "", actor=ANA)
        assert await names(entity) == set()


async def test_a_graph_that_is_down_holds_no_write_up_and_catches_up() -> None:
    engine, graph, clock = house()
    async with engine:
        entity = EntityMemory(engine, ANA, async_mode())
        graph.down = True
        receipt = await entity.relate("Ana", "works_at", "Siemens")
        assert receipt.outcome is Outcome.CREATED
        assert receipt.degraded == ("graph",)
        graph.down = False
        clock.advance(timedelta(minutes=5))
        await engine.maintain(actor=OPERATOR)
        assert await names(entity) == {"Siemens"}


async def test_an_erasure_reaches_the_graph() -> None:
    engine, graph, _ = house()
    async with engine:
        entity = EntityMemory(engine, ANA, async_mode())
        receipt = await entity.relate("Ana", "works_at", "Siemens")
        await engine.erase("ana", actor=OPERATOR)
        await engine.maintain(actor=OPERATOR)
        assert await graph.traces("default", [receipt.memory_id or ""]) == 0
        assert await entity.of_user() == []


async def test_a_receipt_says_what_the_graph_holds_and_verifying_asks_it_again() -> None:
    engine, graph, clock = house()
    async with engine:
        entity = EntityMemory(engine, ANA, async_mode())
        written = await entity.relate("Ana", "works_at", "Siemens")
        graph.down = True
        receipt = await engine.erase("ana", actor=OPERATOR)
        assert not receipt.complete
        assert receipt.traces["graph"] == len(receipt.memory_ids) == 3, "a copy that cannot be asked holds them all"
        graph.down = False
        assert (await engine.verify_erasure(receipt))["graph"] > 0
        clock.advance(timedelta(minutes=5))
        await engine.maintain(actor=OPERATOR)
        assert not any((await engine.verify_erasure(receipt)).values())
        stray = mention(written.memory_id or "", node("person:ana"))
        await graph.link(ANA.scope("user"), [stray])
        assert (await engine.verify_erasure(receipt))["graph"] == 1, "a copy that came back is found out"


async def test_it_is_built_anew_with_what_has_ended() -> None:
    engine, graph, clock = house()
    async with engine:
        entity = EntityMemory(engine, ANA, async_mode())
        await entity.relate("Ana", "works_at", "Siemens")
        clock.advance(timedelta(days=1))
        await entity.relate("Ana", "works_at", "Bosch")
        before = await graph.nodes(ANA.scope("user")), await graph.neighbours(ANA.scope("user"), "person:ana")
        await graph.link(ANA.scope("user"), [mention("stray", node("stray"))])
        await OutboxConsumer(GraphProjection(graph), engine.store, clock).rebuild("default")
        assert (await graph.nodes(ANA.scope("user")), await graph.neighbours(ANA.scope("user"), "person:ana")) == before
        assert len(before[1]) == 2


async def test_other_kinds_cost_the_graph_nothing() -> None:
    engine, graph, _ = house()
    async with engine:
        graph.down = True
        receipt = await engine.add("I like tea", actor=ANA)
        assert receipt.degraded == ()
