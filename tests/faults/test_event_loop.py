"""Nothing blocks the event loop: while the service answers, its loop's thread opens no file, no socket, and sleeps not.

CPython's audit events tell of every such call, whoever makes it. Each route is called once before, so that what is
loaded at first use is loaded.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from threading import get_ident
from typing import Any

import apsw
import httpx
import onnxruntime
import pytest
from blockbuster import BlockBuster, BlockBusterFunction, BlockingError

from mnemic.engine import MemoryEngine
from mnemic.policy.grant import Grant
from mnemic.ports import RecordStore
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.stores.redis import RedisLink, RedisSessions
from mnemic.stores.sqlite import SqliteStore
from mnemic.stores.sqlite.transaction import SqliteGraph
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Message
from mnemic.write.draft import WriteRules
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys, Role
from mnemic_server.loop_lag import watched_loop
from tests.faults.operations import OPERATIONS, SAID_AT
from tests.faults.scale import size
from tests.faults.stores import NAMES, store_named
from tests.valkey import ValkeyServer

BLOCKING = (
    "open", "time.sleep", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "os.listdir", "os.scandir",
    "os.rename", "os.remove", "shutil.", "glob.glob", "tempfile.", "urllib.",
)  # fmt: skip
STEPS = [{"action": "call", "result": "nobody", "ok": False}]
_watched: dict[int, list[str]] = {}
_hooked: list[bool] = []


@contextmanager
def watching() -> Iterator[list[str]]:
    """The blocking calls that this thread makes inside."""
    if not _hooked:  # a hook stays for as long as the process does
        _hooked.append(True)
        sys.addaudithook(_told)
    seen = _watched[threading.get_ident()] = []
    try:
        yield seen
    finally:
        del _watched[threading.get_ident()]


def _told(event: str, _: Any) -> None:
    seen = _watched.get(threading.get_ident())
    if seen is not None and event.startswith(BLOCKING):
        seen.append(event)


def calls(number: int) -> list[tuple[str, str, Any]]:
    """One call of each kind; what is written differs by `number`."""
    return [
        ("POST", "/v1/memories", {"content": f"I have {number} boats.", "key": "boats"}),
        ("POST", "/v1/memories/batch", {"memories": [{"content": f"The boat number {number} is green."}]}),
        ("POST", "/v1/capture", {"message": "I live in Oslo and I love kayaking."}),
        ("POST", "/v1/messages", {"messages": [{"content": f"See you at {number}!"}]}),
        ("POST", "/v1/search", {"query": "how many boats?"}),
        ("POST", "/v1/context", {"query": "how many boats?"}),
        ("POST", "/v1/runs", {"goal": "Plan a trip by boat"}),
        ("POST", "/v1/episodes", {"task": f"Rent boat {number}", "steps": STEPS, "outcome": "failure"}),
        ("POST", "/v1/entities/relations", {"source": "me", "relation": "friend", "target": f"Robert{number}"}),
        ("POST", f"/v1/imports/boats{number}", {"at": 0, "memories": [{"content": "Boats float."}]}),
        *(
            ("GET", path, None)
            for path in (
                "/v1/memories", "/v1/episodes", "/v1/entities", "/v1/entities/neighbours", "/v1/entities/graph",
                "/v1/reviews", "/v1/audit",
                "/v1/export", "/v1/runs", "/v1/overview", "/v1/quotas", "/v1/kinds", "/v1/consents", "/metrics",
                "/readyz",
            )
        ),
    ]  # fmt: skip


@pytest.mark.faults
async def test_no_route_blocks_the_event_loop(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    engine = MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder(), graph=SqliteGraph(path))
    transport = httpx.ASGITransport(app=create_app(engine, per_second=1e9, burst=10**9))
    async with engine, httpx.AsyncClient(transport=transport, base_url="http://s") as client:
        _, text = await ApiKeys(engine.store, engine.clock).create(tenant="acme", roles=list(Role), user="ana")
        headers = {"Authorization": f"Bearer {text}"}
        found: dict[str, list[str]] = {}
        for number in (1, 2):
            for method, url, body in calls(number):
                with watching() as seen:
                    answer = await client.request(method, url, json=body, headers=headers)
                assert answer.status_code < 300, (url, answer.text)
                if number == 2 and seen:
                    found[url] = seen
        assert found == {}


def test_the_detector_sees_what_blocks(tmp_path: Path) -> None:
    with watching() as seen:
        (tmp_path / "file").write_text("x", encoding="utf-8")
    assert seen == ["open"]


async def test_a_loop_that_was_held_up_is_told_late() -> None:
    late: list[float] = []
    async with watched_loop(late.append, every=0.0):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await asyncio.Event().wait()
    assert late
    assert min(late) >= 0


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
