"""Taking a merge, a new value or an approval back."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MemoryNotFound, VersionConflict
from mnemic.types import Actor, Deadline, Memory, Outcome, Status
from mnemic.write.model_judge import Judgement, Verdict
from mnemic_sqlite import SqliteStore
from mnemic_testing.clock import ManualClock
from mnemic_testing.embedder import WordEmbedder
from tests.unit.maintain.test_review import contradiction

DAY = timedelta(days=1)
ONE = "The dog plays wildly on the long beach near the harbour"
OTHER = "The dog plays on the long beach near the harbour at noon"


class Same:
    """A judge that takes any two statements for one."""

    async def judge(self, said: str, known: Sequence[str], *, deadline: Deadline | None = None) -> Judgement:
        return Judgement(verdicts=(Verdict.SAME,) * len(known))


@pytest.fixture
async def joining(clock: ManualClock, tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    """An engine with such a judge, which joins statements that each say something of their own."""
    store = SqliteStore(tmp_path / "joined.db")
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock, judge=Same()) as engine:
        yield engine


async def merged(engine: MemoryEngine, actor: Actor, *texts: str) -> str:
    """The memory that the last of these texts was merged into."""
    receipts = [await engine.add(text, actor=actor) for text in texts]
    assert receipts[-1].outcome is Outcome.MERGED, receipts[-1]
    assert receipts[-1].memory_id is not None
    return receipts[-1].memory_id


async def said(engine: MemoryEngine, actor: Actor) -> list[str]:
    return sorted(memory.content for memory in await engine.list(actor=actor))


async def test_what_was_joined_stands_apart_again(joining: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    memory_id = await merged(joining, ana, ONE, OTHER)
    assert await said(joining, ana) == [f"{ONE}\n{OTHER}"]
    clock.advance(DAY)
    receipt = await joining.undo(memory_id, actor=ana)
    assert await said(joining, ana) == sorted([ONE, OTHER])
    assert (receipt.status, len(receipt.restored)) == (Status.REJECTED, 2)
    assert [(await joining.get(one, actor=ana)).valid_to for one in receipt.restored] == [None, None]
    assert [event.action for event in await joining.audit(actor=ana)][-3:] == ["undone", "restored", "restored"]
    hits = (await joining.search("dog on the beach", actor=ana)).hits
    assert {hit.memory.memory_id for hit in hits} == set(receipt.restored)
    assert {entry.memory_id for entry in await joining.store.pending()} >= {memory_id, *receipt.restored}


async def test_the_merged_memory_was_never_true(joining: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    before = clock.now()
    memory_id = await merged(joining, ana, ONE, OTHER)
    clock.advance(DAY)
    receipt = await joining.undo(memory_id, actor=ana)
    past = await joining.search("dog on the beach", actor=ana, as_of=before + DAY / 2)
    assert {hit.memory.memory_id for hit in past.hits} == set(receipt.restored)
    assert (await joining.history(memory_id, actor=ana))[-1].status is Status.REJECTED


async def test_the_fuller_text_that_came_last_stays_itself(engine: MemoryEngine, ana: Actor) -> None:
    memory_id = await merged(engine, ana, "Prefers dark mode", "The user prefers the dark mode")
    receipt = await engine.undo(memory_id, actor=ana)
    assert receipt.status is Status.ACTIVE
    assert await said(engine, ana) == ["Prefers dark mode", "The user prefers the dark mode"]
    assert (await engine.get(memory_id, actor=ana)).supersedes == ()
    for text in ("Prefers dark mode", "The user prefers the dark mode"):
        assert (await engine.add(text, actor=ana)).outcome is Outcome.REFRESHED


async def test_the_fuller_text_that_came_first_is_itself_again(engine: MemoryEngine, ana: Actor) -> None:
    memory_id = await merged(engine, ana, ONE, "The dog plays on the long beach near the harbour")
    receipt = await engine.undo(memory_id, actor=ana)
    assert (receipt.status, len(receipt.restored)) == (Status.REJECTED, 2)
    assert await said(engine, ana) == sorted([ONE, "The dog plays on the long beach near the harbour"])


async def test_a_new_value_is_taken_back(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    old = await engine.add("Berlin", key="home_city", actor=ana)
    clock.advance(DAY)
    new = await engine.add("Munich", key="home_city", actor=ana)
    assert new.memory_id is not None
    receipt = await engine.undo(new.memory_id, actor=ana)
    assert (receipt.status, receipt.restored) == (Status.REJECTED, (old.memory_id,))
    back: Memory = await engine.get(receipt.restored[0], actor=ana)
    assert (back.content, back.status, back.valid_to, back.version) == ("Berlin", Status.ACTIVE, None, 3)


async def test_an_approval_that_is_taken_back_waits_again(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    known, flagged = await contradiction(engine, ana)
    await engine.approve(flagged, actor=ben)
    receipt = await engine.undo(flagged, actor=ben)
    assert (receipt.status, receipt.restored) == (Status.PENDING_REVIEW, (known,))
    (waiting,) = await engine.reviews(actor=ben)
    assert (waiting.memory.memory_id, [one.memory_id for one in waiting.against]) == (flagged, [known])
    assert [memory.memory_id for memory in await engine.list(actor=ben)] == [known]


async def test_what_another_memory_says_by_now_is_not_restored(engine: MemoryEngine, ana: Actor) -> None:
    memory_id = await merged(engine, ana, "Prefers dark mode", "The user prefers the dark mode")
    twin = (await engine.history(memory_id, actor=ana))[-1].supersedes[0]
    await engine.undo(memory_id, actor=ana)
    assert (await engine.get(twin, actor=ana)).status is Status.ACTIVE
    with pytest.raises(InvalidInput) as nothing:
        await engine.undo(memory_id, actor=ana)
    assert nothing.value.reason == "invalid_input:undo:nothing_replaced"


async def test_what_is_gone_or_anothers_cannot_be_taken_back(joining: MemoryEngine, ana: Actor, ben: Actor) -> None:
    memory_id = await merged(joining, ana, ONE, OTHER)
    with pytest.raises(MemoryNotFound):
        await joining.undo(memory_id, actor=ben)
    for original in (await joining.history(memory_id, actor=ana))[-1].supersedes:
        await joining.forget(original, actor=ana)
    with pytest.raises(InvalidInput):
        await joining.undo(memory_id, actor=ana)
    assert await said(joining, ana) == [f"{ONE}\n{OTHER}"]


async def test_a_change_in_between_wins(joining: MemoryEngine, ana: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    memory_id = await merged(joining, ana, ONE, OTHER)
    transact = SqliteStore.transact

    async def late(store: SqliteStore, work: object, **options: object) -> object:
        monkeypatch.setattr(SqliteStore, "transact", transact)
        await joining.update(memory_id, "The dog is at home.", actor=ana)
        return await transact(store, work, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(SqliteStore, "transact", late)
    with pytest.raises(VersionConflict):
        await joining.undo(memory_id, actor=ana)
    assert await said(joining, ana) == ["The dog is at home."]
