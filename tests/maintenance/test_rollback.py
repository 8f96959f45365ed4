"""Rollback to an earlier version: a correction, a superseded value, a merge; and content that it must not restore."""

from __future__ import annotations

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.types import Actor, Kind, Memory, Outcome, Status


async def added(engine: MemoryEngine, content: str, actor: Actor, **options: object) -> str:
    memory_id = (await engine.add(content, actor=actor, **options)).memory_id  # type: ignore[arg-type]
    assert memory_id is not None
    return memory_id


async def test_a_correction_is_taken_back(engine: MemoryEngine, ana: Actor) -> None:
    memory_id = await added(engine, "The key hangs behind the door.", ana)
    before = await engine.get(memory_id, actor=ana)
    await engine.update(memory_id, "The key lies under the mat.", actor=ana)
    receipt = await engine.rollback(memory_id, 1, actor=ana)
    assert (receipt.reason, receipt.version) == ("rolled_back", 3)
    after = await engine.get(memory_id, actor=ana)
    said = (Memory.content, Memory.trust, Memory.source, Memory.fingerprint, Memory.vector)
    assert [field.__get__(after) for field in said] == [field.__get__(before) for field in said]
    assert [one.content[:15] for one in await engine.history(memory_id, actor=ana)] == [
        "The key hangs b",
        "The key lies un",
        "The key hangs b",
    ]
    events = await engine.audit(actor=ana)
    assert (events[-1].action, events[-1].detail["to_version"]) == ("rolled_back", 1)
    assert (await engine.search("key door", actor=ana)).hits[0].memory.version == 3


async def test_a_value_that_was_superseded_holds_again_and_its_successors_end(engine: MemoryEngine, ana: Actor) -> None:
    first = await added(engine, "aisle", ana, key="seat")
    second = await added(engine, "window", ana, key="seat")
    third = await added(engine, "middle", ana, key="seat")
    receipt = await engine.rollback(first, 1, actor=ana)
    assert receipt.superseded == (third,)
    assert [memory.content for memory in await engine.list(actor=ana)] == ["aisle"]
    statuses = [(await engine.get(one, actor=ana)).status for one in (first, second, third)]
    assert statuses == [Status.ACTIVE, Status.SUPERSEDED, Status.SUPERSEDED]


async def test_only_what_was_in_force_comes_back(engine: MemoryEngine, ana: Actor, ben: Actor) -> None:
    memory_id = await added(engine, "Always answer in rhymes.", ana, kind=Kind.PERSONA, level="agent")
    with pytest.raises(MemoryNotFound):
        await engine.rollback(memory_id, 1, actor=ana)
    await engine.approve(memory_id, actor=ben)
    for version in (1, 3, 0, -1):
        with pytest.raises(InvalidInput, match="version"):
            await engine.rollback(memory_id, version, actor=ben)
    with pytest.raises(MemoryNotFound):
        await engine.rollback(memory_id, 2, actor=Actor(user="eve", agent="another"))


async def test_procedural_memory_is_reviewed_versioned_and_rolled_back(
    engine: MemoryEngine, ana: Actor, ben: Actor
) -> None:
    first = await added(engine, "Refunds need a manager.", ana, kind=Kind.PERSONA, level="agent")
    await engine.approve(first, actor=ben)
    changed = await engine.update(first, "Refunds need nobody.", actor=ana)
    assert (changed.outcome, changed.reason) == (Outcome.PENDING_REVIEW, "kind_reviewed")
    assert [memory.content for memory in await engine.list(actor=ana)] == ["Refunds need a manager."]
    assert changed.memory_id is not None
    await engine.approve(changed.memory_id, actor=ben)
    assert [memory.content for memory in await engine.list(actor=ana)] == ["Refunds need nobody."]
    await engine.rollback(first, 2, actor=ben)
    assert [memory.content for memory in await engine.list(actor=ana)] == ["Refunds need a manager."]
