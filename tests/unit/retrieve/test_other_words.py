"""Questions find statements in other words than theirs: members of a kind, and everyday words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mnemic import Actor, MemoryManager, Settings, build_engine
from mnemic.engine import MemoryEngine
from mnemic.retrieve.category_members import asks_for_several, instances_of
from mnemic.retrieve.content_judgement import EverydayWords
from mnemic.retrieve.question import read_question
from mnemic.retrieve.relevance import A_MEMBER, OTHER_LANGUAGE
from mnemic.stores.sqlite import SqliteStore
from mnemic.testing.embedder import WordEmbedder
from mnemic.testing.record_store.fixtures import memory
from mnemic.types import Scored
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)
ANA = Actor(user="ana")


def test_the_kind_that_a_question_asks_for_has_instances() -> None:
    EXAMPLES.assert_right(
        lambda query, instance: instance in instances_of(query).split(),
        "the_kind_that_a_question_asks_for_has_instances",
    )


def test_other_questions_ask_for_no_kind() -> None:
    EXAMPLES.assert_right(instances_of, "other_questions_ask_for_no_kind")


async def test_which_sports_finds_the_sports(tmp_path: Path) -> None:
    sports = ("On Sundays I play tennis.", "I joined a rowing crew in May.", "I have a ticket for the swimming hall.")
    told = [*sports, *(f"Chapter {number} was long." for number in range(40))]
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        for text in told:
            await engine.add(text, actor=ANA)
        found = await engine.search("Which sports do I do?", actor=ANA, top_k=3)
    assert set(sports) <= {hit.memory.content for hit in found.hits}
    first = next(hit for hit in found.hits if "tennis" in hit.memory.content)
    assert "instances" in first.ranks
    assert "names an instance of what is asked for" in first.why


async def test_a_search_does_not_abstain_beside_an_instance_of_what_is_asked_for(tmp_path: Path) -> None:
    told = ["The puppy sleeps on the rug.", *(f"Chapter {number} was long." for number in range(40))]
    async with MemoryEngine(store=SqliteStore(tmp_path / "m.db"), embedder=WordEmbedder()) as engine:
        for text in told:
            await engine.add(text, actor=ANA)
        found = await engine.search("How many pets do I have?", actor=ANA, top_k=50)
        of_none = await engine.search("How many violins do I have?", actor=ANA, top_k=50)
    best = max(hit.relevance or 0.0 for hit in found.hits)
    assert found.relevance is not None
    assert found.relevance >= max(best, A_MEMBER)
    assert not found.abstains
    assert of_none.abstains


ASKED = {
    "german": (
        ("Ich spiele dienstags Handball.", "Welchen Sport mache ich?"),
        ("Ich spiele Bratsche.", "Welches Instrument spiele ich?"),
        ("Meine Schwester heißt Katja.", "Wie viele Geschwister habe ich?"),
        ("Ich spreche Polnisch mit meiner Oma.", "Welche Sprachen spreche ich?"),
    ),
    "dutch": (
        ("Ik speel op dinsdag handbal.", "Welke sport doe ik?"),
        ("Ik heb een konijn dat Flip heet.", "Welke huisdieren heb ik?"),
    ),
    "french": (("Je fais de l'escrime le mardi.", "Quel sport est-ce que je fais ?"),),
    "spanish": (("Toco el violonchelo.", "¿Qué instrumentos toco?"),),
    "italian": (("Pratico la scherma il martedì.", "Quali sport pratico?"),),
    "portuguese": (("Eu toco violão.", "Que instrumentos eu toco?"),),
}
OTHERS = {
    "german": ("Ich arbeite als Buchhalter in Köln.", "Mein Auto steht in der Garage.", "Ich mag keine Rosinen."),
    "dutch": ("Ik werk als boekhouder in Gent.", "Mijn zus woont in Leuven.", "Ik lust geen rozijnen."),
    "french": ("Je travaille comme comptable à Lyon.", "Ma sœur habite à Nice.", "Je n'aime pas les raisins secs."),
    "spanish": ("Trabajo como contable en Burgos.", "Mi hermana vive en Vigo.", "No me gustan las pasas."),
    "italian": ("Lavoro come contabile a Torino.", "Mia sorella abita a Bari.", "Non mi piace l'uvetta."),
    "portuguese": ("Eu trabalho como contador em Lisboa.", "Minha irmã mora no Porto.", "Não gosto de passas."),
}


@pytest.mark.parametrize(
    ("language", "told", "asked"), [(language, *pair) for language, pairs in ASKED.items() for pair in pairs]
)
async def test_a_member_is_found_first(tmp_path: Path, language: str, told: str, asked: str) -> None:
    ana = Actor(user="ana")
    async with build_engine(Settings(store=str(tmp_path / "s.db"))) as engine:
        await engine.add(told, actor=ana)
        for other in OTHERS[language]:
            await engine.add(other, actor=ana)
        found = await engine.search(asked, actor=ana)
        assert found.hits[0].memory.content == told
        assert "instances" in found.hits[0].ranks
        assert not found.abstains


def test_a_language_has_its_own_table() -> None:
    assert "handball" in instances_of("Welchen Sport mache ich?")
    assert instances_of("Wo wohnt meine Schwester?") == ""
    assert instances_of("Where do I live?") == ""


def test_a_number_is_asked_for_in_other_languages() -> None:
    assert asks_for_several("Wie viele Bücher habe ich gelesen?")
    assert asks_for_several("Combien de fois suis-je allé à Paris ?")
    assert not asks_for_several("Wo wohne ich?")


TOLD = {
    "german": ("Ich arbeite als Buchhalter.", "Meine Katze heißt Pauline.", "Dienstags spiele ich Handball."),
    "dutch": ("Ik werk als boekhouder.", "Mijn kat heet Pauline.", "Op dinsdag speel ik handbal."),
    "french": ("Je travaille comme comptable.", "Ma chatte s'appelle Pauline.", "Le mardi, je joue au handball."),
    "spanish": ("Trabajo como contable.", "Mi gata se llama Paulina.", "Los martes juego al balonmano."),
    "italian": ("Lavoro come contabile.", "La mia gatta si chiama Paolina.", "Il martedì gioco a pallamano."),
    "portuguese": ("Trabalho como contador.", "Minha gata se chama Paulina.", "Às terças jogo handebol."),
}
KNOWN = {
    "german": ("Was ist mein Beruf?", "Welches Haustier habe ich?", "Welchen Sport mache ich?"),
    "dutch": ("Wat is mijn beroep?", "Welk huisdier heb ik?", "Welke sport doe ik?"),
    "french": ("Quel est mon métier ?", "Quel animal ai-je ?", "Quel sport est-ce que je fais ?"),
    "spanish": ("¿Cuál es mi profesión?", "¿Qué mascota tengo?", "¿Qué deporte hago?"),
    "italian": ("Che lavoro faccio?", "Quale animale ho?", "Quale sport faccio?"),
    "portuguese": ("Qual é a minha profissão?", "Que animal eu tenho?", "Que esporte eu faço?"),
}
UNKNOWN = {
    "german": ("Wie viele Geschwister habe ich?", "Wo wohne ich?", "Welche Medikamente nehme ich?"),
    "dutch": ("Hoeveel broers en zussen heb ik?", "Waar woon ik?", "Welke medicijnen gebruik ik?"),
    "french": ("Combien de frères et sœurs ai-je ?", "Où est-ce que j'habite ?", "Quels médicaments je prends ?"),
    "spanish": ("¿Cuántos hermanos tengo?", "¿Dónde vivo?", "¿Qué medicamentos tomo?"),
    "italian": ("Quanti fratelli ho?", "Dove abito?", "Quali farmaci prendo?"),
    "portuguese": ("Quantos irmãos eu tenho?", "Onde eu moro?", "Que remédios eu tomo?"),
}


@pytest.fixture(params=TOLD, scope="module")
def scope(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, MemoryManager]]:
    with MemoryManager(store=tmp_path_factory.mktemp("words") / "memories.db") as memories:
        for text in TOLD[request.param]:
            memories.add(text)
        yield request.param, memories


def test_three_statements_answer_their_questions(scope: tuple[str, MemoryManager]) -> None:
    language, memories = scope
    for statement, question in zip(TOLD[language], KNOWN[language], strict=True):
        found = memories.search(question)
        assert not found.abstains, question
        assert found.hits[0].memory.content == statement, question


def test_three_statements_do_not_answer_what_they_are_not_about(scope: tuple[str, MemoryManager]) -> None:
    language, memories = scope
    for question in UNKNOWN[language]:
        found = memories.search(question)
        assert found.abstains, (question, [(hit.relevance, hit.memory.content) for hit in found.hits])
        assert all((hit.relevance or 0) < 0.17 for hit in found.hits), question


def test_the_reason_says_that_other_words_were_met(scope: tuple[str, MemoryManager]) -> None:
    language, memories = scope
    assert "has other words for what is asked" in memories.search(KNOWN[language][1]).hits[0].why


def test_questions_in_english_and_in_languages_without_words_are_judged_as_before() -> None:
    told = {"one": memory("Mój kot nazywa się Pauline.")}
    for text in ("What is my cat called?", "Jak się nazywa mój kot?"):
        assert EverydayWords.judge(read_question(text), told, (), OTHER_LANGUAGE).relevances == {}


def test_a_model_without_weights_is_judged_as_before() -> None:
    told = {"one": memory("Meine Katze heißt Pauline.")}
    question, nearest = read_question("Wie heißt meine Katze?"), [Scored("one", 0.6)]
    assert EverydayWords.judge(question, told, nearest, "another").relevances == {}
    assert EverydayWords.judge(question, told, nearest, OTHER_LANGUAGE).relevances["one"] > 0.5


@pytest.fixture(params=TOLD, scope="module")
def read_by_the_multilingual_model(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, MemoryManager]]:
    settings = Settings(store=str(tmp_path_factory.mktemp("words") / "memories.db"), embedder="multilingual")
    with MemoryManager(settings=settings) as memories:
        for text in TOLD[request.param]:
            memories.add(text)
        yield request.param, memories


def test_the_multilingual_model_answers_from_three_statements_and_abstains(
    read_by_the_multilingual_model: tuple[str, MemoryManager],
) -> None:
    language, memories = read_by_the_multilingual_model
    for statement, question in zip(TOLD[language], KNOWN[language], strict=True):
        found = memories.search(question)
        assert not found.abstains, question
        assert found.hits[0].memory.content == statement, question
    for question in UNKNOWN[language]:
        found = memories.search(question)
        assert found.abstains, (question, [(hit.relevance, hit.memory.content) for hit in found.hits])
