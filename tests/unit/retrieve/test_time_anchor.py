"""A time that a query tells by an event: which memory tells of it, and what lies before and after it is lifted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mnemic.engine import MemoryEngine
from mnemic.language.questions.times import Clause, Side
from mnemic.ports import RecordStore
from mnemic.retrieve.search import Searcher
from mnemic.retrieve.signals import SignalWeights
from mnemic.retrieve.time_anchor import TimeAnchor, raise_anchored
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Candidate, Level, Message, SearchResult, Signals, Where

ANA, BEN = Actor(user="ana"), Actor(user="ben")
MOVED = datetime(2023, 5, 8, 12, tzinfo=UTC)
TOLD = {
    "The flat near the castle is cold.": -400,
    "We moved to Porto with two vans.": 0,
    "The flat near the river is bright.": 90,
}
ASKED = "Which flat did I have before we moved to Porto?"


@pytest.fixture(params=["sqlite", "in process"])
async def engine(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    store: RecordStore = SqliteStore(tmp_path / "m.db") if request.param == "sqlite" else InProcessStore()
    async with MemoryEngine(store=store, embedder=WordEmbedder()) as engine:
        yield engine


async def tell(engine: MemoryEngine, actor: Actor, told: dict[str, int]) -> dict[str, str]:
    """Each text's memory_id."""
    given = [Candidate(content=text, occurred_at=MOVED + timedelta(days=days)) for text, days in told.items()]
    receipts = await engine.add_many(given, actor=actor)
    return {text: str(receipt.memory_id) for text, receipt in zip(told, receipts, strict=True)}


def contents(result: SearchResult) -> list[str]:
    return [hit.memory.content for hit in result.hits]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Which flat did I have before we moved to Porto?", "The flat near the castle is cold."),
        ("Which flat did I have after we moved to Porto?", "The flat near the river is bright."),
        ("Which flat do I have since the two vans to Porto?", "The flat near the river is bright."),
    ],
)
async def test_what_lies_on_the_side_that_is_meant_comes_first(engine: MemoryEngine, query: str, first: str) -> None:
    ids = await tell(engine, ANA, TOLD)
    result = await engine.search(query, actor=ANA)
    flats = [content for content in contents(result) if "flat" in content]
    assert flats[0] == first
    assert set(contents(result)) == set(TOLD)
    assert (result.plan.anchor, result.plan.anchor_at) == (ids["We moved to Porto with two vans."], MOVED)
    assert result.plan.as_dict()["anchor_side"] in ("before", "after")
    again = await engine.search(query, actor=ANA)
    assert (again.hits, again.plan) == (result.hits, result.plan)


async def test_messages_of_a_conversation_are_lifted_too(engine: MemoryEngine) -> None:
    messages = [
        Message(role="user", content=text, session=f"s{days}", sent_at=MOVED + timedelta(days=days))
        for text, days in TOLD.items()
    ]
    await engine.record(messages, actor=ANA)
    found = await engine.search(ASKED, actor=ANA)
    before = contents(found)
    after = contents(await engine.search(ASKED.replace("before", "after"), actor=ANA))
    cold, bright = "The flat near the castle is cold.", "The flat near the river is bright."
    assert before.index(cold) < before.index(bright)
    moved = {hit.memory.content: hit for hit in found.hits if "anchored" in hit.ranks}
    assert cold in moved
    assert bright not in moved
    assert "on the side of the event that is meant" in moved[cold].why
    assert after.index(bright) < after.index(cold)


async def test_the_words_of_the_event_are_enough_among_many_memories(engine: MemoryEngine) -> None:
    noise = {f"Note {number} is about the weather of day {number}.": number for number in range(40)}
    ids = await tell(engine, ANA, TOLD | noise)
    result = await engine.search("Which flat did I have before the move?", actor=ANA)
    assert result.plan.anchor == ids["We moved to Porto with two vans."]
    assert contents(result)[0] == "The flat near the castle is cold."


