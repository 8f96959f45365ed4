"""The PostgreSQL store with the server killed, the network gone silent, and many writers at once."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import CommitUnknown, MnemicError, StoreBusy, StoreFailed, StoreUnavailable, VersionConflict
from mnemic.ports import Transaction
from mnemic.stores.audit_chain import first_broken
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.redis import RedisHotSet, RedisLink
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import AuditEvent, Deadline, Level, Memory, OutboxEntry, Vector, Where
from tests.faults.many_processes import crowded_engine, run_crowd
from tests.faults.network_proxy import (
    BlackHole,
    Corrupt,
    CutAfter,
    CutBeforeAnswer,
    Fault,
    FaultProxy,
    Latency,
    Reset,
    Slice,
)
from tests.faults.oracle import ADA, statement
from tests.faults.scale import size
from tests.processes import running
from tests.servers import PostgresServer, in_thread
from tests.valkey import ValkeyServer

EVERYTHING = Where(scopes=(scope(),))
WRITERS = 8
SOCKET = ".s.PGSQL.5432"
KILLS = size(2, 100)
CROWD = 100
STORM = size(20, 100)
HUNG = 60  # seconds after which a call counts as hung


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    """A server that waits for its disk, and that a test may kill."""
    with running(PostgresServer()) as server:
        yield server


# -- the server is killed ---------------------------------------------------------------------------------------------


async def test_what_was_acknowledged_survives_a_killed_server(
    server: PostgresServer, say: Callable[[str], None]
) -> None:
    choice = random.Random(1)
    seen: Counter[str] = Counter()
    acknowledged: dict[str, str] = {}
    store = PostgresStore(server.dsn(), pool_size=4, statement_timeout=5)
    await store.open(EMBEDDER.space)
    for _ in range(KILLS):
        kill = asyncio.create_task(_killed(server, choice.uniform(0.0, 0.3), acknowledged))
        writers = [_write_until_broken(store, acknowledged, seen) for _ in range(4)]
        await asyncio.gather(kill, *writers)
        await asyncio.to_thread(server.start)
        stored = {one.memory_id: one.content for one in await store.newest(EVERYTHING, limit=100_000)}
        assert acknowledged.items() <= stored.items()
        lines = await _whole_audit(store)
        assert first_broken(lines) is None
        assert {line.memory_id for line in lines} == stored.keys()
        assert {entry.memory_id for entry in await store.pending(limit=100_000)} == stored.keys()
        found = await store.match(EVERYTHING, "harbour", limit=100_000)
        assert {entry.memory_id for entry in found} == stored.keys()
    await store.close()
    say(f"{KILLS} server kills: {len(acknowledged)} acknowledged, 0 lost; {dict(seen)}")

    assert len(acknowledged) > KILLS
    assert set(seen) <= {"commit_unknown", "store_unavailable"}


async def _killed(server: PostgresServer, seconds: float, acknowledged: Sized) -> None:
    """Once two more writes are acknowledged, however slow the machine is, and then at any moment."""
    enough = len(acknowledged) + 2
    while len(acknowledged) < enough:  # noqa: ASYNC110 - writers signal with what they wrote alone
        await asyncio.sleep(0.01)
    await asyncio.sleep(seconds)
    await asyncio.to_thread(server.kill)


async def _write_until_broken(store: PostgresStore, acknowledged: dict[str, str], seen: Counter[str]) -> None:
    while True:
        new = memory(f"a harbour {random.random()}")
        try:
            await store.transact(_with_trail(new))
        except StoreFailed as error:
            seen[error.reason] += 1
            return
        acknowledged[new.memory_id] = new.content


def _with_trail(new: Memory) -> Callable[[Transaction], Any]:
    async def work(transaction: Transaction) -> None:
        await transaction.insert(new)
        event = AuditEvent(tenant="acme", action="created", at=START, actor="ada", memory_id=new.memory_id)
        await transaction.append_audit(event)
        entry = OutboxEntry.for_memory(new)
        await transaction.enqueue(entry)

    return work


async def _whole_audit(store: PostgresStore) -> list[AuditEvent]:
    lines: list[AuditEvent] = []
    while page := await store.audit("acme", after=len(lines)):
        lines += page
    return lines


async def test_a_stopped_server_is_unavailable_and_then_used_again(server: PostgresServer) -> None:
    store = PostgresStore(server.dsn(), statement_timeout=5)
    await store.open(EMBEDDER.space)
    await remember(store, memory("before"))
    server.kill()
    with pytest.raises(StoreUnavailable):
        await store.count(EVERYTHING)
    with pytest.raises(StoreUnavailable):
        await remember(store, memory("meanwhile"))
    await asyncio.to_thread(server.start)
    await remember(store, memory("after"))
    assert [one.content for one in await store.newest(EVERYTHING, limit=9)] == ["after", "before"]
    await store.close()


# -- the network ------------------------------------------------------------------------------------------------------


def wire_to(server: PostgresServer, folder: Path) -> FaultProxy:
    return FaultProxy(server.folder / SOCKET, listen=folder / SOCKET)


async def test_a_network_gone_silent_ends_with_the_deadline(
    postgres: PostgresServer, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    postgres.database(tmp_path)
    folder = tmp_path_factory.mktemp("w")
    async with wire_to(postgres, folder) as wire:
        store = PostgresStore(postgres.dsn(folder=folder), statement_timeout=1)
        await store.open(EMBEDDER.space)
        await remember(store, memory("before"))
        wire.fault = BlackHole()
        deadline = Deadline.after(timedelta(seconds=0.3), time.monotonic)
        async with asyncio.timeout(HUNG):
            with pytest.raises(StoreBusy):
                await store.transact(lambda transaction: transaction.insert(memory("lost")), deadline=deadline)
            with pytest.raises(StoreBusy):
                await store.count(EVERYTHING)
        wire.fault = None
        assert await store.count(EVERYTHING) == 1
        await store.close()


async def test_a_connection_lost_during_the_commit_leaves_it_unknown(
    postgres: PostgresServer, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    postgres.database(tmp_path)
    folder = tmp_path_factory.mktemp("w")
    async with wire_to(postgres, folder) as wire:
        store = PostgresStore(postgres.dsn(folder=folder), statement_timeout=5)
        wire.fault = CutBeforeAnswer(b"COMMIT\x00")
        await store.open(EMBEDDER.space)
        with pytest.raises(CommitUnknown):
            await remember(store, memory("perhaps"))
        await store.close()
    again = PostgresStore(postgres.dsn())
    await again.open(EMBEDDER.space)
    assert await again.count(EVERYTHING) == 1
    await again.close()


async def test_a_connection_lost_before_the_commit_is_replaced(postgres: PostgresServer, tmp_path: Path) -> None:
    store = PostgresStore(postgres.database(tmp_path), pool_size=3)
    await store.open(EMBEDDER.space)
    await remember(store, memory("before"))
    tries = 0

    async def work(transaction: Transaction) -> None:
        nonlocal tries
        tries += 1
        await transaction.insert(memory("after"))
        if tries == 1:
            postgres.sql(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE application_name = 'mnemic' AND state = 'idle in transaction'"
            )
        await transaction.find_key(scope(), "home")

    await store.transact(work)
    assert tries == 2
    assert await store.count(EVERYTHING) == 2
    await store.close()


async def test_a_lock_that_is_never_given_back_is_busy(postgres: PostgresServer, tmp_path: Path) -> None:
    dsn = postgres.database(tmp_path)
    first, second = PostgresStore(dsn), PostgresStore(dsn, statement_timeout=0.3)
    await first.open(EMBEDDER.space)
    await second.open(EMBEDDER.space)
    entered = asyncio.Event()

    async def hold(transaction: Transaction) -> None:
        await transaction.find_key(scope(), "home")
        with pytest.raises(StoreBusy):
            in_thread(lambda: _insert_late(dsn))
        entered.set()

    await first.transact(hold)
    assert entered.is_set()
    await remember(second, memory("free again"))
    assert await second.count(EVERYTHING) == 1
    await first.close()
    await second.close()


async def _insert_late(dsn: str) -> None:
    store = PostgresStore(dsn, statement_timeout=0.3)
    await store.open(EMBEDDER.space)
    try:
        await remember(store, memory("late"))
    finally:
        await store.close()


# -- many at once -----------------------------------------------------------------------------------------------------


def engine_on(dsn: str) -> MemoryEngine:
    return MemoryEngine(store=PostgresStore(dsn, pool_size=4), embedder=WordEmbedder())


async def test_eight_writers_of_their_own_lose_nothing(
    postgres: PostgresServer, tmp_path: Path, say: Callable[[str], None]
) -> None:
    dsn, turns = postgres.database(tmp_path), size(10, 150)

    async def write(number: int) -> list[str]:
        choice = random.Random(number)
        async with engine_on(dsn) as engine:
            return [(await engine.add(statement(choice), actor=ADA)).outcome.value for _ in range(turns)]

    async with engine_on(dsn):
        outcomes = await asyncio.gather(*(write(number) for number in range(WRITERS)))
    seen = Counter(outcome for written in outcomes for outcome in written)
    say(f"{WRITERS} writers x {turns}: {dict(seen)}")
    async with engine_on(dsn) as engine:
        assert len(await engine.list(actor=ADA, limit=10_000)) == WRITERS * turns
    assert seen == {"created": WRITERS * turns}


async def test_the_same_said_by_eight_makes_one_memory_each(
    postgres: PostgresServer, tmp_path: Path, say: Callable[[str], None]
) -> None:
    dsn, turns = postgres.database(tmp_path), size(10, 100)

    async def write() -> list[str]:
        choice = random.Random(0)
        async with engine_on(dsn) as engine:
            return [(await engine.add(statement(choice), actor=ADA)).outcome.value for _ in range(turns)]

    async with engine_on(dsn):
        outcomes = await asyncio.gather(*(write() for _ in range(WRITERS)))
    seen = Counter(outcome for written in outcomes for outcome in written)
    say(f"{WRITERS} writers x {turns} identical: {dict(seen)}")
    async with engine_on(dsn) as engine:
        assert len(await engine.list(actor=ADA, limit=10_000)) == turns
    assert seen == {"created": turns, "refreshed": (WRITERS - 1) * turns}


async def test_fifty_editors_of_one_memory(
    postgres: PostgresServer, tmp_path: Path, say: Callable[[str], None]
) -> None:
    """Each reads the version and changes that one, as often as it takes."""
    dsn, editors = postgres.database(tmp_path), 50
    async with engine_on(dsn) as engine:
        memory_id = (await engine.add("Nobody has edited this", actor=ADA)).memory_id
        assert memory_id is not None
        lost = 0

        async def edit(engine: MemoryEngine, number: int) -> None:
            nonlocal lost
            while True:
                version = (await engine.get(memory_id, actor=ADA)).version
                try:
                    await engine.update(memory_id, f"Edited by {number}", actor=ADA, expected_version=version)
                    return
                except VersionConflict:
                    lost += 1

        async with engine_on(dsn) as other:
            await asyncio.gather(*(edit((engine, other)[number % 2], number) for number in range(editors)))
        history = await engine.history(memory_id, actor=ADA)
    say(f"{editors} editors of one memory: {lost} had to look again, version {history[-1].version}")
    assert [memory.version for memory in history] == list(range(1, editors + 2))
    assert {memory.content for memory in history[1:]} == {f"Edited by {number}" for number in range(editors)}


class Gate(WordEmbedder):
    """An embedder that takes as long as the test likes."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = 0
        self.arrived = asyncio.Event()
        self.opened = asyncio.Event()

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        self.waiting += 1
        if self.waiting == CROWD:
            self.arrived.set()
        await self.opened.wait()
        return await super().embed(texts, deadline=deadline)


