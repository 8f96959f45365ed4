"""A question about a thing that is known, for an attribute that nobody told, is not answered by what resembles it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from mnemic.bootstrap import build_engine
from mnemic.config import Settings
from mnemic.engine import MemoryEngine
from mnemic.errors import EmbedderFailed
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.retrieve.answer_judgement import ANSWERED, FIRST, MOST, in_judged_order, judge_answers
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.types import Actor, Deadline, Message

EVA = Actor(user="eva")
TOLD = (
    "My godfather Anselm repairs church organs in Passau.",
    "Our ferry to Gotland leaves at 18:20 from pier 4.",
    "My beekeeping suit hangs in the shed behind the mill.",
    "Wilhelmina's recital is on the ninth of October.",
    "The harpsichord was tuned by Mr Abelard.",
    "The cellar key hangs behind the clock.",
    "The spare fuses are under the stairs.",
)
ASKED = (
    ("What does Anselm repair?", "How old is Anselm?"),
    ("From which pier does the ferry go?", "How much does the ferry cost?"),
    ("Where is my beekeeping suit?", "What size is my beekeeping suit?"),
    ("When is Wilhelmina's recital?", "Where is Wilhelmina's recital?"),
    ("Who tuned the harpsichord?", "What colour is the harpsichord?"),
    ("Where is the cellar key?", "Where is the attic key?"),
    ("Where are the spare fuses?", "How many spare fuses are there?"),
)


class CountingEmbedder(MiniLmEmbedder):
    """The default embedder, with the statements that it judged; it fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        super().__init__()
        self.judged: list[Sequence[str]] = []
        self.failures = failures

    async def judge_answers(
        self, question: str, statements: Sequence[str], *, deadline: Deadline | None = None
    ) -> list[float]:
        self.judged.append(statements)
        if self.failures:
            self.failures -= 1
            raise EmbedderFailed("not_finite")
        return await super().judge_answers(question, statements, deadline=deadline)


@pytest.fixture
def embedder() -> CountingEmbedder:
    return CountingEmbedder()


@asynccontextmanager
async def told(embedder: MiniLmEmbedder) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=InProcessStore(), embedder=embedder) as engine:
        for text in TOLD:
            await engine.add(text, actor=EVA)
        yield engine


@pytest.mark.parametrize(("place", "answered", "near"), [(place, *pair) for place, pair in enumerate(ASKED)])
async def test_another_attribute_of_a_known_thing_is_unknown(
    embedder: CountingEmbedder, place: int, answered: str, near: str
) -> None:
    async with told(embedder) as engine:
        right, wrong = [await engine.search(question, actor=EVA) for question in (answered, near)]
    assert right.hits[0].memory.content == TOLD[place]
    assert right.relevance is not None
    assert wrong.relevance is not None
    assert right.relevance > 0.5
    assert not right.abstains
    assert wrong.relevance < right.relevance / 2


async def test_a_search_reads_few_statements_and_none_for_what_is_no_question(embedder: CountingEmbedder) -> None:
    async with told(embedder) as engine:
        await engine.search(ASKED[0][0], actor=EVA)
        assert [len(read) <= FIRST for read in embedder.judged] == [True]
        await engine.search("ferry to Gotland", actor=EVA)
        await engine.search("Wann fährt die Fähre nach Gotland ab?", actor=EVA)
    assert len(embedder.judged) == 1


class CertainEmbedder(CountingEmbedder):
    """The default embedder, whose judge knows that one statement answers and no other does."""

    async def judge_answers(
        self, question: str, statements: Sequence[str], *, deadline: Deadline | None = None
    ) -> list[float]:
        self.judged.append(statements)
        return [5.0 if statement == ANSWER else -8.0 for statement in statements]


ANSWER = TOLD[-1]


async def test_an_answer_behind_statements_that_resemble_the_question_more_is_judged_too() -> None:
    embedder = CertainEmbedder()
    async with told(embedder) as engine:
        found = await engine.search("anything", actor=EVA)
    statements = {hit.memory.memory_id: hit.memory for hit in found.hits}
    last = sorted(statements, key=lambda one: statements[one].content == ANSWER)[-MOST:]
    question, alike = ASKED[-1][0], dict.fromkeys(last, 0.3)
    judged = await judge_answers(embedder, question, last, statements, alike)
    assert max(judged, key=lambda one: judged[one]) == last[-1]
    assert judged[last[-1]] > ANSWERED
    embedder.judged.clear()
    assert len(await judge_answers(embedder, question, last[::-1], statements, alike)) == FIRST
    assert len(embedder.judged) == 1


async def test_what_the_user_says_of_themselves_answers_an_agent_that_asks_for_the_user(
    embedder: CountingEmbedder,
) -> None:
    async with told(embedder) as engine:
        await engine.add("I always sleep on the left side.", actor=EVA)
        for question in ("On which side does she sleep?", "On which side does the user sleep?"):
            found = await engine.search(question, actor=EVA)
            assert (found.hits[0].memory.content, found.abstains) == ("I always sleep on the left side.", False)
        near = await engine.search("How many hours does the user sleep?", actor=EVA)
    assert near.relevance is not None
    assert found.relevance is not None
    assert near.relevance < found.relevance / 2


