"""The way to the graph server fails: no call outlasts its timeout, every error is mnemic's, and it comes back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from unittest.mock import AsyncMock

import pytest
import pytest_asyncio

from mnemic.errors import MnemicError, StoreFailed
from mnemic.stores.neo4j import Neo4jGraph
from mnemic.testing.graph_store import fragment, names, scope
from tests.bolt_servers import BoltServer
from tests.faults.network_proxy import BlackHole, Corrupt, CutAfter, Fault, FaultProxy, Latency, Reset, Slice
from tests.faults.scale import size

pytestmark = pytest.mark.faults

SECONDS = 0.5
GRACE = 0.1
CALLS = size(8, 50)
TICK = 0.01


class Heartbeat:
    """How many seconds the event loop has been behind: on a loaded machine that is not the graph's doing."""

    def __init__(self) -> None:
        self.behind = 0.0
        self._task = asyncio.create_task(self._beat())

    async def _beat(self) -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(TICK)
            self.behind += max(0.0, time.monotonic() - began - TICK)

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


@pytest_asyncio.fixture
async def proxy(bolt: BoltServer) -> AsyncIterator[FaultProxy]:
    bolt.empty("acme")
    async with FaultProxy(("127.0.0.1", bolt.port)) as proxy:
        yield proxy


@pytest_asyncio.fixture
async def graph(proxy: FaultProxy, bolt: BoltServer) -> AsyncIterator[Neo4jGraph]:
    """A graph that reaches its server through the proxy."""
    host, port = proxy.address
    graph = Neo4jGraph(bolt.url.replace(f"127.0.0.1:{bolt.port}", f"{host}:{port}"), timeout=60)
    await graph.open()
    yield graph
    await graph.close()


@contextmanager
def hurried(graph: Neo4jGraph) -> Iterator[None]:
    """Let each call of the graph take half a second at most: by then its server has planned the statements."""
    connection, patient = graph._connection, graph._connection._seconds
    connection._seconds = SECONDS
    try:
        yield
    finally:
        connection._seconds = patient


@pytest.mark.parametrize(
    "fault",
    [Latency(5.0), BlackHole(), Reset(), Slice(), Corrupt(), CutAfter(40)],
    ids=lambda fault: type(fault).__name__,
)
async def test_a_bad_way_ends_in_time_and_heals(proxy: FaultProxy, graph: Neo4jGraph, fault: Fault) -> None:
    await graph.link(scope(), [fragment("m0", ("a", "knows", "b"))])
    proxy.fault = fault
    late, wrong = [], []
    beat = Heartbeat()
    for number in range(CALLS):
        began, behind = time.monotonic(), beat.behind
        try:
            with hurried(graph):
                await graph.link(scope(), [fragment("m1", ("a", "knows", f"c{number}"))])
        except StoreFailed:
            pass
        except Exception as error:  # noqa: BLE001 - whatever is not mnemic's is wrong
            wrong.append(error)
        spent = time.monotonic() - began - (beat.behind - behind)
        if spent > SECONDS + GRACE:
            late.append(spent)
    await beat.stop()
    assert wrong == []
    assert late == []
    proxy.fault = None
    await healed(graph)
    assert (await names(graph))[0] in ("a", "healed")


async def healed(graph: Neo4jGraph) -> None:
    """Return once a write succeeds again: within five seconds."""
    until = time.monotonic() + 5
    while True:
        try:
            return await graph.link(scope(), [fragment("healed", ("a", "knows", "healed"), day=1)])
        except MnemicError:
            if time.monotonic() > until:
                raise


async def test_nobody_waits_for_a_server_that_is_not_there(bolt: BoltServer) -> None:
    graph = Neo4jGraph("bolt://127.0.0.1:1", timeout=SECONDS)
    await graph.open()
    with pytest.raises(StoreFailed):
        await graph.nodes(scope())
    await graph.close()


async def test_a_cancelled_call_leaves_a_usable_store(graph: Neo4jGraph) -> None:
    await graph.link(scope(), [fragment("m0", ("a", "knows", "b"))])
    for number in range(5):
        call = asyncio.create_task(graph.link(scope(), [fragment(f"m{number}", ("a", "knows", "b"))]))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert sorted(await names(graph)) == ["a", "b"]


async def test_a_killed_server_keeps_what_it_acknowledged(bolt: BoltServer, graph: Neo4jGraph) -> None:
    for number in range(5):
        await graph.link(scope(), [fragment(f"m{number}", ("a", "knows", f"b{number}"))])
    await asyncio.to_thread(bolt.kill)
    with hurried(graph), pytest.raises(StoreFailed):
        await graph.nodes(scope())
    await asyncio.to_thread(bolt.start)
    await healed(graph)
    assert {"a", "b0", "b1", "b2", "b3", "b4"} <= set(await names(graph))


async def test_new_memories_are_linked_by_one_statement_once_the_server_has_planned_it(
    graph: Neo4jGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    await graph.link(scope(), [fragment("m1", ("a", "knows", "b"))])
    while not graph._planned:
        assert graph._planning is not None
        await graph._planning
        graph._plan(scope())
    managed = AsyncMock(side_effect=AssertionError)
    with monkeypatch.context() as patched:
        patched.setattr(graph, "_write", managed)
        await graph.link(scope(), [fragment("m2", ("b", "knows", "c"))])
    await graph.link(scope(), [fragment("m2", ("b", "knows", "d"))])
    assert await names(graph) == ["a", "b", "d"]


async def test_a_statement_that_fails_is_planned_again(graph: Neo4jGraph, proxy: FaultProxy) -> None:
    await graph.link(scope(), [fragment("m1", ("a", "knows", "b"))])
    graph._planned = True
    proxy.fault = BlackHole()
    with hurried(graph), pytest.raises(StoreFailed):
        await graph.link(scope(), [fragment("m2", ("b", "knows", "c"))])
    assert not graph._planned
    proxy.fault = None
    await healed(graph)


async def test_closing_waits_for_the_statement_that_is_being_planned(graph: Neo4jGraph, proxy: FaultProxy) -> None:
    await graph.link(scope(), [fragment("m1", ("a", "knows", "b"))])
    proxy.fault = Latency(0.1)
    graph._planned = False
    graph._plan(scope())
    planning = graph._planning
    assert planning is not None
    await names(graph)
    await graph.close()
    assert planning.done()
    assert not planning.cancelled()