async def test_a_slow_embedder_holds_no_connection(postgres: PostgresServer, tmp_path: Path) -> None:
    """Ten connections, a hundred writers waiting for their vectors: whoever only reads does not wait for them."""
    choice, gate = random.Random(9), Gate()
    store = PostgresStore(postgres.database(tmp_path), pool_size=10)
    async with MemoryEngine(store=store, embedder=gate) as engine:
        writers = [asyncio.create_task(engine.add(statement(choice), actor=ADA)) for _ in range(CROWD)]
        async with asyncio.timeout(HUNG):
            await gate.arrived.wait()
            assert await engine.count(actor=ADA) == 0
            assert not any(writer.done() for writer in writers)
            gate.opened.set()
            receipts = await asyncio.gather(*writers)
        assert await engine.count(actor=ADA) == len(receipts) == CROWD


async def test_more_clients_than_the_server_takes(say: Callable[[str], None]) -> None:
    """A storm of clients on a server with few connections: who finds no place is told so, and nothing is lost."""
    server = PostgresServer("max_connections=12", "superuser_reserved_connections=0", "fsync=off")
    seen: Counter[str] = Counter()

    async def insist(call: Callable[[], Awaitable[Any]]) -> None:
        while True:
            try:
                await call()
                return
            except StoreFailed as error:
                seen[error.reason] += 1
                await asyncio.sleep(0)

    async def client(number: int) -> None:
        store = PostgresStore(server.dsn(), pool_size=2)
        await insist(lambda: store.open(EMBEDDER.space))
        for turn in range(3):
            new = memory(f"harbour {number} {turn}")
            await insist(lambda new=new: store.transact(lambda transaction: transaction.insert(new)))
        await store.close()

    with running(server):
        async with asyncio.timeout(4 * HUNG):
            await asyncio.gather(*(client(number) for number in range(STORM)))
        store = PostgresStore(server.dsn())
        await store.open(EMBEDDER.space)
        assert await store.count(EVERYTHING) == 3 * STORM
        await store.close()
    say(f"{STORM} clients, 12 connections: {3 * STORM} written, 0 lost; told {dict(seen)}")
    assert set(seen) <= {"store_unavailable", "store_busy"}


