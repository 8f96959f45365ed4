"""How likely it is that what is found is about the query."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic import AsyncMemoryManager
from mnemic.engine import MemoryEngine
from mnemic.errors import EmbedderFailed
from mnemic.json_output import result_dict
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.retrieve.asked_attributes import AttributeAnswers
from mnemic.retrieve.candidate_lists import APART, above_background, background_of, by_vector
from mnemic.retrieve.content_judgement import ContentJudgement
from mnemic.retrieve.diversity import Entry
from mnemic.retrieve.graph_neighbourhood import SAID
from mnemic.retrieve.policy_candidates import PREFERENCE_BIAS, RELEVANCE
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
from mnemic.retrieve.result_assembly import POOLED, explain_order
from mnemic.stores.in_memory_store import InProcessStore
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import START, memory
from mnemic.types import (
    Actor,
    Deadline,
    Intent,
    Level,
    Message,
    RecallRequest,
    Scored,
    Signals,
    Vector,
    VectorSpace,
    Where,
)

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


TOLD = (
    "My dog is called Rex.",
    "I come from Ghent, but I live in Turku now.",
    "I work as a nurse at the hospital.",
    "My sister Ana lives in Lisbon.",
    "I play badminton on Mondays.",
    "I went rowing last summer.",
    "My car is a red Skoda.",
)
QUESTIONS = (
    "what is my dog called?",
    "what do I do for a living?",
    "where am I from?",
    "which sports do I do?",
    "what is the capital of Peru?",
    "Fix this Python bug: IndexError",
    "what is my wife's name?",
    "how tall am I?",
    "when was I born?",
)


def entries(names: str) -> list[Entry]:
    """Return entries with falling scores."""
    return [(name, 1 - place / 100, RELEVANCE) for place, name in enumerate(names)]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=90))
def test_relevances_fall_along_an_order_that_stays(given_ones: list[float]) -> None:
    order = [(f"{place:03}", 0.5, RELEVANCE) for place in range(len(given_ones))]
    relevances = {name: share for (name, _, _), share in zip(order, given_ones, strict=True)}
    found, fitted = explain_order(order, relevances, relevances)
    assert [name for name, _, _ in found] == [name for name, _, _ in order]
    shares = [fitted[name] for name, _, _ in found]
    assert shares == sorted(shares, reverse=True)
    if len(shares) <= POOLED:  # the mean stays: nothing becomes more relevant on the whole
        assert sum(shares) == pytest.approx(sum(given_ones), abs=0.01)


def test_a_relevance_does_not_depend_on_the_number_of_hits() -> None:
    order = [(f"{place:03}", 1 - place / 200, RELEVANCE) for place in range(120)]
    relevances = {name: (place * 37 % 101) / 101 for place, (name, _, _) in enumerate(order)}
    _, many = explain_order(order, relevances, relevances)
    _, fewer = explain_order(order[:POOLED], relevances, relevances)
    assert {name: many[name] for name, _, _ in order[:POOLED]} == {name: fewer[name] for name, _, _ in order[:POOLED]}


def test_messages_and_statements_are_merged_by_relevance() -> None:
    relevances = {"a": 0.2, "b": 0.9, "c": 0.5, "d": 0.1}
    found, fitted = explain_order(entries("abcd"), relevances, {"a", "c"})
    assert [name for name, _, _ in found] == ["b", "a", "c", "d"]  # a and c, messages, keep their order
    assert [score for _, score, _ in found] == [score for _, score, _ in entries("abcd")]
    assert fitted == {"a": 0.35, "b": 0.9, "c": 0.35, "d": 0.1}


def test_what_policy_prefers_keeps_its_place_and_what_is_not_judged_comes_last() -> None:
    given_ones = [*entries("abc"), ("p", 0.6, PREFERENCE_BIAS), ("d", 0.5, RELEVANCE)]
    found, fitted = explain_order(given_ones, {"b": 0.5, "p": 0.1, "d": 0.7}, ())
    assert [name for name, _, _ in found] == ["b", "d", "a", "p", "c"]
    assert fitted == {"b": 0.6, "d": 0.6, "p": 0.1}
    assert explain_order(given_ones, {}, ()) == (given_ones, {})


@pytest.mark.parametrize("question", QUESTIONS)
async def test_no_hit_of_a_search_is_more_relevant_than_one_before_it(tmp_path: Path, question: str) -> None:
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=MiniLmEmbedder()) as engine:
        await engine.record([Message(role="user", content=text, session="one") for text in TOLD[::2]], actor=ANA)
        for text in TOLD:
            await engine.add(text, actor=ANA)
        result = await engine.search(question, actor=ANA, top_k=10)
    shown = [hit.relevance or 0.0 for hit in result.hits]
    assert len(shown) > 5
    assert shown == sorted(shown, reverse=True)
    assert [hit.score for hit in result.hits] == sorted((hit.score for hit in result.hits), reverse=True)


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_model_is_shown_nothing_where_a_search_abstains_and_something_elsewhere(question: str) -> None:
    async with MemoryEngine(store=InProcessStore(), embedder=MiniLmEmbedder()) as engine:
        for text in TOLD:
            await engine.add(text, actor=ANA)
        result = await engine.search(question, actor=ANA)
        recalled = await engine.recall(RecallRequest(intent=Intent(query=question)), actor=ANA)
    assert result.abstains == (not recalled.hits)


SPACE = VectorSpace(model="another", dimension=2, scale=((0.0, 0.0), (1.0, 1.0)))
WHERE = Where(scopes=(Actor(user="ana").scope(Level.USER),))


def scored(*cosines: float) -> list[Scored]:
    return [Scored(str(place), cosine) for place, cosine in enumerate(cosines)]


def best_of(answer: float, *others: float) -> float:
    found = scored(answer, *others)
    return above_background(found, background_of([one.score for one in found]))[0].score


def test_what_stands_out_means_the_same_where_everything_is_near_and_where_everything_is_far() -> None:
    near = best_of(0.64, *[0.4] * 79)
    far = best_of(0.44, *[0.07] * 79)
    assert near == pytest.approx(far, abs=0.05)
    assert best_of(0.64, *[0.4] * 79) < best_of(0.64, *[0.07] * 79)


def test_a_few_memories_say_little_of_the_background() -> None:
    assert best_of(0.6, 0.5) > 0.55
    assert best_of(0.6, *[0.5] * 200) < 0.35


def test_many_good_answers_are_no_background() -> None:
    assert background_of([0.6] * 25 + [0.1] * 75) < 0.11


@given(st.lists(st.floats(-1, 1), max_size=60))
def test_the_order_stays_and_the_same_text_stays_at_one(cosines: list[float]) -> None:
    found = scored(*sorted(cosines, reverse=True))
    read = above_background(found, background_of(cosines))
    assert [one.memory_id for one in read] == [one.memory_id for one in found]
    assert all(one.score >= other.score for one, other in itertools.pairwise(read))
    assert above_background(scored(1.0), 0.4)[0].score == pytest.approx(1.0)
    assert above_background(scored(0.4), 0.4)[0].score == pytest.approx(APART)


class Moment:
    """A scope of `size` memories: the nearest hundred are at 0.5, the newest at 0.3; it notes what is asked of it."""

    def __init__(self, size: int) -> None:
        self.size, self.sampled = size, 0

    async def nearest(self, where: Where, _: Vector, *, limit: int, space: VectorSpace) -> list[Scored]:
        assert space == SPACE
        if where.memory_ids is None:
            return scored(*[0.5] * min(limit, self.size))
        self.sampled = len(where.memory_ids)
        return [Scored(one, 0.3) for one in sorted(where.memory_ids)]

    async def recent(self, _: Where, *, limit: int) -> list[Scored]:
        return scored(*[1.0] * min(limit, self.size))


@pytest.mark.parametrize(("size", "sampled"), [(40, 0), (5_000, 100)])
async def test_the_background_of_a_large_scope_is_that_of_its_newest(size: int, sampled: int) -> None:
    moment, question = Moment(size), read_question("Where is the boat?")
    object.__setattr__(question, "vector", b"\0" * 8)
    object.__setattr__(question, "space", SPACE)
    found = await by_vector(moment, WHERE, question)  # type: ignore[arg-type]
    assert moment.sampled == sampled
    assert (found[0].score > 0.3) is bool(sampled)


class Near:
    """A scope whose best memory is at 0.7 where all others are at 0.5."""

    async def nearest(self, *_: object, **__: object) -> list[Scored]:
        return scored(0.7, *[0.5] * 40)


@pytest.mark.parametrize(
    ("asked", "is_read"),
    [("Where does my sister live?", False), ("¿Dónde vive mi hermana?", True), ("Wo wohnt meine Schwester?", True)],
)
async def test_the_default_model_is_read_against_the_background_in_other_languages(asked: str, is_read: bool) -> None:
    space = VectorSpace(model="default", dimension=2)
    question = replace(read_question(asked), vector=array("f", [1.0, 0.0]), space=space)
    found = await by_vector(Near(), WHERE, question)  # type: ignore[arg-type]
    assert (found[0].score < 0.6) is is_read
    assert [one.memory_id for one in found] == [str(place) for place in range(41)]
