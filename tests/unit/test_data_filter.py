"""Filters on the data of memories: their meaning, their bounds, and every way of asking by them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.ports import RecordStore, Transaction
from mnemic.requests import List, Search
from mnemic.retrieve.data_filter import ScopeData
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Kind, Level, Memory, from_json, to_json
from mnemic.types.filter_language import DEEPEST, MAX_CONDITIONS, MAX_VALUES, checked_filter, meets
from mnemic.types.store_reads import ScopeChanges

ANA, BEN = Actor(user="ana"), Actor(user="ben")
TRIP: dict[str, Any] = {
    "city": "Oslo",
    "nights": 3,
    "paid": True,
    "tags": ["work", "north"],
    "hotel": {"stars": 4, "name": "Bristol"},
    "note": None,
}


@pytest.mark.parametrize(
    "where",
    [
        {"city": "Oslo"},
        {"city": "Oslo", "nights": 3.0},
        {"city": {"$eq": "Oslo"}},
        {"city": {"$ne": "Bergen"}},
        {"nights": {"$gt": 2, "$lt": 4}},
        {"nights": {"$gte": 3, "$lte": 3}},
        {"city": {"$gte": "O", "$lt": "P"}},
        {"city": {"$in": ["Oslo", "Bergen"]}},
        {"nights": {"$nin": [1, 2]}},
        {"country": {"$nin": ["Norway"]}},
        {"note": {"$exists": True}},
        {"country": {"$exists": False}},
        {"country": None},
        {"tags": ["work", "north"]},
        {"tags": {"$contains": "work"}},
        {"city": {"$contains": "sl"}},
        {"city": {"$icontains": "OS"}},
        {"tags": {"$icontains": "NOR"}},
        {"hotel": {"stars": {"$gte": 4}}},
        {"hotel": {}},
        {"$or": [{"city": "Bergen"}, {"nights": 3}]},
        {"$and": [{"city": "Oslo"}, {"paid": True}]},
        {"$not": {"city": "Bergen"}},
        {"nights": {"$lt": 2**70, "$gt": -(2**70)}},
        {"nights": {"$not": {"$gt": 3}}},
        {"hotel": {"$not": {"stars": 5}}},
        {"$or": [{"$and": [{"city": "Bergen"}]}, {"$not": {"hotel": {"stars": 5}}}]},
    ],
)
def test_data_that_meets_a_filter(where: dict[str, Any]) -> None:
    assert checked_filter(where) == where
    assert meets(TRIP, where)
    assert not meets(TRIP, {"$not": where})


@pytest.mark.parametrize(
    "where",
    [
        {"city": "oslo"},
        {"paid": 1},
        {"nights": True},
        {"nights": "3"},
        {"nights": {"$gt": "2"}},
        {"country": {"$gt": 0}},
        {"country": {"$lt": "z"}},
        {"paid": {"$in": [1]}},
        {"city": {"$nin": ["Oslo"]}},
        {"country": {"$exists": True}},
        {"tags": "work"},
        {"tags": {"$contains": "wor"}},
        {"nights": {"$contains": 3}},
        {"nights": {"$icontains": "3"}},
        {"city": {"$contains": 1}},
        {"city": {"name": "Oslo"}},
        {"hotel": {"stars": 5}},
        {"$or": [{"city": "Bergen"}, {"nights": 4}]},
        {"$and": [{"city": "Oslo"}, {"paid": False}]},
        {"city": "Oslo", "$or": [{"nights": 9}]},
    ],
)
def test_data_that_does_not(where: dict[str, Any]) -> None:
    assert checked_filter(where) == where
    assert not meets(TRIP, where)


@pytest.mark.parametrize("nothing", [None, {}])
def test_a_filter_that_asks_for_nothing(nothing: Any) -> None:
    assert checked_filter(nothing) is None


def nested(depth: int) -> dict[str, Any]:
    where: dict[str, Any] = {"city": "Oslo"}
    for _ in range(depth):
        where = {"$not": where}
    return where


def deep(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        ({"city": {"$regex": "O.*"}}, "operator"),
        ({"city": {"$eq": "Oslo", "name": 1}}, "operator"),
        ({"city": {"in": ["Oslo"]}}, "operator"),
        ({"nights": {"gte": 1}}, "operator"),
        ({"hotel": {"stars": {"IN": [4]}}}, "operator"),
        ({"city": {"$not": {"in": ["Oslo"]}}}, "operator"),
        ({"AND": [{"city": "Oslo"}]}, "operator"),
        ({"$and": [{"or": [{"city": "Oslo"}]}]}, "operator"),
        ({"NOT": {"city": "Oslo"}}, "operator"),
        ({"nights": 2**70}, "where"),
        ({"nights": {"$in": [1, -(2**70)]}}, "where"),
        ({"nights": float("inf")}, "where"),
        ({"nights": {"$gt": float("nan")}}, "where"),
        ({"$where": "1"}, "operator"),
        ({"$eq": 1}, "operator"),
        ({"city": {"$and": [{"a": 1}]}}, "operator"),
        ({"city": {"$not": {"$like": 1}}}, "operator"),
        ({"$or": [{"a": {"$x": 1}}]}, "operator"),
        ("city", "where"),
        ([], "where"),
        ({1: 2}, "where"),
        ({"$or": {}}, "where"),
        ({"$or": []}, "where"),
        ({"$and": "ab"}, "where"),
        ({"$or": [1]}, "where"),
        ({"$not": 1}, "where"),
        ({"city": {"$not": 1}}, "where"),
        ({"city": {"$in": "Oslo"}}, "where"),
        ({"city": {"$in": list(range(MAX_VALUES + 1))}}, "where"),
        ({"city": {"$nin": [object()]}}, "where"),
        ({"city": {"$exists": 1}}, "where"),
        ({"city": {"$icontains": 1}}, "where"),
        ({"city": {"$gt": None}}, "where"),
        ({"city": {"$gt": True}}, "where"),
        ({"city": object()}, "where"),
        ({"city": timedelta(1)}, "where"),
        ({"city": [b"x"]}, "where"),
        ({"city": deep(DEEPEST + 1)}, "where"),
        (nested(DEEPEST), "where"),
        ({"$or": [{"a": 1}] * (MAX_CONDITIONS + 1)}, "where"),
    ],
)
def test_what_is_no_filter_is_refused(where: Any, reason: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked_filter(where)
    assert refused.value.reason == f"invalid_input:{reason}"


def test_a_request_with_a_filter_is_a_frozen_value() -> None:
    for request in (Search(query="q", where={"a": {"$in": [1, 2]}}), List(where={"a": [1]})):
        assert from_json(type(request), json.loads(json.dumps(to_json(request)))) == request
        assert hash(request) == hash(request)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> RecordStore:
    return InProcessStore() if request.param == "memory" else SqliteStore(tmp_path / "memories.db")


@pytest.fixture
async def engine(store: RecordStore) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=store, embedder=WordEmbedder(), clock=ManualClock()) as engine:
        yield engine


async def given(engine: MemoryEngine, count: int, text: str, **data: Any) -> None:
    """Put many memories into the store at once; a function in `data` is asked with the number of each."""
    now, vector = engine.clock.now(), WordEmbedder().vector(text)

    def told(at: int) -> Memory:
        return Memory(
            memory_id=f"00000000-0000-7000-8000-{at:012d}",
            kind=Kind.LONG_TERM,
            scope=ANA.scope(Level.USER),
            content=f"{text} {at}",
            created_at=now,
            updated_at=now,
            vector=vector,
            data={name: value(at) if callable(value) else value for name, value in data.items()},
        )

    async def work(transaction: Transaction) -> None:
        for at in range(count):
            await transaction.insert(told(at))

    await engine.store.transact(work)


async def test_a_search_finds_what_meets_the_filter_however_it_ranks(engine: MemoryEngine) -> None:
    await given(engine, 5000, "coffee", at=lambda at: at)
    last = await engine.add("An old boat.", actor=ANA, data={"at": 5000, "colour": "red"})
    await engine.add("Coffee.", actor=BEN, data={"colour": "red"})
    assert last.memory_id not in {one.memory.memory_id for one in (await engine.search("coffee", actor=ANA)).hits}
    found = await engine.search("coffee", actor=ANA, where={"colour": "red"})
    assert [hit.memory.memory_id for hit in found.hits] == [last.memory_id]
    assert found.plan.where == {"colour": "red"}
    assert found.plan.as_dict()["where"] == {"colour": "red"}
    assert found.where.memory_ids is None
    page = await engine.search("coffee", actor=ANA, where={"at": {"$gte": 10, "$lt": 20}}, top_k=50)
    assert {hit.memory.data["at"] for hit in page.hits} == set(range(10, 20))
    newest = await engine.search("", actor=ANA, where={"at": {"$lt": 3}})
    assert {hit.memory.data["at"] for hit in newest.hits} == {0, 1, 2}
    nothing = await engine.search("coffee", actor=ANA, where={"colour": "blue"})
    assert (nothing.hits, nothing.errors) == ((), {})


async def test_a_list_is_paged_among_what_meets_the_filter(engine: MemoryEngine) -> None:
    await given(engine, 1200, "note", even=lambda at: at % 2 == 0)
    first = await engine.list(actor=ANA, where={"even": True}, limit=400)
    rest = await engine.list(actor=ANA, where={"even": True}, limit=400, before=first[-1].memory_id)
    assert (len(first), len(rest)) == (400, 200)
    assert len({one.memory_id for one in (*first, *rest)}) == 600
    assert all(one.data["even"] for one in (*first, *rest))
    assert await engine.list(actor=ANA, where={"even": True}, limit=0) == []


async def test_lists_and_deletions_keep_to_a_time(engine: MemoryEngine) -> None:
    day = datetime(2024, 5, 1, tzinfo=UTC)
    for number, city in enumerate(("Oslo", "Bergen", "Turku")):
        at = day + timedelta(days=number)
        await engine.add(f"Went to {city}.", actor=ANA, occurred_at=at, data={"north": city != "Turku"})
    second, third = day + timedelta(days=1), day + timedelta(days=2)

    async def listed(**bounds: Any) -> set[str]:
        return {one.content for one in await engine.list(actor=ANA, **bounds)}

    assert await listed(happened_from=second) == {"Went to Bergen.", "Went to Turku."}
    assert await listed(happened_to=second) == {"Went to Oslo."}
    assert await listed(happened_from=second, happened_to=third, where={"north": True}) == {"Went to Bergen."}
    assert await listed(happened_from=second, known_at=engine.clock.now()) == {"Went to Bergen.", "Went to Turku."}
    rehearsed = await engine.forget_matching(actor=ANA, happened_to=third, dry_run=True)
    assert (len(rehearsed.memory_ids), len(await engine.list(actor=ANA))) == (2, 3)
    await engine.forget_matching(actor=ANA, happened_to=third)
    assert await listed() == {"Went to Turku."}


@pytest.mark.parametrize("name", ["happened_from", "happened_to"])
async def test_a_list_refuses_a_time_without_a_zone(engine: MemoryEngine, name: str) -> None:
    bound: dict[str, Any] = {name: datetime(2024, 5, 1)}  # noqa: DTZ001 - the mistake itself
    with pytest.raises(InvalidInput, match="window"):
        await engine.list(actor=ANA, **bound)


async def test_a_time_that_ends_before_it_begins_is_refused(engine: MemoryEngine) -> None:
    """Nothing lies in it, so whoever asks has confused the two."""
    day = datetime(2024, 5, 1, tzinfo=UTC)
    for end in (day, day - timedelta(days=1)):
        bounds: dict[str, Any] = {"happened_from": day, "happened_to": end}
        for verb in (
            engine.list(actor=ANA, **bounds),
            engine.count(actor=ANA, **bounds),
            engine.search("cat", actor=ANA, **bounds),
            engine.forget_matching(actor=ANA, **bounds),
        ):
            with pytest.raises(InvalidInput, match="invalid_input:window - it has to end after it begins"):
                await verb


async def test_a_count_goes_by_the_filters_of_a_list(engine: MemoryEngine) -> None:
    day = datetime(2024, 5, 1, tzinfo=UTC)
    for number, city in enumerate(("Oslo", "Bergen", "Turku")):
        at = day + timedelta(days=number)
        category = "south" if city == "Turku" else "north"
        await engine.add(f"Went to {city}.", actor=ANA, occurred_at=at, category=category, data={"day": number})
    await engine.add("aisle", key="seat", actor=ANA)
    for bounds, number in (
        ({}, 4),
        ({"categories": ["north"]}, 2),
        ({"keys": ["seat"]}, 1),
        ({"kinds": ["persona"]}, 0),
        ({"where": {"day": {"$gte": 1}}}, 2),
        ({"where": {"day": {"$gte": 1}}, "known_at": engine.clock.now()}, 2),
        ({"happened_from": day + timedelta(days=1), "happened_to": day + timedelta(days=2)}, 1),
    ):
        assert await engine.count(actor=ANA, **bounds) == len(await engine.list(actor=ANA, **bounds)) == number


async def test_a_filter_goes_by_what_was_believed_then(engine: MemoryEngine) -> None:
    receipt = await engine.add("The boat is in Oslo.", actor=ANA, data={"city": "Oslo"})
    clock: Any = engine.clock
    then = clock.now()
    clock.advance(timedelta(days=1))
    assert receipt.memory_id is not None
    await engine.update(receipt.memory_id, "The boat is in Bergen.", actor=ANA, data={"city": "Bergen"})
    for where, known_at, count in (
        ({"city": "Oslo"}, then, 1),
        ({"city": "Oslo"}, None, 0),
        ({"city": "Bergen"}, None, 1),
    ):
        assert len(await engine.list(actor=ANA, where=where, known_at=known_at)) == count
        assert len((await engine.search("boat", actor=ANA, where=where, known_at=known_at)).hits) == count


async def test_a_question_about_the_past_keeps_to_the_filter(engine: MemoryEngine) -> None:
    clock: Any = engine.clock
    for city, trip in (("Oslo", 1), ("Bergen", 1), ("Turku", 2)):
        await engine.add(city, key="home_city", actor=ANA, data={"trip": trip})
        clock.advance(timedelta(days=1))
    found = await engine.search("Where did I live before?", actor=ANA, where={"trip": 1})
    assert {hit.memory.content for hit in found.hits} <= {"Oslo", "Bergen"}
    assert found.hits


@pytest.mark.parametrize(
    "where", [{"a": {"$like": "x"}}, {"a": {"in": [1]}}, {"AND": [{"a": 1}]}, {"a": 2**70}, "a = 1"]
)
async def test_a_bad_filter_is_refused_by_every_verb(engine: MemoryEngine, where: Any) -> None:
    with pytest.raises(InvalidInput):
        await engine.search("x", actor=ANA, where=where)
    with pytest.raises(InvalidInput):
        await engine.list(actor=ANA, where=where)


async def test_data_is_read_again_where_it_has_changed_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = SqliteStore(tmp_path / "memories.db"), SqliteStore(tmp_path / "memories.db")
    clock, read = ManualClock(), []
    take = ScopeData.take

    def noted(self: ScopeData, changed: ScopeChanges) -> None:
        read.append(len(changed.data))
        take(self, changed)

    monkeypatch.setattr(ScopeData, "take", noted)
    async with (
        MemoryEngine(store=store, embedder=WordEmbedder(), clock=clock) as engine,
        MemoryEngine(store=other, embedder=WordEmbedder(), clock=clock) as another,
    ):
        await given(engine, 300, "note", even=lambda at: at % 2 == 0)

        async def found(even: bool) -> set[str]:
            return {one.memory_id for one in await engine.list(actor=ANA, where={"even": even}, limit=1000)}

        assert len(await found(True)) == len(await found(True)) == 150
        made = str((await another.add("One more.", actor=ANA, data={"even": True})).memory_id)
        assert made in await found(True)
        await another.update(made, "One more boat.", actor=ANA, data={"even": False})
        assert made not in await found(True)
        assert made in await found(False)
        await another.forget(made, actor=ANA)
        assert made not in await found(False)
        assert len(await found(True)) == 150
    assert read == [300, 1, 1, 0]


GIVEN = {
    "path": "Re\u0301sume\u0301.pdf", "code": "  x = 1", "zip": "01234 ", "note": "a\r\nb", "mail": "ana@example.org",
    "phone": 4915112345678, "people": {"lead": "eva@example.org"}, "big": 2**63 - 1, "na\u0308me": "x",
}  # fmt: skip


@pytest.mark.parametrize("name", GIVEN)
async def test_the_value_that_was_given_finds_the_memory_whatever_is_stored_of_it(tmp_path: Path, name: str) -> None:
    value = GIVEN[name]
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        made = await engine.add("A thing of the office.", actor=ANA, data={name: value})
        await engine.add("Another thing of the office.", actor=ANA, data={name: "other"})
        filters: list[dict[str, Any]] = [{name: value}, {"$and": [{name: value}]}, {"$not": {name: {"$ne": value}}}]
        if not isinstance(value, dict):
            filters += [{name: {"$eq": value}}, {name: {"$in": ["nothing", value]}}]
        if isinstance(value, str):
            filters.append({name: {"$contains": value}})
        for where in filters:
            found = await engine.list(actor=ANA, where=where)
            assert [one.memory_id for one in found] == [made.memory_id], where
            hits = (await engine.search("thing of the office", actor=ANA, where=where)).hits
            assert [hit.memory.memory_id for hit in hits] == [made.memory_id], where
            assert await engine.count(actor=ANA, where=where) == 1, where
        if isinstance(value, str) and "@" not in value:
            assert dict(found[0].data) == {name: value}
        assert "example.org" not in str([dict(one.data) for one in found])


async def test_an_integer_that_no_store_can_hold_is_refused_with_what_to_do() -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as engine:
        with pytest.raises(InvalidInput, match="data:integer") as refused:
            await engine.add("A number.", actor=ANA, data={"n": 2**63})
        assert "as text" in str(refused.value.hint)
