"""Everything of one store in another one, and the same afterwards."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, NotSupported
from mnemic.keys import KeyFolder, MasterKeys
from mnemic.operations import store_migration as moving
from mnemic.operations.store_migration import move
from mnemic.policy.grant import Grant
from mnemic.ports import RecordStore
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.postgres import PostgresStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Message
from tests.servers import PostgresServer

ANA, BEN, KIM = (Actor(tenant="acme", user=name) for name in ("ana", "ben", "kim"))
EMBEDDER = WordEmbedder()


def engine(store: RecordStore, clock: ManualClock) -> MemoryEngine:
    return MemoryEngine(store=store, embedder=EMBEDDER, clock=clock, grant=Grant(levels=frozenset({"user", "agent"})))


async def filled(store: RecordStore, clock: ManualClock) -> None:
    """Memories of every sort: changed, superseded, waiting, of an erased user; consents, requests, an audit."""
    async with engine(store, clock) as opened:
        first = await opened.add(Candidate(content="I drink tea", key="drink"), actor=ANA, idempotency_key="one")
        await opened.add(Candidate(content="I drink coffee", key="drink"), actor=ANA)
        await opened.add(Candidate(content="I drink tea", key="other"), actor=ANA)
        await opened.record([Message(role="user", content="Hello", session="trip") for _ in range(3)], actor=ANA)
        await opened.add(Candidate(content="Always be brief", level="agent"), actor=BEN)
        await opened.grant_consent("drink", actor=ANA)
        await opened.add("My sister lives in Bergen", actor=KIM)
        await opened.erase("kim", actor=KIM, block=True)
        assert first.memory_id is not None
        other = Actor(tenant="rival", user="ana")
        await opened.add("Rival words", actor=other)


@pytest.fixture(params=["sqlite", "postgres", "memory"])
async def target(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[RecordStore]:
    if request.param == "postgres":
        server: PostgresServer = request.getfixturevalue("postgres")
        store: RecordStore = PostgresStore(server.database(tmp_path))
    else:
        store = SqliteStore(tmp_path / "new.db") if request.param == "sqlite" else InProcessStore()
    await store.open(EMBEDDER.space)
    yield store
    await store.close()


async def test_everything_is_the_same_afterwards(target: RecordStore, tmp_path: Path) -> None:
    clock = ManualClock()
    source = SqliteStore(tmp_path / "old.db", durability="fast")
    await source.open(EMBEDDER.space)
    await filled(source, clock)
    await source.open(EMBEDDER.space)
    moved = await move(source, target)
    assert set(moved.tenants) == {"acme", "rival"}
    assert moved.counts["memories"] > 5
    assert moved.counts["versions"] > moved.counts["memories"]
    assert moved.as_dict()["counts"] == dict(moved.counts)
    for tenant in ("acme", "rival"):
        assert await target.secret(tenant) == await source.secret(tenant)
        assert await target.broken_audit(tenant) == await source.broken_audit(tenant)
        assert await target.requests(tenant) == await source.requests(tenant)
        assert await target.marks(tenant, "") == await source.marks(tenant, "")
        assert await target.waiting(tenant) == await source.waiting(tenant)
    await source.close()
    async with engine(target, clock) as opened:
        again = await opened.add(Candidate(content="I drink tea", key="drink"), actor=ANA, idempotency_key="one")
        assert again.outcome.value in {"created", "superseded", "refreshed"}
        found = await opened.search("what do I drink", actor=ANA)
        assert "I drink coffee" in [hit.memory.content for hit in found.hits]
        blocked = await opened.add("My sister lives in Oslo", actor=KIM)
        assert blocked.memory_id is None
        assert await opened.consents(actor=ANA) == {"drink": True}


async def test_only_an_empty_store_is_moved_into(tmp_path: Path) -> None:
    clock = ManualClock()
    stores = [SqliteStore(tmp_path / name, durability="fast") for name in ("a.db", "b.db")]
    for store in stores:
        await store.open(EMBEDDER.space)
        await filled(store, clock)
        await store.open(EMBEDDER.space)
    with pytest.raises(InvalidInput, match="not_empty"):
        await move(stores[0], stores[1])
    for store in stores:
        await store.close()


async def test_another_secret_is_not_overwritten(target: RecordStore) -> None:
    secret = await target.secret("acme")
    with pytest.raises(InvalidInput, match="not_empty"):
        await target.adopt("acme", b"x" * 32)  # type: ignore[attr-defined]
    await target.adopt("acme", secret)  # type: ignore[attr-defined]
    assert await target.secret("acme") == secret


async def test_what_is_written_meanwhile_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock()
    source, into = SqliteStore(tmp_path / "a.db", durability="fast"), InProcessStore()
    await source.open(EMBEDDER.space)
    await into.open(EMBEDDER.space)
    await filled(source, clock)
    await source.open(EMBEDDER.space)
    marks = moving._Move._marks

    async def late(self: moving._Move) -> None:
        await marks(self)
        await source.transact(lambda tx: tx.put_mark(self.tenant, "late", "1"))

    monkeypatch.setattr(moving._Move, "_marks", late)
    with pytest.raises(InvalidInput, match="changed"):
        await move(source, into)
    await source.close()


async def test_lines_are_signed_where_the_new_store_has_a_key(tmp_path: Path) -> None:
    clock = ManualClock()
    source = SqliteStore(tmp_path / "a.db", durability="fast")
    await source.open(EMBEDDER.space)
    await filled(source, clock)
    await source.open(EMBEDDER.space)
    MasterKeys.make(tmp_path / "master.key")
    into = SqliteStore(tmp_path / "b.db", keyring=KeyFolder(tmp_path / "keys", tmp_path / "master.key"))
    await into.open(EMBEDDER.space)
    await move(source, into)
    assert all(event.signed for event in await into.audit("acme"))
    assert (await into.broken_audit("acme"))[1] is None
    await source.close()
    await into.close()


async def test_a_store_that_adopts_nothing_says_so(tmp_path: Path) -> None:
    class Plain:
        """A store of before."""

    with pytest.raises(NotSupported):
        await move(Plain(), Plain())  # type: ignore[arg-type]
