"""Small scopes in other languages than English: what is known is answered, what is not is abstained from."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mnemic import MemoryManager, Settings
from mnemic.retrieve.content_judgement import EverydayWords
from mnemic.retrieve.question import read_question
from mnemic.retrieve.relevance import OTHER_LANGUAGE
from mnemic.testing.record_store.fixtures import memory
from mnemic.types import Scored

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
