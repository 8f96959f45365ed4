"""An add while the embedder hangs or is down is kept: words and keys find it, and it gets its vector later (S35)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import EmbedderFailed
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.ports import RecordStore
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Deadline, Level, Memory, Outcome, Status, Vector, Where
from tests.servers import PostgresServer

ANA, BEN = Actor(user="ana"), Actor(user="ben")


async def count_waiting(engine: MemoryEngine) -> int:
    """Return the number of memories that wait for a vector, of everybody."""
    return len(await engine.store.marks("default", "unembedded/"))


class Outage(WordEmbedder):
    """An embedder that is down for the time that `reason` is set."""

    reason: str | None = None
    permanent = False

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        if self.reason is not None:
            failure = EmbedderFailed(self.reason)
            failure.permanent = self.permanent
            raise failure
        return await super().embed(texts, deadline=deadline)


@pytest.fixture(params=["inprocess", "sqlite", "sqlite_sealed", "postgres", "postgres_sealed"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RecordStore:
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


@pytest.fixture
def embedder() -> Outage:
    return Outage()


@pytest.fixture
async def engine(store: RecordStore, embedder: Outage) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=store, embedder=embedder, clock=ManualClock()) as engine:
        yield engine


async def the(engine: MemoryEngine, memory_id: str | None, actor: Actor = ANA) -> Memory:
    found = await engine.store.get_many([memory_id or ""], scopes=actor.scopes([Level.USER, Level.AGENT]))
    return found[memory_id or ""]


async def near(engine: MemoryEngine, query: str, actor: Actor = ANA) -> list[str]:
    """Return the statements that the vectors alone find."""
    vector = WordEmbedder().vector(query)
    scored = await engine.store.nearest(Where(scopes=actor.scopes([Level.USER])), vector, limit=5)
    return [one.memory_id for one in scored]


@pytest.mark.parametrize("reason", ["timeout", "unavailable", "circuit_open"])
async def test_an_add_is_kept_and_gets_its_vector_from_the_next_upkeep(
    engine: MemoryEngine, embedder: Outage, reason: str
) -> None:
    embedder.reason = reason
    receipt = await engine.add("The seat is by the aisle.", actor=ANA, idempotency_key="k1")
    assert (receipt.outcome, receipt.degraded) == (Outcome.CREATED, ("vector",))
    assert ("embed", "left") in [(step.name, step.decision) for step in receipt.steps]
    again = await engine.add("The seat is by the aisle.", actor=ANA, idempotency_key="k1")
    assert (again.memory_id, again.replayed) == (receipt.memory_id, True)
    said = await engine.add("The seat is by the aisle.", actor=ANA)
    assert (said.outcome, said.memory_id) == (Outcome.REFRESHED, receipt.memory_id)
    found = await engine.search("seat aisle", actor=ANA)
    assert [hit.memory.memory_id for hit in found.hits] == [receipt.memory_id]
    assert found.errors == {"vector": f"embedder_failed:{reason}"}

    down = await engine.maintain(actor=ANA)
    assert (down.embedded, down.unembedded) == (0, 1)
    assert (await engine.doctor(actor=ANA)).without_vector == (receipt.memory_id,)

    embedder.reason = None
    dry = await engine.maintain(actor=ANA, dry_run=True)
    assert (dry.embedded, dry.unembedded) == (0, 1)
    done = await engine.maintain(actor=ANA)
    assert (done.embedded, done.unembedded) == (1, 0)
    memory = await the(engine, receipt.memory_id)
    assert memory.vector == WordEmbedder().vector("The seat is by the aisle.")
    assert await near(engine, "aisle seat") == [receipt.memory_id]
    assert (await engine.doctor(actor=ANA)).without_vector == ()
    assert [event.action for event in await engine.audit(actor=ANA)][-1] == "embedded"
    assert (await engine.verify_audit(actor=ANA)).broken_at is None
    assert (await engine.maintain(actor=ANA)).embedded == 0


async def test_what_keys_decide_is_decided_without_a_vector(engine: MemoryEngine, embedder: Outage) -> None:
    first = await engine.add("aisle", key="seat", actor=ANA)
    embedder.reason = "timeout"
    second = await engine.add("window", key="seat", actor=ANA)
    assert (second.outcome, second.superseded) == (Outcome.SUPERSEDED, (first.memory_id,))
    waiting = await engine.add("Answer in rhymes.", kind="persona", actor=ANA)
    assert waiting.outcome is Outcome.PENDING_REVIEW
    embedder.reason = None
    assert (await engine.maintain(actor=ANA)).embedded == 2
    assert (await the(engine, second.memory_id)).vector == WordEmbedder().vector("seat: window")
    assert (await the(engine, waiting.memory_id)).status is Status.PENDING_REVIEW


async def test_a_correction_is_kept_too(engine: MemoryEngine, embedder: Outage) -> None:
    known = await engine.add("The seat is by the aisle.", actor=ANA)
    embedder.reason = "unavailable"
    revised = await engine.update(known.memory_id or "", "The seat is by the window.", actor=ANA)
    assert (revised.version, revised.degraded) == (2, ("vector",))
    assert (await the(engine, known.memory_id)).vector is None
    embedder.reason = None
    assert (await engine.maintain(actor=ANA)).embedded == 1
    assert await near(engine, "window seat") == [known.memory_id]


async def test_what_is_gone_or_said_anew_meanwhile_leaves_no_mark(engine: MemoryEngine, embedder: Outage) -> None:
    embedder.reason = "timeout"
    gone = await engine.add("The seat is by the aisle.", actor=ANA)
    kept = await engine.add("Tea is at four.", actor=ANA)
    await engine.forget(gone.memory_id or "", actor=ANA)
    embedder.reason = None
    await engine.update(kept.memory_id or "", "Tea is at five.", actor=ANA)
    assert await count_waiting(engine) == 2
    assert (await engine.maintain(actor=ANA)).embedded == 0
    assert await count_waiting(engine) == 0


async def test_an_erasure_takes_the_marks_of_the_person_and_of_nobody_else(
    engine: MemoryEngine, embedder: Outage
) -> None:
    embedder.reason = "timeout"
    await engine.add("The seat is by the aisle.", actor=ANA)
    theirs = await engine.add("Tea is at four.", actor=BEN)
    assert (await engine.erase("ana", actor=BEN)).complete
    assert list(await engine.store.marks("default", "unembedded/")) != []
    assert await count_waiting(engine) == 1
    embedder.reason = None
    assert (await engine.maintain(actor=BEN)).embedded == 1
    assert (await the(engine, theirs.memory_id, BEN)).vector


async def test_a_few_of_one_call_are_kept_and_a_job_is_to_run_again(engine: MemoryEngine, embedder: Outage) -> None:
    embedder.reason = "timeout"
    few = await engine.add_many([Candidate(content=f"Parcel {one} is for Oslo.") for one in range(8)], actor=ANA)
    assert {(one.outcome, one.degraded) for one in few} == {(Outcome.CREATED, ("vector",))}
    many = await engine.add_many([Candidate(content=f"Crate {one} is for Oslo.") for one in range(9)], actor=ANA)
    assert {(one.outcome, one.reason) for one in many} == {(Outcome.BLOCKED, "embedder_failed:timeout")}
    assert await count_waiting(engine) == 8


@pytest.mark.parametrize("reason", ["auth", "response", "dimension"])
async def test_an_embedder_that_answers_wrongly_refuses_the_add(
    engine: MemoryEngine, embedder: Outage, reason: str
) -> None:
    embedder.reason = reason
    with pytest.raises(EmbedderFailed, match=reason):
        await engine.add("The seat is by the aisle.", actor=ANA)
    embedder.reason, embedder.permanent = "unavailable", True
    with pytest.raises(EmbedderFailed):
        await engine.add("The seat is by the aisle.", actor=ANA)
    assert await engine.list(actor=ANA) == []


async def test_what_needs_a_vector_now_still_says_so(engine: MemoryEngine, embedder: Outage) -> None:
    waiting = await engine.add("Answer in rhymes.", kind="persona", actor=ANA)
    embedder.reason = "timeout"
    with pytest.raises(EmbedderFailed):
        await engine.approve(waiting.memory_id or "", actor=BEN, content="Answer in verse.", whole_tenant=True)


async def test_a_failure_half_way_loses_nothing(engine: MemoryEngine, embedder: Outage, monkeypatch: Any) -> None:
    embedder.reason = "timeout"
    for number in range(5):
        await engine.add(f"Parcel {number} is for Oslo.", actor=ANA)
    embedder.reason = None
    monkeypatch.setattr("mnemic.write.missing_vectors.BATCH", 2)
    calls = 0
    plain = embedder.embed

    async def once(texts: Sequence[str], **options: Any) -> list[Vector]:
        nonlocal calls
        calls += 1
        if calls > 1:
            raise EmbedderFailed("timeout")
        return await plain(texts, **options)

    monkeypatch.setattr(embedder, "embed", once)
    half = await engine.maintain(actor=ANA)
    assert (half.embedded, half.unembedded) == (2, 3)
    monkeypatch.undo()
    assert (await engine.maintain(actor=ANA)).embedded == 3
    assert (await engine.doctor(actor=ANA)).without_vector == ()


async def test_who_has_no_time_left_is_refused(engine: MemoryEngine, embedder: Outage) -> None:
    now = 0.0

    async def slow(texts: Sequence[str], **_: Any) -> list[Vector]:
        nonlocal now
        now = 1.0
        raise EmbedderFailed("timeout")

    embedder.embed = slow  # type: ignore[method-assign, assignment]
    with pytest.raises(EmbedderFailed):
        await engine.add("Late.", actor=ANA, deadline=Deadline(expires_at=1.0, monotonic=lambda: now))
    assert await engine.list(actor=ANA) == []
