"""Correcting any field of a memory, and forgetting by a filter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput, MemoryNotFound, MnemicError
from mnemic.ports import RecordStore
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Kind, Memory, Origin, Outcome

ANA, BEN = Actor(user="ana"), Actor(user="ben")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RecordStore:
    return InProcessStore() if request.param == "memory" else SqliteStore(tmp_path / "memories.db")


@pytest.fixture
async def engine(store: RecordStore) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=ManualClock()) as engine:
        yield engine


async def added(engine: MemoryEngine, content: str, actor: Actor = ANA, **fields: Any) -> Memory:
    receipt = await engine.add(content, actor=actor, **fields)
    return await engine.get(str(receipt.memory_id), actor=actor)


async def test_one_field_after_the_other(engine: MemoryEngine) -> None:
    known = await added(engine, "aisle", data={"a": 1}, confidence=0.5)
    day = engine.clock.now() - timedelta(days=3)
    for version, (name, value) in enumerate(
        {
            "key": "seat",
            "category": "travel",
            "data": {"b": 2},
            "context": "on aeroplanes",
            "confidence": 0.9,
            "occurred_at": day,
            "valid_from": day,
            "valid_to": day + timedelta(days=900),
        }.items(),
        start=2,
    ):
        given: dict[str, Any] = {name: value}
        receipt = await engine.update(known.memory_id, actor=ANA, **given)
        found = await engine.get(known.memory_id, actor=ANA)
        assert (receipt.outcome, receipt.version, receipt.reason) == (Outcome.SUPERSEDED, version, "revised")
        assert getattr(found, name) == value
        same = {"version", "updated_at", "fingerprint", "vector", "author", name}
        changed = {one: getattr(found, one) for one in same}
        assert replace(known, **changed) == found
        known = found
    assert [one.version for one in await engine.history(known.memory_id, actor=ANA)] == list(range(1, 10))
    assert [one.memory_id for one in await engine.list(actor=ANA, keys=["seat"], categories=["travel"])] == [
        known.memory_id
    ]
    cleared = await engine.update(known.memory_id, actor=ANA, key="", category="", context="")
    bare = await engine.get(known.memory_id, actor=ANA)
    assert (cleared.version, bare.key, bare.category, bare.context) == (10, None, None, "")
    again = await engine.update(known.memory_id, actor=ANA, confidence=0.9)
    assert (again.outcome, again.version) == (Outcome.REFRESHED, 10)


async def test_what_is_found_by_follows_the_key_and_the_context(engine: MemoryEngine) -> None:
    known = await added(engine, "aisle")
    await engine.update(known.memory_id, actor=ANA, key="seat", context="aeroplane")
    for query in ("seat", "aeroplane"):
        (hit,) = (await engine.search(query, actor=ANA)).hits
        assert hit.memory.memory_id == known.memory_id
        assert "keyword" in hit.ranks


async def test_a_time_to_live_counts_from_now_and_may_be_longer_or_without_end(engine: MemoryEngine) -> None:
    clock: Any = engine.clock
    known = await added(engine, "The gate code is 4711.", ttl="2d")
    clock.advance(timedelta(days=1))
    await engine.update(known.memory_id, "The gate code is 4712.", actor=ANA)
    assert (await engine.get(known.memory_id, actor=ANA)).expires_at == known.expires_at
    await engine.update(known.memory_id, actor=ANA, ttl=timedelta(days=30))
    assert (await engine.get(known.memory_id, actor=ANA)).expires_at == clock.now() + timedelta(days=30)
    await engine.update(known.memory_id, actor=ANA, ttl="never")
    assert (await engine.get(known.memory_id, actor=ANA)).expires_at is None


async def test_a_key_that_another_memory_has_is_refused(engine: MemoryEngine) -> None:
    await added(engine, "aisle", key="seat")
    other = await added(engine, "The window side is nice.")
    with pytest.raises(InvalidInput, match="key:taken"):
        await engine.update(other.memory_id, actor=ANA, key="seat")
    assert (await engine.get(other.memory_id, actor=ANA)).version == 1
    mine = await added(engine, "Ben sits there.", actor=BEN)
    assert (await engine.update(mine.memory_id, actor=BEN, key="seat")).stored


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"key": "x" * 2000}, "invalid_memory_candidates:key"),
        ({"data": {"a": float("nan")}}, "invalid_input:data"),
        ({"content": " "}, "invalid_memory_candidates:value"),
    ],
)
async def test_a_value_that_no_memory_may_have_is_refused(
    engine: MemoryEngine, given: dict[str, Any], reason: str
) -> None:
    known = await added(engine, "aisle")
    with pytest.raises(MnemicError) as refused:
        await engine.update(known.memory_id, actor=ANA, **given)
    assert refused.value.reason == reason
    assert (await engine.get(known.memory_id, actor=ANA)).version == 1


async def test_lower_trust_changes_no_field(engine: MemoryEngine) -> None:
    known = await added(engine, "aisle")
    receipt = await engine.update(known.memory_id, actor=ANA, category="x", origin=Origin.WEB)
    assert (receipt.outcome, receipt.reason) == (Outcome.BLOCKED, "lower_trust")
    with pytest.raises(MemoryNotFound):
        await engine.update(known.memory_id, actor=BEN, category="x")


async def test_forgetting_what_meets_a_filter(engine: MemoryEngine) -> None:
    for number in range(6):
        await added(engine, f"Note {number} of the trip", category="trip" if number % 2 else None, data={"n": number})
    await added(engine, "A note of Ben", actor=BEN, category="trip", data={"n": 5})
    would = await engine.forget_matching(actor=ANA, where={"n": {"$gte": 2}}, categories=["trip"], dry_run=True)
    assert (len(would.memory_ids), would.dry_run, would.more) == (2, True, False)
    assert await engine.count(actor=ANA) == 6
    first = await engine.forget_matching(actor=ANA, where={"n": {"$gte": 2}}, limit=3)
    assert (len(first.memory_ids), first.more, first.dry_run) == (3, True, False)
    rest = await engine.forget_matching(actor=ANA, where={"n": {"$gte": 2}})
    assert (len(rest.memory_ids), rest.more) == (1, False)
    assert {one.data["n"] for one in await engine.list(actor=ANA)} == {0, 1}
    assert await engine.count(actor=BEN) == 1
    assert (await engine.forget_matching(actor=ANA, kinds=[Kind.PERSONA])).memory_ids == ()


async def test_forgetting_needs_a_bound(engine: MemoryEngine) -> None:
    await added(engine, "aisle")
    with pytest.raises(InvalidInput, match="filter:empty"):
        await engine.forget_matching(actor=ANA)
    for limit in (0, 1001, True):
        with pytest.raises(InvalidInput, match="limit"):
            await engine.forget_matching(actor=ANA, keys=["seat"], limit=limit)
    assert await engine.count(actor=ANA) == 1


async def test_what_is_trusted_more_is_not_forgotten_by_a_filter(engine: MemoryEngine) -> None:
    known = await added(engine, "aisle", data={"n": 1})
    model = replace(ANA, channel=Origin.AGENT_INFERRED)
    done = await engine.forget_matching(actor=model, where={"n": 1})
    assert (done.memory_ids, done.refused) == ((), (known.memory_id,))
