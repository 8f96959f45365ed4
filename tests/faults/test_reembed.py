"""To another embedder while everything goes on: words find throughout, no memory is without a vector after (S14)."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import EmbedderFailed, SpaceMismatch, StoreFailed
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.maintenance.reembed import BATCH
from mnemic.ports import RecordStore, Snapshot
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Deadline, Level, Memory, Status, Vector, VectorSpace, Where
from tests.faults.failing_calls import FailingEmbedder
from tests.faults.scale import size
from tests.servers import PostgresServer, sql_at

ANA = Actor(user="ana")
TENANTS = ("default", "rival")
NEW = 768


class Renamed(WordEmbedder):
    """Vectors as long as before, and of another model."""

    def __init__(self) -> None:
        super().__init__()
        self._space = VectorSpace(model="another", dimension=self._space.dimension)


@pytest.fixture(params=["inprocess", "sqlite", "sqlite_sealed", "postgres", "postgres_sealed"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RecordStore:
    """Every store, those with files plain and sealed."""
    if request.param == "inprocess":
        return InProcessStore()
    keyring = None
    if request.param.endswith("sealed"):
        MasterKeys.make(tmp_path / "master.key")
        keyring = KeyFolder(tmp_path / "keys", tmp_path / "master.key")
    if request.param.startswith("sqlite"):
        return SqliteStore(tmp_path / "m.db", durability="fast", keyring=keyring, seals=keyring is not None)
    server: PostgresServer = request.getfixturevalue("postgres")
    return PostgresStore(server.database(tmp_path), keyring=keyring, seals=keyring is not None)


def statement(number: int) -> str:
    return f"Ship{number} lies in harbour{number * 7}."


async def planted(engine: MemoryEngine, number: int) -> None:
    """Memories of two tenants, in every state that one comes to."""
    for tenant in TENANTS:
        actor = Actor(tenant=tenant, user="ana")
        for one in range(number):
            await engine.add(statement(one), actor=actor)
        await engine.add("aisle", key="seat", actor=actor)
        await engine.add("window", key="seat", actor=actor)
        await engine.add("Answer in rhymes.", kind="persona", actor=actor)


async def vectors(store: RecordStore) -> list[Vector | None]:
    held = [one for tenant in TENANTS for one in await store.scan(tenant, statuses=list(Status), limit=100_000)]
    return [memory.vector for memory in held]


@pytest.mark.parametrize("successor", [lambda: WordEmbedder(NEW), Renamed], ids=["longer", "as_long"])
async def test_words_find_throughout_and_no_memory_is_without_vector_after(
    store: RecordStore, successor: Callable[[], WordEmbedder], say: Callable[[str], None]
) -> None:
    number = size(40, 5000)
    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        await planted(engine, number)
        enough = asyncio.Event()
        crowd = [asyncio.create_task(_write(engine, enough)), asyncio.create_task(_search(engine, enough, number))]
        down = FailingEmbedder(successor())
        down.nth.fail(2)
        with pytest.raises(EmbedderFailed):
            await engine.reembed(down)
        assert len(await store.memories_without_vector(limit=10_000)) >= 2 * number - BATCH
        (found,) = (await engine.search("ship3 lies", actor=ANA, top_k=1)).hits
        assert set(found.ranks) >= {"vector", "keyword"}
        new = successor()
        done = await engine.reembed(new)
        enough.set()
        written, (searches, degraded) = await asyncio.gather(*crowd)
        held = await vectors(store)
        assert len(held) == 2 * (number + 3) + written
        assert {None if one is None else len(one) for one in held} == {4 * new.space.dimension}
        assert done.filled >= 2 * number - BATCH
        assert searches > 0
        assert degraded <= 5  # questions that met the change itself
        hit = (await engine.search(statement(number - 1), actor=ANA, top_k=1)).hits[0]
        assert (hit.memory.content, hit.ranks["vector"].position) == (statement(number - 1), 1)
        assert hit.memory.vector == new.vector(statement(number - 1))
        assert (await engine.add("After the change.", actor=ANA)).stored
    meanwhile = f"{written} written, {searches} searches, {degraded} of them without vectors"
    say(f"{len(held)} memories re-embedded; meanwhile {meanwhile}")


async def _write(engine: MemoryEngine, enough: asyncio.Event) -> int:
    number = 0
    while not enough.is_set():
        assert (await engine.add(f"Written meanwhile as note{number}.", actor=ANA)).stored
        number += 1
        await asyncio.sleep(0.02)
    return number


async def _search(engine: MemoryEngine, enough: asyncio.Event, known: int) -> tuple[int, int]:
    searches = degraded = 0
    while not enough.is_set():
        result = await engine.search(f"ship{searches % known} lies", actor=ANA, top_k=3)
        assert result.hits[0].memory.content == statement(searches % known)
        searches += 1
        degraded += result.degraded
        await asyncio.sleep(0.01)
    return searches, degraded


@pytest.mark.parametrize("successor", [lambda: WordEmbedder(NEW), Renamed], ids=["longer", "as_long"])
async def test_while_the_old_vectors_are_given_up_searches_have_the_new_ones(
    store: RecordStore, successor: Callable[[], WordEmbedder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a large store that takes its time."""
    clearing, cleared = asyncio.Event(), asyncio.Event()

    async def held_up() -> None:
        clearing.set()
        await cleared.wait()

    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        await planted(engine, 3)
        monkeypatch.setattr(store, "clear_space", held_up)
        changing = asyncio.create_task(engine.reembed(successor()))
        await clearing.wait()
        result = await engine.search(statement(2), actor=ANA, top_k=1)
        assert not result.degraded
        assert result.hits[0].ranks["vector"].position == 1
        assert (await engine.add("Written meanwhile.", actor=ANA)).stored
        cleared.set()
        await changing