async def examined(dsn: str, valkey: ValkeyServer) -> list[Memory]:
    """What ADA has, newest first, once the audit, the outbox and the hot set were found to agree with it."""
    async with crowded_engine(dsn, valkey.url) as engine:
        kept = await engine.list(actor=ADA, limit=10_000)
        assert await engine.store.pending(limit=1) == []
        lines: list[AuditEvent] = []
        while page := await engine.store.audit("default", after=len(lines)):
            lines += page
        assert first_broken(lines) is None
        assert {one.memory_id for one in kept} <= {line.memory_id for line in lines}
        await engine.hot(actor=ADA)  # fills it, where it was not
        hot = RedisHotSet(RedisLink(valkey.url, seconds=30))
        known = await hot.newest(ADA.scope(Level.USER), limit=10_000)
        await hot.close()
        assert known is not None
        assert set(known.memory_ids) <= {one.memory_id for one in kept}
        return kept


async def test_eight_processes_read_then_write(
    postgres: PostgresServer, valkey: ValkeyServer, tmp_path: Path, say: Callable[[str], None]
) -> None:
    dsn, turns = postgres.database(tmp_path), size(15, 150)
    seen = run_crowd(dsn, "each_its_own", processes=8, turns=turns, sessions=valkey.url)
    kept = await examined(dsn, valkey)
    say(f"PostgreSQL and Valkey, 8 processes x {turns} adds: {dict(seen)}, {len(kept)} memories")
    assert seen == {"created": 8 * turns}
    assert len(kept) == 8 * turns


