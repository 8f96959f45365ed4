"""Erasure: nothing left in any row or byte, a receipt that proves it again, also on a full disk."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path
from typing import Any

import apsw
import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, StoreFull
from mnemic.kinds.short_term import ShortTermMemory
from mnemic.maintenance import erase
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.policy.grant import Grant
from mnemic.runtime.sync_facade import async_mode
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.in_process_sessions import InProcessSessions
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Level, Message, Origin, Outcome, Source
from tests.faults.disk import FullDisk

CANARY = "Zyxwvutsrq9876543210canary"


def on_disk(folder: Path, text: bytes = CANARY.lower().encode()) -> int:
    return sum(path.read_bytes().lower().count(text) for path in folder.iterdir() if path.suffix != ".json")


async def plant(engine: MemoryEngine, actor: Actor) -> None:
    """Canaries in every field and at every place a memory can come to."""
    full = Candidate(
        content=f"{CANARY} content",
        key=f"{CANARY}-key",
        category=f"{CANARY}-category",
        context=f"{CANARY} context",
        data={CANARY: CANARY},
        source=Source(ref=CANARY, session=CANARY, speaker=CANARY, quote=CANARY),
    )
    receipt = await engine.add(full, actor=actor, idempotency_key=CANARY)
    assert receipt.memory_id is not None
    await engine.update(receipt.memory_id, f"{CANARY} revised", actor=actor)
    await engine.add(f"{CANARY} loves the sea.", actor=actor)
    web = Source(origin=Origin.WEB)
    flagged = await engine.add(Candidate(content=f"{CANARY} never loves the sea.", source=web), actor=actor)
    assert flagged.outcome is Outcome.PENDING_REVIEW
    await engine.add(f"{CANARY} was here.", actor=actor, level="workspace")
    await engine.record([Message(role="user", content=f"{CANARY} said so.", speaker=CANARY)], actor=actor)
    await engine.grant_consent(f"{CANARY}-key", actor=actor)


async def test_every_byte_is_gone_and_the_receipt_proves_it_again(
    engine: MemoryEngine, ana: Actor, ben: Actor, tmp_path: Path
) -> None:
    for number in range(60):
        await engine.add(f"Bystander {number} of many.", actor=ben)
    await plant(engine, ana)
    assert on_disk(tmp_path) > 10
    receipt = await engine.erase("ana", actor=ben)
    assert on_disk(tmp_path) == 0
    assert receipt.complete
    assert receipt.counts["memories"] == 5
    assert receipt.counts["versions"] == 6
    assert receipt.counts["requests"] == receipt.counts["consents"] == 1
    again = ErasureReceipt.from_dict(json.loads(json.dumps(receipt.as_dict())))
    assert again == receipt
    assert not any((await engine.verify_erasure(again)).values())
    assert "ana" not in json.dumps(receipt.as_dict())
    assert receipt.kept == ("audit", "scope")
    assert ErasureReceipt.from_dict({n: v for n, v in receipt.as_dict().items() if n != "kept"}).kept is None
    assert await engine.count(actor=ana) == 0
    assert await engine.count(actor=ben) == 60
    report = await engine.verify_audit(actor=ben)
    assert report.broken_at is None
    assert [event.action for event in await engine.audit(actor=ben, limit=10_000)][-1] == "erased"


async def test_the_name_stays_where_the_receipt_says_and_nowhere_else(ben: Actor, tmp_path: Path) -> None:
    path, marisol = tmp_path / "named.db", Actor(user="marisol.q7@example.com", agent="travel")
    async with MemoryEngine(store=SqliteStore(path), embedder=WordEmbedder()) as engine:
        await plant(engine, marisol)
        receipt = await engine.erase(marisol.user, actor=ben)
    with closing(apsw.Connection(str(path))) as file:
        plain = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'"
        tables = [name for (name,) in file.execute(plain)]
        rows = {name: repr(file.execute(f'SELECT * FROM "{name}"').fetchall()).casefold() for name in tables}
    assert {name for name, told in rows.items() if marisol.user in told} == set(receipt.kept or ())


async def test_a_receipt_that_does_not_hold_is_found_out(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    kept = await engine.add("The harbour is near.", actor=ana)
    memory = await engine.get(kept.memory_id or "", actor=ana)
    receipt = await engine.erase("nobody", actor=ben)
    assert receipt.complete
    forged = ErasureReceipt.from_dict(receipt.as_dict() | {"memory_ids": [memory.memory_id]})
    assert sum((await engine.verify_erasure(forged)).values()) > 0
    forged = ErasureReceipt.from_dict(receipt.as_dict() | {"fingerprints": [memory.fingerprint]})
    found = await engine.verify_erasure(forged)
    assert found["memory"] == 1
    assert found["bytes"] > 0


@pytest.mark.parametrize("data", [{}, {"format": "other"}, {"format": "mnemic-erasure/1"}])
def test_what_is_no_receipt_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput):
        ErasureReceipt.from_dict(data)


async def test_what_was_made_of_it_in_shared_scopes_goes_too(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    await engine.add("Ana Silva has a red bicycle.", actor=ana, level="workspace")
    merged = await engine.add("Ana Silva has a red bicycle now.", actor=ben, level="workspace")
    bens = await engine.add("The office closes at six.", actor=ben, level="workspace")
    assert merged.outcome in (Outcome.MERGED, Outcome.REFRESHED, Outcome.CREATED)
    receipt = await engine.erase("ana", actor=ben)
    assert receipt.complete
    left = {memory.memory_id for memory in await engine.list(actor=ben)}
    assert bens.memory_id in left
    if merged.outcome is Outcome.MERGED:
        assert receipt.counts["derived"] >= 1
        assert left == {bens.memory_id}


async def test_another_users_new_value_under_a_key_stays(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    await engine.add("Porto", actor=ana, key="office", level="workspace")
    await engine.add("Lisbon", actor=ben, key="office", level="workspace")
    receipt = await engine.erase("ana", actor=ben)
    assert (receipt.counts["memories"], receipt.counts["derived"]) == (1, 0)
    assert [memory.content for memory in await engine.list(actor=ben)] == ["Lisbon"]


async def test_the_subjects_requests_go_whatever_they_were_for(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    forgotten = await engine.add("The spare key hangs behind the door.", actor=ana, idempotency_key="k")
    assert forgotten.memory_id is not None
    await engine.forget(forgotten.memory_id, actor=ana)
    like_ana = replace(ana, user="ana:b")
    await engine.add("Lunch is at noon.", actor=like_ana, idempotency_key="k")
    await engine.erase("ana", actor=ben)
    (left,) = await engine.store.requests(ana.tenant)
    assert left.idempotency_key.startswith("ana:b:")


async def test_a_tombstone_can_block_learning_again(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    await engine.add("I have a boat.", actor=ana)
    assert (await engine.erase("ana", actor=ben, block=True)).blocks_relearning
    refused = await engine.add("I have a boat.", actor=ana)
    assert refused.reason == "retention_denied:erased_subject"
    assert (await engine.add("I have a boat.", actor=ben)).stored
    report = await engine.capture("I live in Oslo and I love skiing.", actor=ana)
    assert {blocked.reason for blocked in report.blocked} <= {"retention_denied:erased_subject"}
    assert await engine.count(actor=ana) == 0
    await engine.erase("ana", actor=ben, block=False)
    assert (await engine.add("I have a boat.", actor=ana)).stored


async def test_only_that_tenant_and_that_name(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    rival, similar = Actor(tenant="rival", user="ana"), Actor(user="anan")
    for actor in (ana, rival, similar):
        await engine.add("I have a boat.", actor=actor)
    await engine.erase("ana", actor=ben)
    assert [await engine.count(actor=actor) for actor in (ana, rival, similar)] == [0, 1, 1]


async def test_who_names_anothers_session_ends_it_neither_by_erasing_themselves_nor_in_their_export(
    ana: Actor, ben: Actor, clock: ManualClock
) -> None:
    sessions = InProcessSessions(clock)
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock, sessions=sessions) as engine:
        talk = ShortTermMemory(engine, replace(ana, session="support"), async_mode())
        await talk.append("user", "My claim number is 88")
        await engine.record([Message(role="user", content="Hello from me", session="support")], actor=ben)
        exported = "".join([chunk async for chunk in engine.export_subject(ben.user, actor=ben)])
        assert "claim number" not in exported
        await engine.erase(ben.user, actor=ben)
        assert [one.content for one in await talk.tail()] == ["My claim number is 88"]


async def test_of_a_conversation_of_several_only_the_subjects_part_goes(
    ana: Actor, ben: Actor, clock: ManualClock
) -> None:
    sessions = InProcessSessions(clock)
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock, sessions=sessions) as engine:
        talks = [ShortTermMemory(engine, replace(one, session="trip"), async_mode()) for one in (ana, ben)]
        for number in range(3):
            for talk in talks:
                await talk.append("user", f"Word {number} " * 200)
        assert (await talks[0].compact(max_tokens=1_000, keep=2)).summary.author is None  # type: ignore[union-attr]
        await engine.record([Message(role="user", content="Hello from me", session="trip")], actor=ben)
        await engine.erase(ben.user, actor=ben)
        left = await talks[0].tail()
        assert {one.author for one in left} == {ana.user}
        assert len(left) == 1


async def test_a_summary_of_what_one_user_said_is_theirs(ana: Actor, clock: ManualClock) -> None:
    sessions = InProcessSessions(clock)
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock, sessions=sessions) as engine:
        talk = ShortTermMemory(engine, replace(ana, session="trip"), async_mode())
        for number in range(4):
            await talk.append("user", f"Word {number} " * 200)
        summary = (await talk.compact(max_tokens=1_000, keep=1)).summary
        assert summary is not None
        assert summary.author == ana.user


async def test_open_sessions_end(ana: Actor, ben: Actor, clock: ManualClock) -> None:
    sessions = InProcessSessions(clock)
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder(), clock=clock, sessions=sessions) as engine:
        scope = ana.scope(Level.SESSION)
        await sessions.append(scope, Message(role="user", content="hello"), ttl=timedelta(hours=1), keep=9)
        await engine.add("I have a boat.", actor=ana)
        assert (await engine.erase("ana", actor=ben)).complete
        assert await sessions.tail(scope, limit=9) == []


@asynccontextmanager
async def ballasted(path: Path, size: int) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(
        store=SqliteStore(path, reserved_bytes=size, durability="fast"),
        embedder=WordEmbedder(),
        grant=Grant(levels=frozenset({"user"})),
    ) as engine:
        yield engine


async def fill(engine: MemoryEngine, actor: Actor) -> None:
    for number in count():
        await engine.add(f"{CANARY} more {number} of everything.", actor=actor)


@pytest.mark.faults
@pytest.mark.parametrize("ballast", [0, 1024 * 1024])
async def test_a_full_disk_stops_no_erasure_that_has_ballast(
    tmp_path: Path, ballast: int, ana: Actor, ben: Actor
) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    async with ballasted(folder / "m.db", ballast) as engine:
        for number in range(60):
            await engine.add(f"{CANARY} fact {number} about ships and harbours.", actor=ana)
        with FullDisk(folder, room=0) as disk:
            disk.room = disk.used
            with pytest.raises(StoreFull):
                await fill(engine, ana)
            if not ballast:
                with pytest.raises(StoreFull):
                    await engine.erase("ana", actor=ben)
            else:
                receipt = await engine.erase("ana", actor=ben)
                assert receipt.complete
                assert receipt.counts["memories"] >= 60
                assert on_disk(folder) == 0
                assert await engine.count(actor=ana) == 0
        receipt = await engine.erase("ana", actor=ben)
        assert receipt.complete
        assert on_disk(folder) == 0


async def test_what_was_stopped_goes_on(
    engine: MemoryEngine, ana: Actor, ben: Actor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erase, "BATCH", 8)
    for number in range(40):
        await engine.add(f"{CANARY} fact {number} about ships.", actor=ana, idempotency_key=f"k{number}")
    store, calls = engine.store, 0
    transact = store.transact

    async def failing(work: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == 4:
            raise StoreFull
        if calls > 4:
            raise ConnectionAbortedError
        return await transact(work, **options)

    store.transact = failing  # type: ignore[method-assign]
    with pytest.raises(ConnectionAbortedError):
        await engine.erase("ana", actor=ben)
    store.transact = transact  # type: ignore[method-assign]
    assert 0 < await engine.count(actor=ana) < 40
    receipt = await engine.erase("ana", actor=ben)
    assert receipt.complete
    assert on_disk(tmp_path) == 0


@pytest.mark.parametrize("block", [False, True])
async def test_what_is_written_meanwhile_does_not_escape(engine: MemoryEngine, ana: Actor, block: bool) -> None:
    """A writer goes on while the erasure runs: with a tombstone nothing of it stays, else only what came afterwards."""
    await engine.add("The harbour is near.", actor=ana)
    inner, late = engine.store.transact, iter(range(3))

    async def transact(work: Any, **options: Any) -> Any:
        done = await inner(work, **options)
        if next(late, None) is not None:
            engine.store.transact = inner  # type: ignore[method-assign]
            await engine.add("Written while it was erased.", actor=ana)
            engine.store.transact = transact  # type: ignore[method-assign]
        return done

    engine.store.transact = transact  # type: ignore[method-assign]
    receipt = await engine.erase("ana", actor=ana, block=block)
    assert receipt.complete
    assert await engine.count(actor=ana) == 0
    refused = await engine.add("Learnt again.", actor=ana)
    assert refused.stored is not block
