"""Both axes of time on the engine's reads: what was true then, and what was believed then."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Message, Origin, Outcome

DAY = timedelta(days=1)
ANA = Actor(user="ana")
BEN = Actor(user="ben")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def engine(clock: ManualClock, tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    store = SqliteStore(tmp_path / "m.db")
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock) as engine:
        yield engine


async def moved(engine: MemoryEngine, clock: ManualClock) -> tuple[datetime, str]:
    """Stated on day 0: Oslo. Stated on day 10: Bergen, since day 5. The first day, and the first memory."""
    start = clock.now()
    first = await engine.add("Oslo", key="home_city", actor=ANA)
    clock.advance(10 * DAY)
    await engine.add(Candidate(content="Bergen", key="home_city", valid_from=start + 5 * DAY), actor=ANA)
    clock.advance(10 * DAY)
    assert first.memory_id is not None
    return start, first.memory_id


@pytest.mark.parametrize(
    ("as_of", "known_at", "expected"),
    [
        (None, None, "Bergen"),
        (3, None, "Oslo"),
        (7, None, "Bergen"),
        (7, 8, "Oslo"),  # on day 8 nobody had told of Bergen
        (None, 8, "Oslo"),
        (3, 12, "Oslo"),
        (7, 12, "Bergen"),
        (None, 12, "Bergen"),
        (None, -1, None),
        (-1, None, None),
    ],
)
async def test_the_home_city_on_both_axes(
    engine: MemoryEngine, clock: ManualClock, as_of: int | None, known_at: int | None, expected: str | None
) -> None:
    start, _ = await moved(engine, clock)
    times = {
        name: None if at is None else start + at * DAY + DAY / 2
        for name, at in (("as_of", as_of), ("known_at", known_at))
    }
    wanted = [] if expected is None else [expected]
    for query in ("home city", ""):
        hits = (await engine.search(query, actor=ANA, **times)).hits
        assert [hit.memory.content for hit in hits] == wanted
    assert [one.content for one in await engine.list(actor=ANA, **times)] == wanted
    assert await engine.count(actor=ANA, **times) == len(wanted)
    assert await engine.list(actor=BEN, **times) == []


async def test_one_memory_and_its_history_in_time(engine: MemoryEngine, clock: ManualClock) -> None:
    start, oslo = await moved(engine, clock)
    assert (await engine.get(oslo, actor=ANA)).version == 2
    then = await engine.get(oslo, actor=ANA, known_at=start + DAY)
    assert (then.version, then.valid_to) == (1, None)
    assert (await engine.get(oslo, actor=ANA, as_of=start + 3 * DAY)).version == 2
    assert (await engine.get(oslo, actor=ANA, as_of=start + 7 * DAY, known_at=start + 8 * DAY)).version == 1
    assert [one.version for one in await engine.history(oslo, actor=ANA, known_at=start + DAY)] == [1]
    assert [one.version for one in await engine.history(oslo, actor=ANA, as_of=start + 7 * DAY)] == [1]
    for times in ({"known_at": start - DAY}, {"as_of": start + 7 * DAY}, {"as_of": start - DAY}):
        with pytest.raises(MemoryNotFound):
            await engine.get(oslo, actor=ANA, **times)
    with pytest.raises(MemoryNotFound):
        await engine.get(oslo, actor=BEN, known_at=start + DAY)


async def test_what_awaited_review_was_not_believed(engine: MemoryEngine, clock: ManualClock) -> None:
    await engine.add("The office is open on Sundays.", actor=ANA, level="user")
    flagged = await engine.add("The office is not open on Sundays.", actor=ANA, origin=Origin.AGENT_INFERRED)
    clock.advance(DAY)
    assert flagged.memory_id is not None
    before = clock.now()
    clock.advance(DAY)
    await engine.approve(flagged.memory_id, actor=BEN, whole_tenant=True)
    assert [one.content for one in await engine.list(actor=ANA)] == ["The office is not open on Sundays."]
    assert [one.content for one in await engine.list(actor=ANA, known_at=before)] == ["The office is open on Sundays."]
    with pytest.raises(MemoryNotFound):
        await engine.get(flagged.memory_id, actor=ANA, known_at=before)


async def test_what_is_revoked_or_expired_now_was_never_seen(engine: MemoryEngine, clock: ManualClock) -> None:
    await engine.add("vegan", key="diet", actor=ANA)
    await engine.add("The code is on the door.", actor=ANA, ttl=5 * DAY)
    then = clock.now()
    await engine.revoke_consent("diet", actor=ANA)
    assert [one.content for one in await engine.list(actor=ANA, known_at=then)] == ["The code is on the door."]
    clock.advance(6 * DAY)
    assert await engine.list(actor=ANA, known_at=then) == []


@pytest.mark.parametrize("name", ["as_of", "known_at"])
async def test_a_moment_needs_its_time_zone(engine: MemoryEngine, name: str) -> None:
    naive = datetime(2026, 3, 1)  # noqa: DTZ001
    for ask in (engine.list(actor=ANA, **{name: naive}), engine.search("x", actor=ANA, **{name: naive})):
        with pytest.raises(InvalidInput) as refused:
            await ask
        assert refused.value.reason == f"invalid_input:{name}"


@pytest.mark.parametrize("told", ["0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01"])
async def test_a_moment_that_utc_has_no_year_for_is_refused(engine: MemoryEngine, told: str) -> None:
    moment = datetime.fromisoformat(told)
    with pytest.raises(InvalidInput) as refused:
        Candidate(content="It began.", occurred_at=moment)
    assert refused.value.reason == "invalid_input:occurred_at"
    with pytest.raises(InvalidInput) as refused:
        await engine.search("x", actor=ANA, as_of=moment)
    assert refused.value.reason == "invalid_input:as_of"


@pytest.mark.parametrize(
    ("said", "value", "valid_from", "occurred_at"),
    [
        ("I have lived in Oslo since last March.", None, "2026-03-01", "2026-11-18"),
        ("I am vegetarian since 2019.", "vegetarian", "2019-01-01", "2026-11-18"),
        ("I broke my arm two weeks ago.", None, None, "2026-11-04"),
        ("My exam is next Tuesday.", None, None, "2026-11-24"),
        ("I like green tea.", None, None, "2026-11-18"),
    ],
)
async def test_what_the_user_says_of_time_is_resolved_by_the_message(
    engine: MemoryEngine, said: str, value: str | None, valid_from: str | None, occurred_at: str
) -> None:
    """The statement is kept whole, and with it the value that has a key; both have the same times."""
    sent_at = datetime(2026, 11, 18, tzinfo=UTC)
    report = await engine.capture(Message(role="user", content=said, sent_at=sent_at), actor=ANA)
    memories = [await engine.get(receipt.memory_id or "", actor=ANA) for receipt in report.receipts]
    assert [memory.content for memory in memories] == [one for one in (value, said) if one]
    for memory in memories:
        assert (memory.valid_from and memory.valid_from.date().isoformat()) == valid_from
        assert memory.occurred_at is not None
        assert memory.occurred_at.date().isoformat() == occurred_at


async def test_since_march_is_another_claim_a_year_later(engine: MemoryEngine) -> None:
    receipts = []
    for year in (2025, 2026):
        message = Message(
            role="user", content="I have lived in Oslo since March.", sent_at=datetime(year, 11, 18, tzinfo=UTC)
        )
        receipts += (await engine.capture(message, actor=ANA)).receipts
    assert [receipt.outcome for receipt in receipts] == [Outcome.CREATED, Outcome.CREATED]


async def test_what_has_held_since_before_replaces_what_was_told_meanwhile(engine: MemoryEngine) -> None:
    june, november = datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 11, 18, tzinfo=UTC)
    march = datetime(2026, 3, 1, tzinfo=UTC)
    await engine.add(Candidate(content="Berlin", key="home_city", occurred_at=june), actor=ANA)
    told = Candidate(content="Oslo", key="home_city", valid_from=march, occurred_at=november)
    assert (await engine.add(told, actor=ANA)).outcome is Outcome.SUPERSEDED
    assert [one.content for one in await engine.list(actor=ANA)] == ["Oslo"]
    assert [one.content for one in await engine.list(actor=ANA, as_of=june + 30 * DAY)] == ["Oslo"]
