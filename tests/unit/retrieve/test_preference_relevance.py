"""Which requests depend on which preferences."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mnemic import Actor, Settings, build_engine
from mnemic.engine import MemoryEngine
from mnemic.language.questions.topics import MAX_WORDS
from mnemic.retrieve.preference_relevance import READ, ParsedRequest
from mnemic.types import Hit, Kind, Memory, Origin, Rank, Source, Trust
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)
NOW = datetime(2026, 5, 3, tzinfo=UTC)


def hit(content: str, key: str | None = None, cosine: float | None = None, category: str = "preference") -> Hit:
    memory = Memory(
        memory_id="m", version=1, content=content, key=key, category=category, kind=Kind.LONG_TERM,
        scope=Actor(user="ana").scope("user"), confidence=0.8, created_at=NOW, updated_at=NOW,
        source=Source(origin=Origin.USER_STATED), trust=Trust.HIGH,
    )  # fmt: skip
    return Hit(memory=memory, score=0.1, ranks={} if cosine is None else {"vector": Rank(1, cosine)})


def test_by_topics_words_and_what_shapes_every_answer() -> None:
    EXAMPLES.assert_right(
        lambda request_, content, key: ParsedRequest.from_text(request_).depends_on(hit(content, key)),
        "by_topics_words_and_what_shapes_every_answer",
    )


@pytest.mark.parametrize(
    ("content", "cosine", "depends"),
    [("Ich mag Blau.", 0.26, True), ("Ich mag Blau.", 0.24, False), ("jazz", 0.34, False), ("jazz", 0.35, True)],
)
def test_by_likeness_where_no_word_tells(content: str, cosine: float, depends: bool) -> None:
    assert ParsedRequest.from_text("Hm, and now?").depends_on(hit(content, cosine=cosine)) is depends


def test_of_a_pasted_page_the_ends_are_read() -> None:
    page = "lorem ipsum " * READ
    assert ParsedRequest.from_text(page + "Find me a flight.").topics >= {"flight"}
    assert ParsedRequest.from_text("Find me a flight. " + page).topics >= {"flight"}
    assert "flight" not in ParsedRequest.from_text(page + " flight " + page).topics


def told(*cosines: float) -> list[Hit]:
    """Preferences of no known topic, each with its cosine."""
    hits = [hit(f"Zyx {place}.", cosine=cosine) for place, cosine in enumerate(cosines)]
    return [replace(one, memory=replace(one.memory, memory_id=str(at))) for at, one in enumerate(hits)]


def test_a_choice_is_given_the_nearest_preferences() -> None:
    near = told(0.09, 0.05, 0.095, 0.08)
    assert ParsedRequest.from_text("Which of these should I take?").find_concerned(near) == set()
    assert ParsedRequest.from_text("Which of these should I take?").find_concerned(told(0.24, 0.12)) == {"0", "1"}
    assert ParsedRequest.from_text("What is a hash table?").find_concerned(told(0.24, 0.12)) == set()
    assert ParsedRequest.from_text("Write a function in Python.").find_concerned(told(0.24, 0.12)) == set()


def test_a_long_request_touches_nothing_more() -> None:
    words = " ".join(f"word{number}" for number in range(MAX_WORDS))
    assert "look" in ParsedRequest.from_text("Where could I go shopping?").topics
    assert "look" not in ParsedRequest.from_text(f"Where could I go shopping? {words}").topics


ALLERGY = "I'm allergic to cashews, so leave those out."


def test_a_question_for_a_fact_does_not_depend_on_an_allergy() -> None:
    EXAMPLES.assert_right(
        lambda question: bool(ParsedRequest.from_text(question).concerns(ALLERGY, category="constraint", cosine=0.1)),
        "a_question_for_a_fact_does_not_depend_on_an_allergy",
    )


@pytest.mark.parametrize(
    "request_", ["What do I eat?", "Where do I eat tonight?", "What should we cook for dinner?", "What is my diet?"]
)
def test_a_request_about_food_depends_on_an_allergy(request_: str) -> None:
    assert ParsedRequest.from_text(request_).concerns(ALLERGY, category="constraint", cosine=0.1)


GYM = "Never book hotels without a gym."


@pytest.mark.parametrize(
    ("request_", "depends"),
    [
        ("Book a hotel in Rome.", True),
        ("Where should I stay in Oslo? I need a room for two nights.", True),
        ("Plan a trip to Oslo.", True),
        ("Find me a restaurant in Rome.", False),
        ("Book me a flight to Oslo.", False),
        ("Recommend me a good book.", False),
        ("Recommend a film for tonight.", False),
        ("Find a gym near my office.", False),
    ],
)
def test_a_rule_is_about_what_it_lets_one_choose(request_: str, depends: bool) -> None:
    ask = ParsedRequest.from_text(request_)
    assert ask.depends_on(hit(GYM, cosine=0.4, category="constraint")) is depends
    assert bool(ask.find_concerned([hit(GYM, cosine=0.4, category="constraint")])) is depends


def test_verbs_of_choosing_say_nothing_about_the_thing() -> None:
    EXAMPLES.assert_right(
        lambda content, request_: ParsedRequest.from_text(request_).depends_on(hit(content, cosine=0.15)),
        "verbs_of_choosing_say_nothing_about_the_thing",
    )


NAME, AGE = ("Ana Torres", "name"), ("I'm 34 years old.", None)


@pytest.mark.parametrize(
    ("request_", "content", "key", "depends"),
    [
        ("What should I wear to the gala?", *NAME, False),
        ("Which mattress should I get?", *NAME, False),
        ("Sign this letter for me.", *NAME, True),
        ("Draft an email to my landlord.", *NAME, True),
        ("What's my name?", *NAME, True),
        ("Recommend a restaurant.", *AGE, False),
        ("Write a birthday card for my sister.", *AGE, False),
        ("How many years old am I?", *AGE, True),
        ("What should I learn for my job?", "I work as a nurse.", None, True),
    ],
)
def test_who_somebody_is_counts_for_what_it_is_about_alone(
    request_: str, content: str, key: str | None, depends: bool
) -> None:
    ask = ParsedRequest.from_text(request_)
    told_of_oneself = hit(content, key, cosine=0.24, category="identity")
    assert ask.depends_on(told_of_oneself) is depends
    assert bool(ask.find_concerned([told_of_oneself])) is depends


def test_beside_what_surely_matters_a_topic_in_common_says_little() -> None:
    told_of = [
        ("fish", "I'm a vegetarian, but I eat fish.", 0.42, "preference"),
        ("coffee", "I drink my coffee black.", 0.05, "preference"),
        ("walnuts", "My husband is allergic to walnuts.", 0.03, "constraint"),
        ("knee", "I have a bad knee.", 0.08, "constraint"),
        ("short", "Keep your answers short.", 0.01, "preference"),
    ]
    hits = [hit(content, cosine=cosine, category=category) for _, content, cosine, category in told_of]
    named = [
        replace(one, memory=replace(one.memory, memory_id=name)) for one, (name, *_) in zip(hits, told_of, strict=True)
    ]
    ask = ParsedRequest.from_text("What shall I cook tonight?")
    assert ask.find_concerned(named) == {"fish", "walnuts", "short"}
    assert "coffee" in ask.find_concerned([one for one in named if one.memory.memory_id != "fish"])


def test_a_diet_under_a_key_says_nothing_of_sport() -> None:
    diet = hit("vegetarian", "diet", cosine=0.2)
    assert not ParsedRequest.from_text("Sign me up for a sports course.").depends_on(diet)
    assert ParsedRequest.from_text("Book me a table for two.").depends_on(diet)


ANA = Actor(user="ana")
TOLD = (
    "I'm a vegetarian.",
    "I use a wheelchair.",
    "I work as a nurse in Ghent.",
    "I drive a 2014 Volvo estate.",
    "The boiler was serviced in May.",
    "My dentist is Dr. Wolf.",
    "My sister Mia lives in Lisbon.",
    "My thesis is due on 14 June.",
)


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[MemoryEngine]:
    async with build_engine(Settings(store=str(tmp_path / "s.db"))) as one:
        for said in TOLD:
            await one.add(said, actor=ANA)
        yield one


async def shown(engine: MemoryEngine, request: str) -> set[str]:
    return {hit.memory.content for hit in (await engine.context(request, actor=ANA)).hits}


@pytest.mark.parametrize(
    "request_for_food", ["Recommend a restaurant.", "Book a table for dinner.", "Suggest a recipe for tonight."]
)
async def test_a_diet_added_without_a_category_is_shown_for_food(engine: MemoryEngine, request_for_food: str) -> None:
    found = await shown(engine, request_for_food)
    assert "I'm a vegetarian." in found
    assert len(found) <= 3


@pytest.mark.parametrize(
    "request_for_else", ["Fix this Python bug: IndexError", "Thanks, that was helpful.", "Who wrote The Tempest?"]
)
async def test_it_is_not_shown_for_what_does_not_depend_on_it(engine: MemoryEngine, request_for_else: str) -> None:
    assert await shown(engine, request_for_else) == set()


async def test_what_states_a_plain_fact_is_no_preference(engine: MemoryEngine) -> None:
    assert "The boiler was serviced in May." not in await shown(engine, "Recommend a restaurant for tonight.")


async def test_it_is_shown_among_sixty_other_statements(engine: MemoryEngine) -> None:
    kim = Actor(user="kim")
    for place in range(60):
        await engine.add(f"The meeting about dinner table number {place} was on floor {place}.", actor=kim)
    await engine.add("I'm a vegetarian.", actor=kim)
    found = await engine.context("Book a table for dinner.", actor=kim)
    assert "I'm a vegetarian." in {hit.memory.content for hit in found.hits}
