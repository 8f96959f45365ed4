"""Whether anything about a query is known: from the lists, by the embedder's own scale, and never from a failure."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import AsyncMemoryManager
from mnemic.engine import MemoryEngine
from mnemic.errors import EmbedderFailed
from mnemic.json_output import result_dict
from mnemic.retrieve.asked_attributes import AttributeAnswers
from mnemic.retrieve.content_judgement import ContentJudgement
from mnemic.retrieve.graph_neighbourhood import SAID
from mnemic.retrieve.question import read_question
from mnemic.retrieve.relevance import (
    ANOTHER_MODEL,
    MIN_MEMORIES,
    NO_MODEL,
    OTHER_LANGUAGE,
    RELATED,
    ROMANCE_LANGUAGE,
    SCALES,
    WORDS_ALONE,
    measured_with,
    relevance,
)
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import START, memory
from mnemic.types import Actor, Deadline, Message, Scored, Signals, Vector, VectorSpace

ANA = Actor(user="ana")
MINILM = "all-MiniLM-L6-v2-int8"
QUESTION = read_question("Where is the blue lighthouse?")


def lists(cosine: float, bm25: float, count: int = MIN_MEMORIES) -> dict[str, list[Scored]]:
    far = [Scored(str(place), -1.0) for place in range(1, count)]
    return {"vector": [Scored("0", cosine), *far], "keyword": [Scored("0", bm25)]}


@given(st.floats(-1, 1), st.floats(0, 40), st.floats(0, 1), st.floats(0, 10))
def test_more_likeness_and_more_words_never_say_less(cosine: float, bm25: float, more: float, gain: float) -> None:
    for model in (MINILM, ANOTHER_MODEL, OTHER_LANGUAGE, ROMANCE_LANGUAGE, NO_MODEL, "another"):
        one = relevance(lists(cosine, bm25), QUESTION, model)
        other = relevance(lists(cosine + more, bm25 + gain), QUESTION, model)
        assert one is not None
        assert other is not None
        assert 0 <= one <= other <= 1


def test_a_model_without_a_scale_is_judged_by_words_alone() -> None:
    assert relevance(lists(0.1, 9), QUESTION, "another") == relevance(lists(0.9, 9), QUESTION, "another")
    assert relevance(lists(0.1, 9), QUESTION, MINILM) != relevance(lists(0.9, 9), QUESTION, MINILM)
    assert WORDS_ALONE.cosine == 0 != SCALES[MINILM].cosine


@pytest.mark.parametrize(
    "question", ["¿Dónde está el faro azul?", "Où est le phare bleu ?", "青い灯台はどこにありますか"]
)
def test_in_other_languages_words_say_more_and_cosines_less(question: str) -> None:
    asked = read_question(question)
    model = measured_with(VectorSpace(model=MINILM, dimension=384), asked)
    few_words, most_words = (relevance(lists(0.5, share * asked.words, 100), asked, model) for share in (0.1, 0.8))
    assert few_words is not None
    assert most_words is not None
    assert few_words < 0.17  # 0.29 by the scale for English
    assert most_words > 0.5


@pytest.mark.parametrize(("score", "least"), [(1.0, RELATED), (SAID, RELATED), (0.3, 0.0)])
def test_a_relation_that_the_query_says_is_known(score: float, least: float) -> None:
    there = lists(-0.5, 0.1)
    apart = relevance(there, QUESTION, MINILM)
    assert apart is not None
    assert apart < 0.01
    assert relevance({**there, "graph": [Scored("r", score)]}, QUESTION, MINILM) == max(apart, least)
    sure = relevance(lists(0.9, 9), QUESTION, MINILM)
    assert relevance({**lists(0.9, 9), "graph": [Scored("r", score)]}, QUESTION, MINILM) == sure


@pytest.mark.parametrize("missing", ["vector", "keyword"])
def test_a_list_that_failed_says_nothing(missing: str) -> None:
    there = lists(0.9, 9)
    del there[missing]
    assert relevance(there, QUESTION, MINILM) is None


def test_among_few_memories_of_a_model_without_a_scale_nothing_can_be_told() -> None:
    assert relevance(lists(0.9, 9, MIN_MEMORIES - 1), QUESTION, "some-model") is None


@pytest.mark.parametrize("memories", [1, 5, 29])
def test_among_few_memories_what_is_known_is_told_from_what_is_not(memories: int) -> None:
    known = relevance(lists(0.6, 0, memories), QUESTION, MINILM)
    unknown = relevance(lists(0.2, 0, memories), QUESTION, MINILM)
    assert known is not None
    assert unknown is not None
    assert known > 0.8
    assert unknown < 0.1


def test_a_word_counts_among_few_memories_as_among_more() -> None:
    few, more = (relevance(lists(0.3, score, 5), QUESTION, MINILM) for score in (0.0, 1.3))
    assert few is not None
    assert more is not None
    assert more > few + 0.2


def test_without_a_memory_nothing_is_told() -> None:
    assert relevance({"vector": [], "keyword": []}, QUESTION, MINILM) is None


class Failing(WordEmbedder):
    """Fails at whatever asks for one text, as a search does."""

    async def embed(self, texts: object, **more: object) -> list[Vector]:
        if len(texts) == 1:  # type: ignore[arg-type]
            raise EmbedderFailed("timeout")
        return await super().embed(texts)  # type: ignore[arg-type]


async def filled(engine: MemoryEngine) -> None:
    told = [f"The {colour} boat number {number} is moored." for colour in ("red", "green") for number in range(20)]
    said = [Message(role="user", content=text, session="s") for text in ("Lighthouse keepers paint.", *told)]
    await engine.record(said, actor=ANA)


async def test_a_search_abstains_from_what_nobody_said_and_says_so(tmp_path: Path) -> None:
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        await filled(engine)
        known = await engine.search("lighthouse keepers", actor=ANA)
        unknown = await engine.search("quantum chromodynamics lecture", actor=ANA)
        newest = await engine.search("", actor=ANA)
    assert known.relevance is not None
    assert unknown.relevance is not None
    assert unknown.relevance < known.relevance
    assert (known.abstains, unknown.abstains) == (False, True)
    assert unknown.hits  # what is nearest is still there
    assert result_dict(unknown)["abstains"] is True
    assert (newest.relevance, newest.abstains) == (None, False)


async def test_an_outage_is_no_abstention(tmp_path: Path) -> None:
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=Failing()) as engine:
        await filled(engine)
        result = await engine.search("quantum chromodynamics lecture", actor=ANA)
    assert result.degraded
    assert (result.relevance, result.abstains) == (None, False)


@pytest.mark.parametrize(
    ("query", "model"),
    [
        ("Where is my boat?", MINILM),
        ("Où est mon bateau ?", ROMANCE_LANGUAGE),
        ("Где моя лодка?", NO_MODEL),
        ("私の船は?", NO_MODEL),
    ],
)
def test_cosines_of_the_default_model_tell_nothing_of_letters_that_it_does_not_know(query: str, model: str) -> None:
    assert measured_with(VectorSpace(model=MINILM, dimension=384), read_question(query)) == model


def test_another_model_is_read_on_its_scale_whatever_the_letters() -> None:
    question = read_question("Где моя лодка?")
    scaled = VectorSpace(model="another", dimension=384, scale=((0.0, 0.0), (1.0, 1.0)))
    assert measured_with(scaled, question) == ANOTHER_MODEL
    assert measured_with(VectorSpace(model="another", dimension=384), question) == "another"


CHAT = {
    "en": ("The boat was repainted on Friday.", "We had to take the bus home.", "That film was a bit long for me."),
    "de": ("Das Boot wurde am Freitag gestrichen.", "Wir mussten mit dem Bus fahren.", "Der Film war mir zu lang."),
}
"""Messages of two chats."""


@pytest.mark.parametrize(("chat", "asked", "strict"), [("en", "en", True), ("de", "en", False), ("de", "de", False)])
def test_another_model_is_stricter_among_many_messages_in_the_language_of_the_question(
    chat: str, asked: str, strict: bool
) -> None:
    question = read_question({"en": "Where is the blue lighthouse?", "de": "Wo steht der blaue Leuchtturm?"}[asked])
    said = {str(place): memory(text) for place, text in enumerate(CHAT[chat])}
    signals = {one: Signals(memory_id=one, happened_at=START, session="s", turn=0, speaker="Ana") for one in said}
    found = lists(0.35, 2.0, 100)

    def known(model: str) -> float:
        judged = ContentJudgement.judge(
            question, said, AttributeAnswers(), nearest=found["vector"], messages=signals, model=model
        )
        return judged.relevances(found, dict.fromkeys(said, 0.5), signals, None)[0] or 0.0

    assert (known(ANOTHER_MODEL) == pytest.approx(known(MINILM), abs=0.01)) is strict
    assert known(ANOTHER_MODEL) > 0.17 or strict


@pytest.mark.parametrize("memories", [5, MIN_MEMORIES])
def test_without_a_model_words_alone_tell_what_is_known(memories: int) -> None:
    far, near = (relevance(lists(cosine, 0.0, memories), QUESTION, NO_MODEL) for cosine in (-0.9, 0.99))
    assert far is not None
    assert far == near < 0.2
    known = relevance(lists(-0.9, 9.0, memories), QUESTION, NO_MODEL)
    assert known is not None
    assert known > 0.9


class Renamed(WordEmbedder):
    """Says that its vectors are those of the default model."""

    @property
    def space(self) -> VectorSpace:
        return VectorSpace(model=MINILM, dimension=super().space.dimension)

    async def embed(self, texts: Sequence[str], *, deadline: Deadline | None = None) -> list[Vector]:
        return [self.vector("the same") for _ in texts]


@pytest.mark.parametrize("more", [0, MIN_MEMORIES])
async def test_a_search_in_letters_that_the_model_does_not_know_abstains_by_words(more: int) -> None:
    """Every text has one vector, as every text of unknown letters has nearly the same."""
    async with MemoryEngine(store=InProcessStore(), embedder=Renamed()) as engine:
        told = ["Моя лодка стоит в гавани.", *(f"Запись номер {number} об огороде." for number in range(more))]
        await engine.record([Message(role="user", content=text, session="s") for text in told], actor=ANA)
        known = await engine.search("Где моя лодка стоит?", actor=ANA)
        unknown = await engine.search("Кто играет на скрипке?", actor=ANA)
        latin = await engine.search("Who plays the violin?", actor=ANA)
    assert (known.abstains, unknown.abstains, latin.abstains) == (False, True, False)


def test_one_more_memory_makes_no_difference_in_a_small_scope() -> None:
    found = [relevance(lists(0.45, 3, count), QUESTION, MINILM) for count in range(20, 121)]
    assert found[-1] == relevance(lists(0.45, 3, 400), QUESTION, MINILM)
    for one, other in itertools.pairwise(found):
        assert one is not None
        assert other is not None
        assert other <= one + 0.03
        assert one - other < 0.12


@pytest.mark.parametrize(
    ("told", "known", "unknown"),
    [
        (
            ("Mi hermana vive en Graz.", "Juego al tenis los domingos.", "Mi gata se llama Mimi.", "Trabajo de noche."),
            "¿Dónde vive mi hermana?",
            "¿Cuál es mi color favorito?",
        ),
        (
            ("Ma soeur habite à Graz.", "Je joue au tennis le dimanche.", "Ma chatte s'appelle Mimi.", "Je lis peu."),
            "Où habite ma soeur ?",
            "Quand expire mon contrat de location ?",
        ),
    ],
)
async def test_among_few_memories_in_a_romance_language_the_nearest_is_not_taken_for_an_answer(
    tmp_path: Path, told: tuple[str, ...], known: str, unknown: str
) -> None:
    async with AsyncMemoryManager(store=str(tmp_path / "mnemic.db")) as manager:
        for text in told:
            await manager.add(text)
        answered, unanswered = await manager.search(known), await manager.search(unknown)
    assert answered.hits[0].memory.content == told[0]
    assert (answered.hits[0].relevance or 0) > 0.5
    assert unanswered.abstains
