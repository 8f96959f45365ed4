from __future__ import annotations

import pytest

from mnemic.language.sentences.remember import asked_to_remember, bare_request, is_asked_afterwards


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
        ("Onthoud dat ik zaterdag werk", "ik zaterdag werk"),
    ],
)
def test_a_request_to_remember_shows_where_its_words_begin(text: str, said: str) -> None:
    found = asked_to_remember(text)
    assert found is not None
    assert (text[found[0] :], found[1]) == (said, True)


@pytest.mark.parametrize(
    "text",
    [
        "remember to call the bank",
        "Remember how we laughed",
        "remember that song",
        "don't forget it",
        "remember this one",
        "I can't remember his name",
        "I remember thinking of it",
    ],
)
def test_an_errand_a_memory_and_a_bare_word_ask_for_nothing(text: str) -> None:
    assert asked_to_remember(text) is None


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


@pytest.mark.parametrize(
    ("sentence", "where"),
    [
        ("Remember that please.", "before"),
        ("Please remember this.", "after"),
        ("Remember it, ok?", "before"),
        ("Don't forget that, thanks!", "before"),
        ("Merk dir das bitte!", "before"),
        ("N'oublie pas, s'il te plaît !", "before"),
        ("Remember?", None),
        ("Remember that I swim.", None),
        ("Remember to call.", None),
        ("Please.", None),
    ],
)
def test_a_bare_request_to_remember_points_to_the_sentence_beside_it(sentence: str, where: str | None) -> None:
    assert bare_request(sentence) == where
