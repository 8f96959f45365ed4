"""No verb holds the event loop that it is called on: no file, socket, database or model call is made there (S11)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import get_ident

import apsw
import onnxruntime
import pytest
from blockbuster import BlockBuster, BlockBusterFunction, BlockingError

from mnemic.engine import MemoryEngine
from mnemic.policy.grant import Grant
from mnemic.ports import RecordStore
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.redis import RedisLink, RedisSessions
from mnemic.testing.clock import ManualClock
from mnemic.types import Actor, Message
from mnemic.write.draft import WriteRules
from tests.faults.operations import OPERATIONS, SAID_AT
from tests.faults.scale import size
from tests.faults.stores import NAMES, store_named
from tests.valkey import ValkeyServer

ANA = Actor(tenant="acme", user="ana", agent="guide", session="s")
EVERY = timedelta(milliseconds=10)
"""The time between two requests, and between two looks at how late the loop is."""


@contextmanager
def watched() -> Iterator[None]:
    """Makes a call that blocks raise, where an event loop runs: of the standard library, of SQLite, of the model."""
    guard = BlockBuster()
    guard.functions["apsw.execute"] = BlockBusterFunction(apsw.Cursor, "execute")
    guard.functions["onnxruntime.run"] = BlockBusterFunction(onnxruntime.InferenceSession, "run")
    here = get_ident()
    for function in guard.functions.values():
        function.can_block_predicate = _elsewhere(here, function.can_block_predicate)
    guard.activate()
    try:
        yield
    finally:
        guard.deactivate()


def _elsewhere(here: int, allowed: Callable[..., bool]) -> Callable[..., bool]:
    """A store may have a loop of its own, in its own thread: what runs there is no matter of the caller's."""
    return lambda *args, **more: get_ident() != here or allowed(*args, **more)


@pytest.fixture(params=NAMES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RecordStore:
    return store_named(request, tmp_path)


@pytest.fixture
def engine(store: RecordStore) -> MemoryEngine:
    return MemoryEngine(
        store=store,
        embedder=MiniLmEmbedder(threads=1),
        clock=ManualClock(),
        rules=WriteRules(conflict=0.5),
        grant=Grant(levels=frozenset({"user"})),
    )


async def test_no_verb_blocks_the_loop(engine: MemoryEngine) -> None:
    with watched():
        await every_verb(engine)


async def every_verb(engine: MemoryEngine) -> None:
    async with engine:
        for name, (prepare, operation) in OPERATIONS.items():
            actor = Actor(tenant=name, user="ana")
            await operation(engine, actor, await prepare(engine, actor))
            await engine.search("Where is the spare key?", actor=actor)
            await engine.audit(actor=actor)
            await engine.erase("ana", actor=actor)
        assert not [memory async for memory in engine.export(actor=ANA)]


async def test_conversations_on_redis_do_not_block_the_loop(valkey: ValkeyServer) -> None:
    sessions, scope = RedisSessions(RedisLink(valkey.url)), ANA.scope("session")
    message = Message(role="user", content="Where is the ferry?", session="s", sent_at=SAID_AT)
    with watched():
        await sessions.append(scope, message, ttl=timedelta(hours=1), keep=10)
        assert [one.content for one in await sessions.tail(scope, limit=5)] == [message.content]
        await sessions.close()


def run_the_model() -> None:
    onnxruntime.InferenceSession.run(None, None, {})


def run_a_statement() -> None:
    apsw.Connection(":memory:").cursor().execute("SELECT 1")


@pytest.mark.parametrize("call", [run_the_model, run_a_statement, lambda: time.sleep(0)], ids=["model", "sql", "sleep"])
async def test_the_watch_sees_a_call_that_blocks(call: Callable[[], None]) -> None:
    with watched(), pytest.raises(BlockingError):
        call()


async def test_the_loop_stays_free_at_100_requests_a_second(engine: MemoryEngine, say: Callable[[str], None]) -> None:
    requests, late = size(100, 3_000), []

    async def look() -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(EVERY.total_seconds())
            late.append(time.monotonic() - began - EVERY.total_seconds())

    async def ask(number: int) -> int:
        if number % 10 == 0:
            await engine.add(f"Stop {number} is a harbour.", actor=ANA)
        return len((await engine.search("Which stop is a harbour?", actor=ANA)).hits)

    async with engine:
        await engine.add("Lunch is at noon.", actor=ANA)
        watch, asked = asyncio.create_task(look()), []
        for number in range(requests):
            asked.append(asyncio.create_task(ask(number)))
            await asyncio.sleep(EVERY.total_seconds())
        found = await asyncio.gather(*asked)
        watch.cancel()
    late.sort()
    p50, p99 = (1000 * late[int(len(late) * share)] for share in (0.5, 0.99))
    say(f"{type(engine.store).__name__}: {requests} requests, 100 a second: loop late p50 {p50:.1f} p99 {p99:.1f} ms")
    assert min(found) > 0
