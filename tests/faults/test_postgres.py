"""The PostgreSQL store with the server killed, the network gone silent, and many writers at once."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence, Sized
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import CommitUnknown, StoreBusy, StoreFailed, StoreUnavailable, VersionConflict
from mnemic.ports import Transaction
from mnemic.stores.audit_chain import first_broken
from mnemic.stores.postgres import PostgresStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store import EMBEDDER, memory, remember, scope
from mnemic.testing.record_store.fixtures import START
from mnemic.types import AuditEvent, Deadline, Memory, OutboxEntry, Vector, Where
from tests.faults.network_proxy import BlackHole, CutBeforeAnswer, FaultProxy
from tests.faults.oracle import ADA, statement
from tests.faults.scale import size
from tests.processes import running
from tests.servers import PostgresServer, in_thread

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
