"""Each finding of the doctor about stored memories, planted and found, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from mnemic.engine import MemoryEngine
from mnemic.maintenance.health import examine
from mnemic.ports import Transaction
from mnemic.testing.clock import ManualClock
from mnemic.types import Actor, Candidate, Kind, Level, Memory, Origin, Scope, Source, Status

HOME = Scope(tenant="default", level=Level.USER, owner="ana")


def memory(engine: MemoryEngine, clock: ManualClock, content: str, number: int) -> Memory:
    """A memory as it would be stored without the checks of the write path."""
    return Memory(
        memory_id=f"m{number}",
        kind=Kind.LONG_TERM,
        scope=HOME,
        content=content,
        created_at=clock.now(),
        updated_at=clock.now(),
        fingerprint=f"{number:064x}",
        vector=engine.embedder.vector(content),  # type: ignore[attr-defined]
    )


async def test_what_is_planted_is_found(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    said = [
        "The ferry leaves at noon.",
        "The ferry leaves at noon",
        "Ripe cheese is good.",
        "Ripe cheese is not good.",
        "??",
        "Ana keeps bees.",
    ]
    planted = [memory(engine, clock, content, number) for number, content in enumerate(said)]
    planted.append(replace(memory(engine, clock, "Tall ships.", 6), vector=None))

    async def plant(tx: Transaction) -> None:
        for one in planted:
            await tx.insert(one)

    await engine.store.transact(plant)
    found = await examine(engine.store, "default", clock.now())
    assert found.looked_at == 7
    assert found.duplicates == (("m0", "m1"),)
    assert found.contradictions == (("m2", "m3"),)
    assert found.junk == ("m4",)
    assert found.without_vector == ("m6",)
    assert found.unused == ()
    assert (found.waiting, found.oldest_waiting) == (0, None)


async def test_what_was_never_used_and_what_waits(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    used = await engine.add("aisle", key="seat", actor=ana)
    for number in range(8):
        await engine.add(f"Ship{number} sails at dawn{number}.", actor=ana)
    await engine.add("Ripe cheese is good.", actor=ana)
    assert (
        await engine.add(Candidate(content="Ripe cheese is not good.", source=Source(origin=Origin.WEB)), actor=ana)
    ).was_flagged
    assert (await engine.run(goal="Which seat, aisle or window?", actor=ana)).hits
    clock.advance(timedelta(days=91))
    fresh = await engine.add("Bees sleep in winter.", actor=ana)
    found = await examine(engine.store, "default", clock.now())
    assert len(found.unused) >= 5
    assert used.memory_id not in found.unused
    assert fresh.memory_id not in found.unused
    assert (found.waiting, found.oldest_waiting) == (1, timedelta(days=91))
    assert (await examine(engine.store, "nobody", clock.now())).looked_at == 0
    assert (await examine(engine.store, "default", clock.now(), limit=1)).looked_at == 1
    held = await engine.store.scan("default", statuses=[Status.PENDING_REVIEW])
    assert len(held) == 1
