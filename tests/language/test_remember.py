from __future__ import annotations

import pytest

from mnemic.language.sentences.remember import asked_to_remember, bare_request, is_asked_afterwards
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Remember I use a screen reader", "I use a screen reader"),
        ("Please remember: the code is in the safe", "the code is in the safe"),
        ("don't forget that my flat has no lift", "my flat has no lift"),
        ("For the record, we pay on delivery.", "we pay on delivery."),
        ("@helper note: the keys are with Ana", "the keys are with Ana"),
        ("can you remember that I teach on Fridays", "I teach on Fridays"),
        ("Keep in mind that the shop is shut in May", "the shop is shut in May"),
        ("Merk dir bitte: ich esse kein Fleisch", "ich esse kein Fleisch"),
        ("N'oublie pas que je travaille le samedi", "je travaille le samedi"),
        ("No olvides que trabajo los sábados", "trabajo los sábados"),
        ("Ricordati che lavoro il sabato", "lavoro il sabato"),
        ("Lembra-te que trabalho ao sábado", "trabalho ao sábado"),
        ("Onthoud dat ik zaterdag werk", "dat ik zaterdag werk"),
    ],
)
def test_a_request_to_remember_shows_where_its_words_begin(text: str, said: str) -> None:
    found = asked_to_remember(text)
    assert found is not None
    assert (text[found[0] :], found[1]) == (said, True)


def test_an_errand_a_memory_and_a_bare_word_ask_for_nothing() -> None:
    EXAMPLES.assert_right(asked_to_remember, "an_errand_a_memory_and_a_bare_word_ask_for_nothing")


def test_words_that_begin_other_sentences_are_no_certain_request() -> None:
    found = asked_to_remember("note the new opening hours")
    assert found is not None
    assert not found[1]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("Ana is deaf, so keep that in mind when you plan", True),
        ("Ich bin Diabetikerin, merk dir das", True),
        ("I'll keep an eye on it", False),
    ],
)
def test_a_request_may_come_after_what_it_means(text: str, asked: bool) -> None:
    assert is_asked_afterwards(text) is asked


def test_a_bare_request_to_remember_points_to_the_sentence_beside_it() -> None:
    EXAMPLES.assert_right(bare_request, "a_bare_request_to_remember_points_to_the_sentence_beside_it")
