"""An import is taken back with everything learnt from it; what a person has changed since stays."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from mnemic.cli.file_import import Intake, Summary
from mnemic.engine import MemoryEngine
from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.item import Item
from mnemic.maintenance.bulk_import import KEPT, take_part
from mnemic.maintenance.erase import erase
from mnemic.maintenance.import_undo import ImportUndone
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.clock import ManualClock
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Memory, Message, Status

ANA, BEN = Actor(user="ana"), Actor(user="ben")
EARLY = datetime(2025, 1, 5, tzinfo=UTC)


@pytest.fixture(params=["inprocess", "sqlite"])
def engine(request: pytest.FixtureRequest, tmp_path: object) -> MemoryEngine:
    store = InProcessStore() if request.param == "inprocess" else SqliteStore(f"{tmp_path}/m.db")
    return MemoryEngine(store=store, embedder=WordEmbedder(), clock=ManualClock(datetime(2026, 6, 5, tzinfo=UTC)))


async def imported(engine: MemoryEngine, said: Sequence[tuple[str, str] | Candidate], actor: Actor = ANA) -> Summary:
    items = [
        Item(place=f"line {at}", conversation="c", content=one if isinstance(one, Candidate) else Message(
            role=one[0], content=one[1], sent_at=datetime(2026, 6, 1, tzinfo=UTC) + timedelta(minutes=at)
        ))
        for at, one in enumerate(said)
    ]  # fmt: skip
    return await Intake(engine=engine, actor=actor).take(iter(items), lambda _: None)


async def undone(engine: MemoryEngine, summary: Summary, actor: Actor = ANA) -> ImportUndone:
    assert summary.import_id is not None
    return await engine.undo_import(summary.import_id, actor=actor)


async def present(engine: MemoryEngine) -> list[Memory]:
    return sorted(await engine.store.scan("default", statuses=list(Status), limit=500), key=lambda one: one.memory_id)


def state(memories: list[Memory]) -> list[tuple[object, ...]]:
    return [
        (one.memory_id, one.content, one.key, one.status, one.valid_from, one.valid_to, one.data) for one in memories
    ]


CHAT = [
    ("user", "I moved to Bergen in May."),
    ("assistant", "Noted."),
    ("user", "I sold my car last week."),
    ("user", "I am vegetarian."),
    ("user", "I live in Oslo now."),
    ("user", "My dentist is Dr. Moen."),
]


async def test_an_import_taken_back_leaves_memory_as_it_was(engine: MemoryEngine) -> None:
    async with engine:
        await imported(
            engine, [("user", "I live in Rome."), ("user", "I have a car."), ("user", "My dentist is Dr. Moen.")]
        )
        await engine.add("Likes tea.", actor=ANA, data={"cups": 2})
        before = state(await present(engine))
        engine.clock.advance(timedelta(days=1))  # type: ignore[attr-defined]
        summary = await imported(engine, [*CHAT, Candidate(content="Likes tea.", data={"sugar": "no"})])
        assert state(await present(engine)) != before
        done = await undone(engine, summary)
        assert done.changed_since == ()
        assert state(await present(engine)) == before
        with pytest.raises(InvalidInput, match="import:unknown"):
            await undone(engine, summary)


async def test_what_a_person_changed_after_the_import_stays(engine: MemoryEngine) -> None:
    async with engine:
        summary = await imported(engine, [("user", "I live in Oslo."), ("user", "I am vegetarian.")])
        (city,) = await engine.list(actor=ANA, keys=["home_city"])
        await engine.update(city.memory_id, "Bergen", actor=ANA)
        done = await undone(engine, summary)
        assert done.changed_since == (city.memory_id,)
        assert [one.content for one in await engine.list(actor=ANA)] == ["Bergen"]


async def test_an_import_is_taken_back_by_its_user_alone_and_again_only_where_asked(engine: MemoryEngine) -> None:
    async with engine:
        summary = await imported(engine, CHAT)
        with pytest.raises(InvalidInput, match="import:unknown"):
            await undone(engine, summary, BEN)
        await undone(engine, summary)
        assert await present(engine) == []
        again = await imported(engine, CHAT)
        assert (again.recorded, again.import_id, await present(engine)) == (0, None, [])


async def test_the_last_imports_can_be_taken_back_and_none_of_an_erased_person(engine: MemoryEngine) -> None:
    async with engine:
        summaries = []
        for number in range(KEPT + 1):
            engine.clock.advance(timedelta(minutes=1))  # type: ignore[attr-defined]
            summaries.append(await imported(engine, [("user", f"Boat number {number} is blue.")]))
        with pytest.raises(InvalidInput, match="import:unknown"):
            await undone(engine, summaries[0])
        assert len((await undone(engine, summaries[1])).forgotten) >= 1
        receipt = await erase(engine.store, engine.clock, "ana", actor=ANA)
        assert receipt.complete
        assert await engine.store.marks("default", "imported/") == {}


async def test_an_import_shows_what_was_learnt_and_what_was_left_out(engine: MemoryEngine) -> None:
    async with engine:
        await imported(engine, [("user", "I live in Rome.")])
        engine.clock.advance(timedelta(days=1))  # type: ignore[attr-defined]
        summary = await imported(
            engine, [("user", "I moved to Bergen."), ("assistant", "Noted."), ("user", "What is the weather like?")]
        )
        told = [(one["change"], one["key"], one["content"], one["was"]) for one in summary.learnt]
        assert told == [("changed", "home_city", "Bergen", ["Rome"])]
        assert [(one["place"], one["words"]) for one in summary.passed_over] == [
            ("line 2", "What is the weather like?")
        ]
        assert summary.skipped == {"small_talk": 1}
        assert "Noted." not in [one.content for one in await present(engine)]


async def test_an_import_by_parts_is_taken_back_whole(engine: MemoryEngine) -> None:
    async with engine:
        await engine.add("Rome", actor=ANA, key="home_city")
        before = state(await present(engine))
        engine.clock.advance(timedelta(days=1))  # type: ignore[attr-defined]
        first = [Candidate(content="Plays the cello."), Candidate(content="Bergen", key="home_city")]
        await take_part(engine, ANA, "boats", 0, first)
        await take_part(engine, ANA, "boats", 0, [*first, Candidate(content="Has a boat.")])
        done = await engine.undo_import("boats", actor=ANA)
        assert (len(done.forgotten), len(done.restored), done.changed_since) == (3, 1, ())
        assert state(await present(engine)) == before
        with pytest.raises(InvalidInput, match="import:unknown"):
            await engine.undo_import("boats", actor=ANA)


async def test_pieces_of_one_file_that_arrive_together_are_taken_back_as_one(engine: MemoryEngine) -> None:
    async with engine:
        said = ["I live in Oslo.", "I am vegetarian.", "My dentist is Dr. Moen."]
        items = [Item(place="1", conversation="c", content=Message(role="user", content=one)) for one in said]
        intakes = [Intake(engine=engine, actor=ANA, import_id="file-1") for _ in items]
        both = zip(intakes, items, strict=True)
        summaries = await asyncio.gather(*(intake.take(iter([item]), lambda _: None) for intake, item in both))
        assert {one.import_id for one in summaries} == {"file-1"}
        assert len(await engine.list(actor=ANA)) > len(said)
        await engine.undo_import("file-1", actor=ANA)
        assert await present(engine) == []
