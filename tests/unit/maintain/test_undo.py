"""Taking a merge, a new value or an approval back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MemoryNotFound, VersionConflict
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.types import Actor, Memory, Outcome, Status
from tests.unit.maintain.test_review import contradiction

DAY = timedelta(days=1)
ONE = "The dog sleeps on the long beach"
OTHER = "The dog sleeps, on the long beach"


async def merged(engine: MemoryEngine, actor: Actor, *texts: str) -> str:
    """The memory that the last of these texts was merged into."""
    receipts = [await engine.add(text, actor=actor) for text in texts]
    assert receipts[-1].outcome is Outcome.MERGED, receipts[-1]
    assert receipts[-1].memory_id is not None
    return receipts[-1].memory_id


async def said(engine: MemoryEngine, actor: Actor) -> list[str]:
    return sorted(memory.content for memory in await engine.list(actor=actor))


async def test_what_was_merged_stands_apart_again(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    memory_id = await merged(engine, ana, ONE, OTHER)
    assert await said(engine, ana) == [OTHER]
    clock.advance(DAY)
    receipt = await engine.undo(memory_id, actor=ana)
    assert await said(engine, ana) == sorted([ONE, OTHER])
    assert (receipt.status, len(receipt.restored)) == (Status.ACTIVE, 1)
    assert [(await engine.get(one, actor=ana)).valid_to for one in receipt.restored] == [None]
    assert [event.action for event in await engine.audit(actor=ana)][-2:] == ["undone", "restored"]


async def test_the_wording_that_came_last_stays(engine: MemoryEngine, ana: Actor) -> None:
    memory_id = await merged(engine, ana, "Prefers dark mode", "Prefers: dark mode")
    receipt = await engine.undo(memory_id, actor=ana)
    assert receipt.status is Status.ACTIVE
    assert await said(engine, ana) == ["Prefers dark mode", "Prefers: dark mode"]
    assert (await engine.get(memory_id, actor=ana)).supersedes == ()
    for text in ("Prefers dark mode", "Prefers: dark mode"):
        assert (await engine.add(text, actor=ana)).outcome is Outcome.REFRESHED


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
    memory_id = await merged(engine, ana, "Prefers dark mode", "Prefers: dark mode")
    twin = (await engine.history(memory_id, actor=ana))[-1].supersedes[0]
    await engine.undo(memory_id, actor=ana)
    assert (await engine.get(twin, actor=ana)).status is Status.ACTIVE
    with pytest.raises(InvalidInput) as nothing:
        await engine.undo(memory_id, actor=ana)
    assert nothing.value.reason == "invalid_input:undo:nothing_replaced"


async def test_what_is_gone_or_anothers_cannot_be_taken_back(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    memory_id = await merged(engine, ana, ONE, OTHER)
    with pytest.raises(MemoryNotFound):
        await engine.undo(memory_id, actor=ben)
    for original in (await engine.history(memory_id, actor=ana))[-1].supersedes:
        await engine.forget(original, actor=ana)
    with pytest.raises(InvalidInput):
        await engine.undo(memory_id, actor=ana)
    assert await said(engine, ana) == [OTHER]


async def test_a_change_in_between_wins(engine: MemoryEngine, ana: Actor, monkeypatch: pytest.MonkeyPatch) -> None:
    memory_id = await merged(engine, ana, ONE, OTHER)
    transact = SqliteStore.transact

    async def late(store: SqliteStore, work: object, **options: object) -> object:
        monkeypatch.setattr(SqliteStore, "transact", transact)
        await engine.update(memory_id, "The dog is at home.", actor=ana)
        return await transact(store, work, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(SqliteStore, "transact", late)
    with pytest.raises(VersionConflict):
        await engine.undo(memory_id, actor=ana)
    assert await said(engine, ana) == ["The dog is at home."]
