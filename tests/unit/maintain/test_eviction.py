"""A full quota: what is closed makes room, the oldest goes where the quota says so, and the rest is refused."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from mnemic.dispatch.handlers.add import portions
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidConfig, InvalidInput
from mnemic.policy.limits import Limits, Quota, makes_room
from mnemic.policy.policy_file import policy_bundle_data, read_policy_bundle
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Kind, Level, Outcome, Status

ANA, BEN = Actor(user="ana"), Actor(user="ben")
Opened = Callable[[Quota], AbstractAsyncContextManager[MemoryEngine]]


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    @asynccontextmanager
    async def open_(*quotas: Quota) -> AsyncIterator[MemoryEngine]:
        engine = MemoryEngine(
            store=SqliteStore(tmp_path / "m.db"),
            embedder=WordEmbedder(),
            clock=ManualClock(),
            limits=Limits(quotas=quotas),
        )
        async with engine:
            yield engine

    return open_


async def said(engine: MemoryEngine, *words: str, actor: Actor = ANA, kind: Kind = Kind.LONG_TERM) -> list[str]:
    """What became of each, by its reason or its outcome."""
    told = []
    for word in words:
        engine.clock.advance(timedelta(minutes=2))  # type: ignore[attr-defined]
        receipt = await engine.add(f"{word} {word}", actor=actor, kind=kind)
        told.append(receipt.reason or receipt.outcome.value)
    return told


async def kept(engine: MemoryEngine, actor: Actor = ANA) -> list[str]:
    return [memory.content.split()[0] for memory in reversed(await engine.list(actor=actor))]


async def test_the_oldest_goes_where_the_quota_says_so(opened: Opened) -> None:
    async with opened(Quota(rows=3, on_full="evict")) as engine:
        assert await said(engine, "apples", "bread", "cherries") == ["created"] * 3
        assert await said(engine, "apples") == ["refreshed"]
        assert await said(engine, "dates") == ["created"]
        assert await kept(engine) == ["bread", "cherries", "dates"]
        gone = [event for event in await engine.audit(actor=ANA) if event.action == "evicted"]
        assert len(gone) == 1
        found = (await engine.search("apples", actor=ANA)).hits
        assert not any("apples" in hit.memory.content for hit in found)
        usage = await engine.store.usage("default", since=engine.clock.now(), scope=ANA.scope(Level.USER))
        assert sum(one.rows for one in usage.values()) == 3


async def test_a_quota_that_refuses_keeps_what_is_active(opened: Opened) -> None:
    async with opened(Quota(rows=2)) as engine:
        assert await said(engine, "apples", "bread", "cherries") == ["created", "created", "quota_exceeded:user.rows"]
        assert await kept(engine) == ["apples", "bread"]


async def test_values_that_were_superseded_do_not_fill_a_quota(opened: Opened) -> None:
    async with opened(Quota(rows=5)) as engine:
        outcomes = []
        for number in range(12):
            engine.clock.advance(timedelta(minutes=2))  # type: ignore[attr-defined]
            outcomes.append((await engine.add(f"seat{number}", key="seat", actor=ANA)).outcome)
        assert Outcome.BLOCKED not in outcomes
        assert [memory.content for memory in await engine.list(actor=ANA)] == ["seat11"]
        states = [memory.status for memory in await engine.history("seat", actor=ANA)]
        assert Status.SUPERSEDED in states


async def test_only_the_kind_that_is_full_and_only_the_users_own_makes_room(opened: Opened) -> None:
    async with opened(Quota(kind=Kind.EPISODIC, rows=2, on_full="evict")) as engine:
        await said(engine, "apples")
        await said(engine, "apples", "bread", actor=BEN, kind=Kind.EPISODIC)
        assert await said(engine, "dinner", "theatre", "opera", kind=Kind.EPISODIC) == ["created"] * 3
        assert await kept(engine) == ["apples", "theatre", "opera"]
        assert await kept(engine, BEN) == ["apples", "bread"]


async def test_bytes_make_room_too_and_a_rate_does_not(opened: Opened) -> None:
    async with opened(Quota(bytes=4_000, on_full="evict")) as engine:
        told = await said(engine, *(f"word{number}" for number in range(30)))
        assert set(told) == {"created"}
        assert 0 < len(await kept(engine)) < 30
    async with opened(Quota(writes_a_minute=1, on_full="evict")) as engine:
        engine.clock.advance(timedelta(minutes=2))  # type: ignore[attr-defined]
        assert (await engine.add("one of them", actor=BEN)).stored
        assert (await engine.add("another thing", actor=BEN)).reason == "quota_exceeded:user.writes_a_minute"


async def test_a_batch_into_a_full_quota_takes_the_place_of_the_oldest(opened: Opened) -> None:
    async with opened(Quota(rows=3, on_full="evict")) as engine:
        await said(engine, "apples", "bread", "cherries")
        receipts = await engine.add_many(
            [Candidate(content=f"{word} {word}") for word in ("dates", "elderberries")], actor=ANA
        )
        assert [receipt.outcome for receipt in receipts] == [Outcome.CREATED] * 2
        assert await kept(engine) == ["cherries", "dates", "elderberries"]


@pytest.mark.parametrize(
    "quota",
    [Quota(rows=3, on_full="evict"), Quota(rows=3, kind=Kind.LONG_TERM, on_full="evict")],
    ids=["all", "one kind"],
)
async def test_of_a_batch_beyond_the_bound_the_last_remain(opened: Opened, quota: Quota) -> None:
    async with opened(quota) as engine:
        words = ("apples", "bread", "cherries", "dates", "elderberries", "figs", "grapes")
        receipts = await engine.add_many([Candidate(content=f"{word} {word}") for word in words], actor=ANA)
        assert [receipt.outcome for receipt in receipts] == [Outcome.CREATED] * len(words)
        assert sorted(await kept(engine)) == ["elderberries", "figs", "grapes"]
        usage = await engine.store.usage("default", since=engine.clock.now(), scope=ANA.scope(Level.USER))
        assert sum(one.rows for one in usage.values()) == 3
        assert (await engine.verify_audit(actor=ANA)).broken_at is None


async def test_a_batch_beyond_a_bound_of_bytes_goes_on(opened: Opened) -> None:
    async with opened(Quota(bytes=4_000, on_full="evict")) as engine:
        candidates = [Candidate(content=f"word{number} " * 20) for number in range(40)]
        receipts = await engine.add_many(candidates, actor=ANA)
        assert {receipt.reason or receipt.outcome for receipt in receipts} == {Outcome.CREATED}
        usage = await engine.store.usage("default", since=engine.clock.now(), scope=ANA.scope(Level.USER))
        assert 0 < sum(one.bytes for one in usage.values()) <= 4_000


async def test_values_of_one_key_in_a_batch_make_room_for_each_other(opened: Opened) -> None:
    async with opened(Quota(rows=3, on_full="evict")) as engine:
        candidates = [Candidate(content=f"seat{number}", key="seat") for number in range(9)]
        receipts = await engine.add_many(candidates, actor=ANA)
        assert all(receipt.stored for receipt in receipts)
        assert [memory.content for memory in await engine.list(actor=ANA)] == ["seat8"]


def test_a_batch_is_cut_only_where_a_quota_evicts() -> None:
    five = [Candidate(content="four")] * 5
    for quotas, cut in (
        ((), [5]),
        ((Quota(rows=2),), [5]),
        ((Quota(rows=2, on_full="evict"),), [2, 2, 1]),
        ((Quota(bytes=12, on_full="evict"),), [5]),
        ((Quota(rows=100, on_full="evict"),), [5]),
    ):
        assert [len(places) for places in portions(five, Limits(quotas=quotas))] == cut
    assert list(portions([], Limits(quotas=(Quota(rows=2, on_full="evict"),)))) == []


def test_what_cannot_be_meant_is_refused() -> None:
    for wrong in ({"per": "tenant", "rows": 1, "on_full": "evict"}, {"rows": 1, "on_full": "explode"}):
        with pytest.raises(InvalidConfig, match="quota"):
            Quota(**wrong)  # type: ignore[arg-type]
    assert makes_room("consent_required:user.rows") is None
    assert makes_room("quota_exceeded:tenant.rows") is None
    assert makes_room("quota_exceeded:user.episodic.bytes") == (Kind.EPISODIC,)


def test_a_policy_file_says_it() -> None:
    guard = read_policy_bundle({"limits": {"quotas": [{"rows": 3, "on_full": "evict"}]}})
    assert guard.limits.quotas[0].on_full == "evict"
    assert policy_bundle_data(guard)["limits"]["quotas"][0]["on_full"] == "evict"


async def test_a_new_value_of_a_key_costs_no_other_fact_of_a_full_store(opened: Opened) -> None:
    async with opened(Quota(rows=3, on_full="evict")) as engine:
        await said(engine, "garage", "oboe")
        await engine.add("mood 0", actor=ANA, key="mood")
        for number in range(1, 5):
            engine.clock.advance(timedelta(minutes=2))  # type: ignore[attr-defined]
            receipt = await engine.add(f"mood {number}", actor=ANA, key="mood")
            assert receipt.outcome is Outcome.SUPERSEDED
            kept = {one.content for one in await engine.list(actor=ANA)}
            assert kept == {"garage garage", "oboe oboe", f"mood {number}"}
        await said(engine, "lamp")
        assert "garage garage" not in {one.content for one in await engine.list(actor=ANA)}


async def test_a_recorded_episode_is_not_corrected_and_a_message_is(opened: Opened) -> None:
    async with opened(Quota(rows=30)) as engine:
        made = await engine.add("The deployment failed.", actor=ANA, kind=Kind.EPISODIC)
        with pytest.raises(InvalidInput, match="append_only"):
            await engine.update(made.memory_id or "", "Everything went well.", actor=ANA)
        assert (await engine.get(made.memory_id or "", actor=ANA)).content == "The deployment failed."
        (message,) = await engine.record(["I lvie in Oslo."], actor=ANA)
        await engine.update(message.memory_id or "", "I live in Oslo.", actor=ANA)
        assert (await engine.get(message.memory_id or "", actor=ANA)).content == "I live in Oslo."
