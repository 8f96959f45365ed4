"""The plan that a search reports: sub-queries, bounds, the time and the people it lifts, the lists that answered."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from mnemic.engine import MemoryEngine
from mnemic.language.questions.times import named_date
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Message

ANA = Actor(user="ana")
ASKED = datetime(2024, 6, 15, tzinfo=UTC)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        said = [("Marta", "I sold the blue car last week."), ("Ben", "I bought a red boat in March.")]
        await engine.record([Message(role="user", content=text, speaker=who) for who, text in said], actor=ANA)
        yield engine


async def test_a_question_about_two_things_tells_its_parts(engine: MemoryEngine) -> None:
    result = await engine.search("What did Marta sell? What did Ben buy?", actor=ANA, top_k=3)
    plan = result.plan
    assert plan.queries == ("What did Marta sell? What did Ben buy?", "What did Marta sell?", "What did Ben buy?")
    assert (plan.speakers, plan.top_k, plan.levels) == (("Ben", "Marta"), 3, ("user",))
    assert {"vector", "keyword"} <= set(plan.lists)
    json.dumps(plan.as_dict())


async def test_bounds_and_times_are_those_that_were_used(engine: MemoryEngine) -> None:
    known = datetime(2030, 1, 1, tzinfo=UTC)
    result = await engine.search(
        "what was sold two weeks ago",
        actor=ANA,
        kinds=["episodic"],
        categories=["message"],
        keys=["seat"],
        happened_from=datetime(2024, 1, 1, tzinfo=UTC),
        as_of=ASKED,
        known_at=known,
        asked_at=ASKED,
    )
    told = result.plan.as_dict()
    assert (told["kinds"], told["categories"], told["keys"]) == (["episodic"], ["message"], ["seat"])
    assert (told["happened_from"], told["happened_to"]) == ("2024-01-01T00:00:00+00:00", None)
    assert (told["as_of"], told["known_at"]) == (ASKED.isoformat(), known.isoformat())
    assert (told["told_from"], told["told_to"]) == ("2024-05-28", "2024-06-05")


async def test_the_newest_have_no_query(engine: MemoryEngine) -> None:
    plan = (await engine.search("", actor=ANA)).plan
    assert (plan.queries, plan.lists) == ((), ("recency",))


async def test_a_turn_tells_it_in_its_story(engine: MemoryEngine) -> None:
    report = await engine.run(actor=ANA, goal="What did Marta sell in March 2024?")
    plan = next(event["plan"] for event in report.history if "plan" in event)
    assert (plan["told_from"], plan["told_to"], plan["speakers"]) == ("2024-03-01", "2024-03-31", ["Marta"])
    assert plan["queries"] == ["What did Marta sell in March 2024?"]


@pytest.mark.parametrize(
    ("query", "days"),
    [
        ("in 2023", (date(2023, 1, 1), date(2023, 12, 31))),
        ("in February 2024", (date(2024, 2, 1), date(2024, 2, 29))),
        ("on 3 May 2024", (date(2024, 5, 3), date(2024, 5, 3))),
        ("in May", (None, None)),
        ("on 31 February 2024", (None, None)),
    ],
)
def test_the_days_of_a_named_date(query: str, days: tuple[date | None, date | None]) -> None:
    found = named_date(query)
    assert found is not None
    assert found.days == days
