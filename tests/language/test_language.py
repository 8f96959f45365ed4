"""The language of a text, and the stems that a search knows of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.questions.question_words import content_words
from mnemic.language.text.analyse import analyse, parse_query
from mnemic.language.text.language import common_words, in_latin_letters, language_of
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_the_words_that_a_language_has_most_tell_it() -> None:
    EXAMPLES.assert_right(language_of, "the_words_that_a_language_has_most_tell_it")


@pytest.mark.parametrize("text", ["La casa grande", "Du vin, Karin", "Minha casa de praia, mi casa", "A de B"])
def test_a_short_text_of_words_that_several_languages_share_stays_in_the_default_one(text: str) -> None:
    assert language_of(text) is None
    assert analyse(text, stems=True) == analyse(text)


def test_one_common_word_tells_the_language_of_a_few_words_only() -> None:
    few = "Redis Kafka Nginx Docker Ansible Terraform und Grafana"
    assert language_of(few) == "german"
    assert language_of(few + " Kubernetes") is None


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("Meine Schwestern haben zwei Häuser am See.", "Wo ist das Haus meiner Schwester?"),
        ("Mis hermanas trabajan en un hospital.", "¿Dónde trabaja mi hermana?"),
        ("Мои сёстры живут в Лиссабоне.", "Где живёт моя сестра?"),
    ],
)
def test_a_search_knows_the_forms_of_a_word_in_its_language(told: str, asked: str) -> None:
    plain = {*analyse(told).sequence} & {*analyse(asked).sequence}
    found = analyse(told, stems=True)
    assert ({*found.sequence, *found.extras} & {*parse_query(asked).terms}) - plain


@given(st.text())
def test_stems_only_add_and_keep_the_order_of_the_words(text: str) -> None:
    before, after = analyse(text), analyse(text, stems=True)
    assert after.sequence == before.sequence
    assert after.extras[: len(before.extras)] == before.extras


def test_an_english_text_is_analysed_as_it_always_was() -> None:
    text = "My sister lives in Lisbon and works at the hospital."
    assert analyse(text, stems=True) == analyse(text)


def test_common_words_of_the_language_say_nothing_of_what_is_asked() -> None:
    assert content_words("Wo wohnt meine Schwester?") == ["wohnt", "Schwester?"]
    assert "der" in common_words("german")
    assert common_words("tamil") == frozenset()


def test_letters_are_latin_or_not() -> None:
    EXAMPLES.assert_right(in_latin_letters, "letters_are_latin_or_not")
