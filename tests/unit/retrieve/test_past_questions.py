"""Questions about a time that is over find what was true then, and no other question does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.inject.memory_source import SourceEntry
from mnemic.retrieve.question import read_question
from mnemic.retrieve.time_questions import asks_past
from mnemic.testing.clock import ManualClock
from mnemic.types import Actor, Intent, Message, RecallRequest, SearchResult
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


ADA = Actor(user="ada")
PERIODS = (
    "Where did I live in March 2026?",
    "Where did I live in March?",
    "Where did I live before April 2026?",
    "Where was I living two months ago?",
    "Where did I live before?",
    "What was my previous home city?",
)
NOW = ("Where do I live?", "What is my home city?", "Which home city should I use in March 2027?")


@pytest.fixture
async def engine() -> AsyncIterator[MemoryEngine]:
    clock = ManualClock(datetime(2026, 3, 2, 10, tzinfo=UTC))
    async with build_engine(Settings(store="memory:"), clock=clock) as engine:
        await engine.add("Valencia", key="home_city", actor=ADA)
        clock.jump_to(datetime(2026, 4, 20, tzinfo=UTC))
        await engine.add("Madrid", key="home_city", actor=ADA)
        clock.jump_to(datetime(2026, 5, 21, tzinfo=UTC))
        yield engine


def contents(result: SearchResult) -> list[str]:
    return [hit.memory.content for hit in result.hits]


@pytest.mark.parametrize("question", PERIODS)
async def test_a_question_about_the_past_finds_what_was_true_then_first(engine: MemoryEngine, question: str) -> None:
    result = await engine.search(question, actor=ADA)
    assert contents(result) == ["Valencia", "Madrid"]
    assert result.hits[0].ranks["then"].score > 0
    assert "was true then" in result.hits[0].why
    assert (
        SourceEntry.from_hit(result.hits[0], "memory", reader=ADA).content
        == "home_city: Valencia (2026-03-02 to 2026-04-20)"
    )


@pytest.mark.parametrize("question", PERIODS)
async def test_a_model_is_shown_it_on_every_path(engine: MemoryEngine, question: str) -> None:
    shown = await engine.recall(RecallRequest(intent=Intent(query=question)), actor=ADA)
    assert shown.hits[0].memory.content == "Valencia"


async def test_a_question_about_now_is_shown_only_what_holds(engine: MemoryEngine) -> None:
    shown = await engine.recall(RecallRequest(intent=Intent(query="Where do I live?")), actor=ADA)
    assert [hit.memory.content for hit in shown.hits] == ["Madrid"]


@pytest.mark.parametrize("question", NOW)
async def test_a_question_about_now_finds_nothing_that_is_over(engine: MemoryEngine, question: str) -> None:
    assert contents(await engine.search(question, actor=ADA)) == ["Madrid"]


async def test_a_time_in_which_the_present_value_held_already_has_no_other(engine: MemoryEngine) -> None:
    assert contents(await engine.search("Where did I live on 2 May 2026?", actor=ADA)) == ["Madrid"]


async def test_who_says_as_of_is_taken_at_their_word(engine: MemoryEngine) -> None:
    then = datetime(2026, 5, 1, tzinfo=UTC)
    assert contents(await engine.search("Where did I live in March 2026?", actor=ADA, as_of=then)) == ["Madrid"]


def test_the_german_was_asks_what() -> None:
    EXAMPLES.assert_right(lambda text: asks_past(read_question(text)), "the_german_was_asks_what")


@pytest.mark.parametrize(
    "query",
    [
        "Where did I live before Madrid?",
        "Where did I use to live?",
        "¿Dónde vivía en marzo de 2026?",
        "Dove abitavo nel marzo 2026?",
        "Waar woonde ik in maart 2026?",
    ],
)
async def test_a_time_told_by_what_came_then_or_in_another_language(engine: MemoryEngine, query: str) -> None:
    found = await engine.search(query, actor=ADA)

    assert found.hits[0].memory.content == "Valencia"


@pytest.mark.parametrize(
    "query", ["What do I use to get home?", "Is there mayo at home?", "Where do I live before sunrise?"]
)
async def test_words_that_only_look_like_a_time_that_is_over(engine: MemoryEngine, query: str) -> None:
    found = await engine.search(query, actor=ADA)

    assert "Valencia" not in [hit.memory.content for hit in found.hits]


LIFE = (
    (datetime(2023, 1, 10, tzinfo=UTC), "I work as a nurse and I live in Oslo."),
    (datetime(2024, 3, 1, tzinfo=UTC), "I moved to Bergen."),
    (datetime(2025, 2, 1, tzinfo=UTC), "I changed jobs, I am a teacher now."),
    (datetime(2025, 6, 1, tzinfo=UTC), "I moved to Lisbon last week."),
)


@pytest.fixture
async def told() -> AsyncIterator[MemoryEngine]:
    """Four messages, each recorded and captured, as `mnemic chat` and an import do."""
    clock = ManualClock(datetime(2026, 5, 21, tzinfo=UTC))
    async with build_engine(Settings(store="memory:"), clock=clock) as engine:
        for at, text in LIFE:
            said = Message(role="user", content=text, sent_at=at)
            await engine.capture(said, actor=ADA)
            await engine.record([said], actor=ADA)
        yield engine


@pytest.mark.parametrize(
    ("question", "then", "never"),
    [
        ("What was my job in 2024?", "nurse", "teacher"),
        ("Where did I live in May 2024?", "Bergen", "Lisbon"),
        ("Where did I live in 2023?", "Oslo", "Bergen"),
    ],
)
async def test_messages_of_another_value_come_after_what_was_true_then(
    told: MemoryEngine, question: str, then: str, never: str
) -> None:
    found = contents(await told.search(question, actor=ADA))
    first = found[0]
    assert then in first
    assert [one for one in found[: found.index(first) + 1] if never in one] == []
    shown = await told.recall(RecallRequest(intent=Intent(query=question)), actor=ADA)
    assert then in shown.hits[0].memory.content