async def test_nothing_known_of_the_event_changes_nothing(engine: MemoryEngine) -> None:
    await tell(engine, ANA, TOLD)
    result = await engine.search("Which flat did I have before the earthquake in Lima?", actor=ANA)
    assert (result.plan.anchor, result.plan.anchor_at, result.plan.anchor_side) == (None, None, None)
    where = Where(scopes=(ANA.scope(Level.USER),))
    without = Searcher(engine.store, engine.embedder, signal_weights=SignalWeights(anchored=0.0))
    plain = await without.search(result.query, where, top_k=4)
    assert [(hit.memory.memory_id, hit.score) for hit in result.hits] == [
        (hit.memory.memory_id, hit.score) for hit in plain.hits
    ]


async def test_a_query_without_a_clause_embeds_and_reads_nothing_more(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=embedder) as engine:
        await tell(engine, ANA, TOLD)
        before = embedder.texts
        await engine.search("Which flat did I have?", actor=ANA)
        assert embedder.texts == before + 1
        await engine.search(ASKED, actor=ANA)
        assert embedder.texts == before + 3


async def test_what_the_filter_hides_is_no_anchor(engine: MemoryEngine) -> None:
    ids = await tell(engine, ANA, TOLD)
    moved = ids["We moved to Porto with two vans."]
    earlier = await engine.search(ASKED, actor=ANA, as_of=MOVED - timedelta(days=1))
    assert earlier.plan.anchor is None
    assert (await engine.search(ASKED, actor=ANA, as_of=MOVED + timedelta(days=1))).plan.anchor == moved
    assert (await engine.search(ASKED, actor=ANA, happened_from=MOVED + timedelta(days=1))).plan.anchor is None
    known = await engine.search(ASKED, actor=ANA, known_at=engine.clock.now() - timedelta(days=1))
    assert (known.hits, known.plan.anchor) == ((), None)
    await engine.forget(moved, actor=ANA)
    assert (await engine.search(ASKED, actor=ANA)).plan.anchor is None


EVENTS = st.lists(st.sampled_from(["We moved to Porto.", "I moved to Graz.", "The flat is cold."]), max_size=4)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mine=EVENTS, other=EVENTS)
async def test_only_what_the_asker_may_see_is_an_anchor(mine: list[str], other: list[str]) -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=WordEmbedder()) as engine:
        own = await tell(engine, ANA, {text: place for place, text in enumerate(mine)})
        await tell(engine, BEN, {text: 10 * place for place, text in enumerate(other)})
        result = await engine.search(ASKED, actor=ANA)
        assert result.plan.anchor in {None, *own.values()}
        assert {hit.memory.memory_id for hit in result.hits} == set(own.values())


def signals(memory_id: str, days: int) -> Signals:
    return Signals(memory_id=memory_id, happened_at=MOVED + timedelta(days=days))


@pytest.mark.parametrize(
    ("side", "days", "told"),
    [
        ("before", None, {"long ago", "the day of it"}),
        ("before", 7.0, {"the day of it"}),
        ("after", None, {"the day of it", "next day", "a week later", "much later"}),
        ("after", 7.0, {"the day of it", "next day", "a week later"}),
        ("during", None, {"the event", "the day of it", "next day"}),
    ],
)
def test_the_day_of_the_event_lies_on_every_side(side: str, days: float | None, told: set[str]) -> None:
    happened = {"long ago": -300, "the event": 0, "the day of it": 0, "next day": 1, "a week later": 7}
    known = {one: signals(one, day) for one, day in {**happened, "much later": 200}.items()}
    anchor = TimeAnchor(memory_id="the event", moment=MOVED, clause=Clause(text="it", side=Side(side), days=days))
    scores = dict.fromkeys(known, 0.5) | {"unknown": 0.5}
    lifted = raise_anchored(scores, known, anchor, 0.25)
    assert {one for one, score in lifted.items() if score == 0.75} == told
    assert {score for one, score in lifted.items() if one not in told} == {0.5}
    assert raise_anchored(scores, known, None, 0.25) == scores