@pytest.mark.parametrize(
    ("key", "kept", "question"),
    [
        ("gym", "The user climbs every Thursday evening", "Which evening do I go climbing?"),
        ("dog", "My terrier is called Biscuit", "What is my terrier's name?"),
    ],
)
async def test_a_sentence_that_was_stored_under_a_key_is_read_as_it_is(
    embedder: CountingEmbedder, key: str, kept: str, question: str
) -> None:
    async with told(embedder) as engine:
        await engine.add(kept, key=key, actor=EVA)
        assert (await engine.search(question, actor=EVA)).hits[0].memory.content == kept
    assert any(kept in statements for statements in embedder.judged)


async def test_a_question_in_the_past_is_judged_by_what_it_asks_as_well(embedder: CountingEmbedder) -> None:
    async with told(embedder) as engine:
        right = await engine.search("Who was it that tuned the harpsichord?", actor=EVA)
        wrong = await engine.search("What did the tuning of the harpsichord cost?", actor=EVA)
    assert right.hits[0].memory.content == wrong.hits[0].memory.content == TOLD[4]
    assert "reads like an answer" in right.hits[0].why
    assert right.relevance is not None
    assert wrong.relevance is not None
    assert wrong.relevance < right.relevance / 2


async def test_a_judge_that_fails_is_named_and_the_search_still_answers() -> None:
    embedder = CountingEmbedder(failures=1)
    async with told(embedder) as engine:
        failed, well = [await engine.search(ASKED[3][0], actor=EVA) for _ in range(2)]
    assert failed.errors == {"judge": "embedder_failed:not_finite"}
    assert failed.hits[0].memory.content == TOLD[3]
    assert not well.errors


def test_the_judged_change_places_among_themselves_alone() -> None:
    scores = {"first": 0.9, "unread": 0.8, "second": 0.4}
    assert in_judged_order(scores, {"first": 0.1, "second": 0.7}) == {"first": 0.4, "unread": 0.8, "second": 0.9}
    assert in_judged_order(scores, {}) == scores


RECORDED = (
    "I live in Ghent with my landlady.",
    "My landlady plays the cello at weekends.",
    "Work was long today, two meetings and a broken printer.",
)


@asynccontextmanager
async def recorded(texts: Sequence[str]) -> AsyncIterator[MemoryEngine]:
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder()) as engine:
        await engine.record([Message(role="user", content=text, session="s") for text in texts], actor=EVA)
        yield engine


async def test_what_was_only_said_in_a_chat_does_not_answer_for_another_attribute() -> None:
    async with recorded(RECORDED) as engine:
        near = await engine.search("What is my landlady's phone number?", actor=EVA)
        right = await engine.search("Which instrument does my landlady play?", actor=EVA)
    assert near.abstains
    assert right.hits[0].memory.content == RECORDED[1]
    assert not right.abstains
    assert right.hits[0].relevance == right.relevance


async def test_the_sentence_of_a_long_message_that_answers_is_read() -> None:
    long = (
        "Sorry that I write so late, the whole afternoon went by with boxes and with people who wanted something. "
        "At noon the lift broke down again. The harpsichord was tuned by Mr Abelard. "
        "Tomorrow the painters come, and after that it should at last be quieter."
    )
    async with recorded([long, *RECORDED]) as engine:
        right = await engine.search("Who tuned the harpsichord?", actor=EVA)
        near = await engine.search("What colour is the harpsichord?", actor=EVA)
    assert right.hits[0].memory.content == long
    assert not right.abstains
    assert near.abstains


class OtherEmbedder(WordEmbedder):
    """An embedder of another model, which judges nothing."""


async def test_another_embedder_has_the_judge_of_answers_beside_it() -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=OtherEmbedder(), answers=MiniLmEmbedder()) as engine:
        for text in TOLD:
            await engine.add(text, actor=EVA)
        right, wrong = [await engine.search(question, actor=EVA) for question in ASKED[4]]
        foreign = await engine.search("Wann fährt die Fähre nach Gotland ab?", actor=EVA)
        await engine.add("Der Schlüssel der Mühle liegt unter dem Stein.", actor=EVA)
        unsure = await engine.search("Where is the key of the mill?", actor=EVA)
    assert right.hits[0].memory.content == TOLD[4]
    assert right.relevance is not None
    assert wrong.relevance is not None
    assert wrong.relevance < right.relevance / 2
    assert (foreign.relevance, unsure.relevance) == (None, None)


def test_settings_with_another_embedder_have_the_judge_of_answers_too() -> None:
    def vectors(texts: Sequence[str]) -> list[list[float]]:
        return [[1.0, 0.0] for _ in texts]

    engine = build_engine(Settings.load(store=":memory:", embedder_model="own"), embedder=vectors)
    assert engine.searcher.answers is not None


async def test_what_somebody_else_says_of_themselves_is_not_read_as_said_by_the_one_who_asks() -> None:
    embedder = CountingEmbedder()
    texts = [("participant", "Ben", "I drive a blue Volvo."), ("user", None, "I drive an old Saab.")]
    async with MemoryEngine(store=InProcessStore(), embedder=embedder) as engine:
        messages = [Message(role=role, content=text, speaker=speaker) for role, speaker, text in texts]
        await engine.record(messages, actor=EVA)
        found = await engine.search("Which car do I drive?", actor=EVA)
    assert embedder.judged == [["I drive an old Saab."]]
    assert found.hits[0].memory.content == "I drive an old Saab."
    assert not found.abstains