def test_everybody_opens_a_new_database_first(
    postgres: PostgresServer, valkey: ValkeyServer, tmp_path: Path, say: Callable[[str], None]
) -> None:
    processes, rounds = 20, size(1, 100)
    for number in range(rounds):
        dsn = postgres.database(tmp_path / str(number))
        assert run_crowd(dsn, "one_only", processes=processes, sessions=valkey.url) == {"created": processes}
        assert postgres.sql("SELECT count(*) AS found FROM mnemic.memory")[0]["found"] == processes
    say(f"PostgreSQL and Valkey, {processes} first openers x {rounds} rounds: 0 errors")


async def test_the_same_said_by_all_makes_one_memory_each(
    postgres: PostgresServer, valkey: ValkeyServer, tmp_path: Path, say: Callable[[str], None]
) -> None:
    dsn, turns = postgres.database(tmp_path), size(15, 100)
    seen = run_crowd(dsn, "all_the_same", processes=8, turns=turns, sessions=valkey.url)
    kept = await examined(dsn, valkey)
    say(f"PostgreSQL and Valkey, 8 processes x {turns} identical adds: {dict(seen)}, {len(kept)} memories")
    assert seen == {"created": turns, "refreshed": 7 * turns}
    assert len(kept) == turns


async def test_editors_of_one_memory(
    postgres: PostgresServer, valkey: ValkeyServer, tmp_path: Path, say: Callable[[str], None]
) -> None:
    dsn = postgres.database(tmp_path)
    async with crowded_engine(dsn, valkey.url) as engine:
        memory_id = (await engine.add("Nobody has edited this", actor=ADA)).memory_id
        assert memory_id is not None
    turns = size(3, 10)
    seen = run_crowd(dsn, "editors", processes=5, turns=turns, sessions=valkey.url)
    async with crowded_engine(dsn, valkey.url) as engine:
        history = await engine.history(memory_id, actor=ADA)
    say(f"PostgreSQL and Valkey, {5 * turns} editors of one memory: {dict(seen)}, version {history[-1].version}")
    assert seen["at_once"] == 1
    assert seen["later"] == 5 * turns - 1
    assert set(seen) == {"at_once", "later", "version_conflict"}
    assert [memory.version for memory in history] == list(range(1, 5 * turns + 2))
    assert len(await examined(dsn, valkey)) == 1


CALLS = size(4, 100)
LIMIT = 0.5


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
