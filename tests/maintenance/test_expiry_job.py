"""Expiry by a job that trusts no single reading of the clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.errors import MemoryNotFound
from mnemic.maintenance.expiry_job import ExpiryRules, Readings
from mnemic.testing.clock import ManualClock
from mnemic.testing.record_store.fixtures import START
from mnemic.types import Actor, Kind, Memory, Status

DAY = timedelta(days=1)
HOUR = timedelta(hours=1)


async def added(engine: MemoryEngine, actor: Actor, text: str, days: float) -> str:
    receipt = await engine.add(text, actor=actor, ttl=timedelta(days=days))
    assert receipt.memory_id is not None
    return receipt.memory_id


async def status(engine: MemoryEngine, actor: Actor, memory_id: str) -> Status:
    return (await engine.get(memory_id, actor=actor)).status


async def test_the_first_run_only_reads_the_clock(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    memory_id = await added(engine, ana, "The code is 4711.", 7)
    clock.advance(8 * DAY)
    first = await engine.expire(actor=ana)
    assert (first.expired, first.confirmed_at) == (0, None)
    clock.advance(timedelta(minutes=1))
    assert (await engine.expire(actor=ana)).expired == 0  # too soon to count as a second reading
    clock.advance(HOUR)
    second = await engine.expire(actor=ana)
    assert (second.expired, second.purged) == (1, 0)
    assert await status(engine, ana, memory_id) is Status.EXPIRED
    assert [event.action for event in await engine.audit(actor=ana)][-1] == "expired"


async def test_after_the_grace_period_it_is_gone(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    memory_id = await added(engine, ana, "The code is 4711.", 7)
    stays = await added(engine, ana, "The harbour is near.", 300)
    for _ in range(38):
        clock.advance(DAY)
        await engine.expire(actor=ana)
    assert await status(engine, ana, memory_id) is Status.EXPIRED
    for _ in range(3):
        clock.advance(DAY)
        await engine.expire(actor=ana)
    with pytest.raises(MemoryNotFound):
        await engine.get(memory_id, actor=ana)
    assert await status(engine, ana, stays) is Status.ACTIVE
    assert [event.action for event in await engine.audit(actor=ana)][-1] == "purged"


async def test_a_read_never_changes_anything(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    memory_id = await added(engine, ana, "The code is 4711.", 7)
    clock.jump_to(clock.now() + 400 * DAY)
    assert (await engine.search("code", actor=ana)).hits == ()
    assert await engine.list(actor=ana) == []
    clock.jump_to(clock.now() - 400 * DAY)
    assert len((await engine.search("code", actor=ana)).hits) == 1
    assert (await engine.get(memory_id, actor=ana)).version == 1


async def test_a_clock_that_jumps_during_one_run_expires_nothing(
    engine: MemoryEngine, clock: ManualClock, ana: Actor
) -> None:
    memory_id = await added(engine, ana, "The code is 4711.", 7)
    await engine.expire(actor=ana)
    clock.advance(DAY)
    clock.jump_to(clock.now() + 400 * DAY)
    assert (await engine.expire(actor=ana)).expired == 0
    clock.jump_to(clock.now() - 400 * DAY)
    clock.advance(DAY)
    report = await engine.expire(actor=ana)
    assert report.clock_went_back
    assert report.expired == report.purged == 0
    assert await status(engine, ana, memory_id) is Status.ACTIVE


async def test_what_a_wrong_clock_expired_is_restored(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    memory_id = await added(engine, ana, "The code is 4711.", 7)
    await engine.expire(actor=ana)
    clock.jump_to(clock.now() + 400 * DAY)
    for _ in range(3):
        clock.advance(HOUR)
        await engine.expire(actor=ana)
    assert await status(engine, ana, memory_id) is Status.EXPIRED  # marked, but not purged in spite of 400 days
    clock.jump_to(clock.now() - 400 * DAY)
    assert (await engine.expire(actor=ana)).restored == 1
    assert await status(engine, ana, memory_id) is Status.ACTIVE
    assert len((await engine.search("code", actor=ana)).hits) == 1


async def test_a_dry_run_tells_and_changes_nothing(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    memory_id = await added(engine, ana, "The code is 4711.", 7)
    clock.advance(8 * DAY)
    await engine.expire(actor=ana)
    clock.advance(HOUR)
    lines = len(await engine.audit(actor=ana))
    assert (await engine.expire(actor=ana, dry_run=True)).expired == 1
    assert await status(engine, ana, memory_id) is Status.ACTIVE
    assert len(await engine.audit(actor=ana)) == lines
    assert (await engine.expire(actor=ana)).expired == 1


async def test_hard_kinds_get_no_grace(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    rules = ExpiryRules(hard_kinds=frozenset({Kind.LONG_TERM}))
    memory_id = await added(engine, ana, "The code is 4711.", 7)
    clock.advance(8 * DAY)
    await engine.expire(actor=ana, rules=rules)
    clock.advance(HOUR)
    report = await engine.expire(actor=ana, rules=rules)
    assert (report.expired, report.purged) == (1, 1)
    with pytest.raises(MemoryNotFound):
        await engine.get(memory_id, actor=ana)


async def test_the_job_keeps_to_its_tenant(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    rival = Actor(tenant="rival", user="ana")
    memory_id = await added(engine, rival, "The code is 4711.", 7)
    clock.advance(8 * DAY)
    for _ in range(3):
        clock.advance(HOUR)
        await engine.expire(actor=ana)
    assert await status(engine, rival, memory_id) is Status.ACTIVE


async def test_maintaining_does_every_job(engine: MemoryEngine, clock: ManualClock, ana: Actor) -> None:
    for number in range(5):
        await added(engine, ana, f"Fact {number} of many.", 7)
    clock.advance(8 * DAY)
    dry = await engine.maintain(actor=ana, dry_run=True)
    assert (dry.outbox.behind, dry.freed_bytes) == ({"outbox": 5}, 0)
    assert (await engine.maintain(actor=ana, whole=True)).outbox.total == 5
    assert await engine.store.pending() == []
    clock.advance(HOUR)
    assert (await engine.maintain(actor=ana)).expiry.expired == 5


@given(st.lists(st.integers(-500, 500), min_size=1, max_size=30))
def test_a_moment_is_confirmed_only_by_two_readings_and_never_lies_ahead(days: list[int]) -> None:
    readings, seen = Readings(), []
    for number in days:
        now = START + timedelta(days=number)
        readings = Readings.decode(readings.following(now, HOUR).encode())
        seen.append(now)
        if readings.confirmed_at is not None:
            assert readings.confirmed_at <= now
            assert sum(one >= readings.confirmed_at for one in seen) >= 2


JUMPS = [timedelta(hours=1), timedelta(hours=-1), timedelta(days=400), timedelta(days=-400)]


@pytest.mark.parametrize("jump", JUMPS, ids=str)
@pytest.mark.parametrize(
    "start",
    [
        datetime(2026, 3, 29, 0, 59, tzinfo=UTC),  # clocks in Europe are put forward
        datetime(2026, 10, 25, 0, 59, tzinfo=UTC),  # and back
        datetime(2038, 1, 19, 3, 14, 7, tzinfo=UTC),  # 2**31 seconds
        datetime(2028, 2, 29, 23, 59, tzinfo=UTC),
    ],
    ids=str,
)
async def test_a_clock_that_jumps_and_comes_back_loses_nothing(
    engine: MemoryEngine, clock: ManualClock, ana: Actor, start: datetime, jump: timedelta
) -> None:
    clock.jump_to(start)
    await engine.expire(actor=ana)
    said = [f"statement {word}" for word in ("one", "two", "three", "four")]
    for text in said[:2]:
        await engine.add(text, actor=ana)
        clock.advance(timedelta(minutes=30))
    clock.jump_to(clock.now() + jump)
    await engine.add(said[2], actor=ana)
    await engine.expire(actor=ana)
    clock.jump_to(clock.now() - jump)
    await engine.add(said[3], actor=ana)
    await engine.expire(actor=ana)
    await engine.expire(actor=ana)
    held = await engine.store.scan(ana.tenant, statuses=list(Status))
    assert {memory.content for memory in held if memory.status is Status.ACTIVE} == set(said)
    assert [event.sequence for event in await engine.audit(actor=ana)] == list(range(1, len(said) + 1))
    lines = await engine.audit(actor=ana)
    assert [line.action for line in lines] == ["created"] * 4
    in_order = [next(memory.content for memory in held if memory.memory_id == line.memory_id) for line in lines]
    assert in_order == said


@pytest.mark.parametrize("done", ["expired", "purged"])
async def test_a_memory_that_is_refreshed_meanwhile_stays(
    engine: MemoryEngine, clock: ManualClock, ana: Actor, monkeypatch: pytest.MonkeyPatch, done: str
) -> None:
    memory_id = await added(engine, ana, "The code is 4711.", 7)
    for _ in range(38 if done == "purged" else 7):
        clock.advance(DAY)
        await engine.expire(actor=ana)
    clock.advance(DAY)
    scanned, met = engine.store.scan, []

    async def refreshed_after_it_was_read(*given: Any, **asked: Any) -> list[Memory]:
        page = await scanned(*given, **asked)
        if page and not met and asked.get("expired_by") is not None:
            met.append(asked["statuses"])
            [found] = [one for one in page if one.memory_id == memory_id]
            await engine.store.transact(lambda tx: tx.replace(again(found)))
        return page

    def again(found: Memory) -> Memory:
        return found.next_version(clock.now(), status=Status.ACTIVE, expires_at=clock.now() + 100 * DAY)

    monkeypatch.setattr(engine.store, "scan", refreshed_after_it_was_read)
    for _ in range(4):
        report = await engine.expire(actor=ana)
        assert (report.expired, report.purged) == (0, 0)
        clock.advance(DAY)
    assert met
    assert await status(engine, ana, memory_id) is Status.ACTIVE