async def test_a_vector_of_the_old_model_is_compared_with_none_of_the_new(store: RecordStore) -> None:
    """Also where both are as long: what came of it would look like a result."""
    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        await planted(engine, 3)
        new = Renamed()
        await store.begin_space(new.space)
        waiting = await store.memories_without_vector(limit=100)
        await store.fill([(one, new.vector(one.content)) for one in waiting])
        assert await store.switch_space()
        result = await engine.search("ship2 lies", actor=ANA, top_k=1)
        assert dict(result.errors) == {"vector": "embedding_space_mismatch"}
        assert result.hits[0].memory.content == statement(2)


async def test_who_still_has_the_old_embedder_finds_by_words_and_says_so(
    tmp_path: Path, postgres: PostgresServer
) -> None:
    for place in ("sqlite", "postgres"):
        stores: list[RecordStore] = (
            [SqliteStore(tmp_path / "m.db") for _ in range(2)]
            if place == "sqlite"
            else [PostgresStore(postgres.database(tmp_path)) for _ in range(2)]
        )
        async with (
            MemoryEngine(store=stores[0], embedder=WordEmbedder()) as one,
            MemoryEngine(store=stores[1], embedder=WordEmbedder()) as other,
        ):
            await planted(other, 5)
            assert not (await other.search("ship3 lies", actor=ANA)).degraded
            await one.reembed(WordEmbedder(NEW))
            result = await other.search("ship3 lies", actor=ANA)
            assert result.hits[0].memory.content == statement(3)
            assert result.errors["vector"] == "embedding_space_mismatch"
            with pytest.raises(SpaceMismatch):
                await other.add("Something new.", actor=ANA)
            await one.add("Something newer.", actor=ANA)
            assert (await other.search("newer", actor=ANA)).hits[0].memory.content == "Something newer."


async def test_a_read_that_meets_the_change_itself_is_done_again(tmp_path: Path, postgres: PostgresServer) -> None:
    """The first statement fails, for its plan is outdated, and with it all that follow in its transaction: whoever
    goes on without the list that failed would go on without any.
    """
    stores = [PostgresStore(postgres.database(tmp_path)) for _ in range(2)]
    async with (
        MemoryEngine(store=stores[0], embedder=WordEmbedder()) as one,
        MemoryEngine(store=stores[1], embedder=WordEmbedder()) as other,
    ):
        where, found = Where(scopes=ANA.scopes([Level.USER])), list[int]()

        async def words(snapshot: Snapshot) -> int:
            try:
                found.append(len(await snapshot.match(where, "lies", limit=10)))
            except StoreFailed:
                found.append(-1)
            return found[-1]

        for number in range(3):
            await one.add(statement(number), actor=ANA)
            await other.store.read(words)
        await one.reembed(WordEmbedder(NEW))
        # Vectors cross as bytes, so new ones outdate no plan; a column of another type does, as a migration makes it.
        sql_at(postgres.database(tmp_path), "ALTER TABLE mnemic.memory ALTER speaker TYPE varchar")
        await one.add("Another lies here.", actor=ANA)
        assert await other.store.read(words) == 4
        assert -1 in found


class _Slow(WordEmbedder):
    """Says each batch, so that somebody can kill it between two."""

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        sys.stdout.write("batch\n")
        sys.stdout.flush()
        await asyncio.sleep(0.05)
        return await super().embed(texts, deadline=deadline)


def test_killed_at_any_batch_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    asyncio.run(_prepared(path))
    script = f"import asyncio, tests.faults.test_reembed as test; asyncio.run(test.reembed_slowly({str(path)!r}))"
    for batches in range(1, size(3, 20)):
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, cwd=os.getcwd()) as process:
            assert process.stdout is not None
            for _ in range(batches):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
    held = asyncio.run(_finished(path))
    assert {len(memory.vector or b"") for memory in held} == {4 * NEW}


async def _prepared(path: Path) -> None:
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        await planted(engine, 120)


async def reembed_slowly(path: str) -> None:
    store = SqliteStore(path)
    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        await engine.reembed(_Slow(NEW))


async def _finished(path: Path) -> list[Memory]:
    store = SqliteStore(path)
    await store.open(None)
    space = await store.transact(lambda tx: tx.space())
    await store.close()
    async with MemoryEngine(store=store, embedder=WordEmbedder(space.dimension)) as engine:
        if space.dimension != NEW:
            await engine.reembed(WordEmbedder(NEW))
        return [one for tenant in TENANTS for one in await store.scan(tenant, statuses=list(Status), limit=1000)]
