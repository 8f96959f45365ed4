"""The PostgreSQL store behind a network that fails in every way: calls end by their deadline, with an error that says
what happened, and nothing that was acknowledged is missing afterwards.

How long the slowest call took is said at full size, not asserted: a loaded machine is not a bug.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import CommitUnknown, MnemicError, StoreFailed
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import EMBEDDER, memory, scope
from mnemic.types import Deadline, Where
from tests.faults.network_proxy import BlackHole, Corrupt, CutAfter, Fault, FaultProxy, Latency, Reset, Slice
from tests.faults.oracle import ADA, statement
from tests.faults.scale import size
from tests.servers import PostgresServer

SOCKET = ".s.PGSQL.5432"
EVERYTHING = Where(scopes=(scope(),))
CALLS = size(4, 100)
LIMIT = 0.5
HUNG = 60  # seconds after which a call counts as hung

FAULTS: dict[str, Callable[[], Fault]] = {
    "late": lambda: Latency(0.005),
    "too_late": lambda: Latency(2.0),
    "black_hole": BlackHole,
    "reset": Reset,
    "slices": Slice,
    "corrupt": Corrupt,
    "cut": lambda: CutAfter(150),
}
ANSWERED = 12000
"""Octets, about twice as many as the server answers to one write."""
HARMLESS = {"late", "slices"}


@dataclass
class Calls:
    """What calls ended with, and how long they took."""

    seen: Counter[str] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    @contextmanager
    def one(self) -> Iterator[None]:
        """A call may fail, with an error of ours."""
        began = time.monotonic()
        try:
            yield
            self.seen["ok"] += 1
        except MnemicError as error:
            self.seen[error.reason] += 1
        self.seconds.append(time.monotonic() - began)

    def __str__(self) -> str:
        late = sum(took > LIMIT + 0.1 for took in self.seconds)
        slowest = f"slowest {max(self.seconds):.3f} s"
        return f"{len(self.seconds)} calls, {late} past {LIMIT} s + 0.1, {slowest}; {dict(self.seen)}"


def wire_to(server: PostgresServer, folder: Path) -> FaultProxy:
    return FaultProxy(server.folder / SOCKET, listen=folder / SOCKET)


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("w")  # a short path: it holds a socket


@pytest.mark.parametrize("name", FAULTS)
async def test_calls_end_by_their_deadline_and_say_why(
    postgres: PostgresServer, tmp_path: Path, folder: Path, name: str, say: Callable[[str], None]
) -> None:
    postgres.database(tmp_path)
    calls, acknowledged = Calls(), set()
    async with wire_to(postgres, folder) as wire:
        store = PostgresStore(postgres.dsn(folder=folder), statement_timeout=LIMIT)
        await _patiently(lambda: store.open(EMBEDDER.space))
        for turn in range(CALLS):
            wire.fault = FAULTS[name]()
            new = memory(f"harbour {turn}")
            async with asyncio.timeout(HUNG):
                with calls.one():
                    deadline = Deadline.after(timedelta(seconds=LIMIT), time.monotonic)
                    await store.transact(lambda transaction, new=new: transaction.insert(new), deadline=deadline)
                    acknowledged.add(new.memory_id)
                with calls.one():
                    await store.match(EVERYTHING, "harbour", limit=5)
        wire.fault = None
        await _patiently(lambda: store.transact(lambda transaction: transaction.insert(memory("after"))))
        await store.close()
    say(f"{name}: {calls}")
    assert acknowledged <= await _stored(postgres)
    assert all(reason == "ok" or reason.startswith(("store_", "commit_unknown")) for reason in calls.seen), calls.seen
    if name in HARMLESS:
        assert set(calls.seen) <= {"ok", "store_busy", "commit_unknown"}
    elif name != "corrupt":
        assert calls.seen["ok"] == 0


async def _patiently(call: Callable[[], Awaitable[object]]) -> None:
    """Again until it succeeds: the machine may be slow, and a first call may meet connections that were broken."""
    async with asyncio.timeout(HUNG):
        while True:
            try:
                await call()
                return
            except StoreFailed:
                await asyncio.sleep(0)


async def _stored(postgres: PostgresServer) -> set[str]:
    store = PostgresStore(postgres.dsn())
    await store.open(EMBEDDER.space)
    try:
        return {one.memory_id for one in await store.newest(EVERYTHING, limit=10_000)}
    finally:
        await store.close()


@pytest.mark.parametrize("name", ["too_late", "black_hole", "reset", "cut"])
async def test_a_search_that_could_not_look_says_so(
    postgres: PostgresServer, tmp_path: Path, folder: Path, name: str
) -> None:
    postgres.database(tmp_path)
    async with wire_to(postgres, folder) as wire:
        store = PostgresStore(postgres.dsn(folder=folder), statement_timeout=2)
        async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
            await engine.add("My sister lives in Bergen", actor=ADA)
            assert (await engine.search("Where does my sister live?", actor=ADA)).hits
            wire.fault = FAULTS[name]()
            async with asyncio.timeout(HUNG):
                with pytest.raises(MnemicError) as refused:
                    await engine.search("Where does my sister live?", actor=ADA)
            assert refused.value.reason.startswith("store_")
            wire.fault = None
            await _patiently(lambda: engine.count(actor=ADA))
            assert (await engine.search("Where does my sister live?", actor=ADA)).hits


async def test_a_write_whose_answer_was_lost_is_made_once(
    postgres: PostgresServer, tmp_path: Path, folder: Path, say: Callable[[str], None]
) -> None:
    """The connection breaks after ever more bytes of the answers; whatever the caller was told, it asks again."""
    postgres.database(tmp_path)
    choice, seen = random.Random(2), Counter[str]()
    said = [statement(choice) for _ in range(size(6, 120))]
    async with wire_to(postgres, folder) as wire:
        store = PostgresStore(postgres.dsn(folder=folder), statement_timeout=2)
        async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
            for turn, text in enumerate(said):
                wire.fault = CutAfter(20 + ANSWERED * turn // len(said))
                try:
                    receipt = await engine.add(text, actor=ADA, idempotency_key=str(turn))
                    seen[receipt.outcome.value] += 1
                except (StoreFailed, CommitUnknown) as error:
                    seen[error.reason] += 1
                wire.fault = None
                await _patiently(lambda turn=turn, text=text: engine.add(text, actor=ADA, idempotency_key=str(turn)))
            kept = await engine.list(actor=ADA, limit=10_000)
    say(f"{len(said)} writes cut anywhere: {dict(seen)}")
    assert len(seen) > 1, "every write was cut before its end, or none"
    assert sorted(one.content for one in kept) == sorted(said)
