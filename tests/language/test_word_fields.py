"""Evidence that the words of a statement give about a question in another language than English."""

from __future__ import annotations

import pytest

from mnemic.language.questions.word_fields import WordEvidence, asked_in, evidence


@pytest.mark.parametrize(
    ("question", "language"),
    [
        ("Wie viele Geschwister habe ich?", "german"),
        ("Waar woon ik?", "dutch"),
        ("Where do I live?", None),
        ("Gdzie ja mieszkam?", None),
        ("", None),
    ],
)
def test_the_language_of_a_question_is_one_of_the_table(question: str, language: str | None) -> None:
    assert asked_in(question) == language


@pytest.mark.parametrize(
    ("question", "statement", "language", "found"),
    [
        ("Wie viele Geschwister habe ich?", "Ich habe zwei Brüder.", "german", (0, 1, 0, 0)),
        ("Wie viele Geschwister habe ich?", "Ich arbeite als Buchhalter.", "german", (0, 0, 1, 0)),
        ("Welche Blutgruppe habe ich?", "Meine Blutgruppe ist A negativ.", "german", (1, 0, 0, 0)),
        ("Wie heißt die Xylophonistin?", "Ich arbeite als Buchhalter.", "german", (0, 0, 0, 1)),
        ("Quel est mon métier ?", "Je travaille comme comptable.", "french", (0, 1, 0, 0)),
        ("Wann ist mein Zahnarzttermin?", "Der Zahnarzt ist in der Goethestraße.", "german", (1, 0, 0, 0)),
    ],
)
def test_words_are_the_same_related_of_other_subjects_or_unknown(
    question: str, statement: str, language: str, found: tuple[int, ...]
) -> None:
    assert evidence(question, statement, language)[:4] == found


def test_a_long_statement_meets_words_by_chance() -> None:
    short = evidence("Wo wohne ich?", "Ich wohne in Ulm.", "german")
    assert short.length == 0.0
    text = "Ich wohne in Ulm, " + " und ".join(f"Zeile{letter}" for letter in "abcdefghijklmnop")
    assert evidence("Wo wohne ich?", text, "german").length > 1.0


def test_nothing_is_met_in_an_empty_text() -> None:
    assert evidence("", "", "german") == WordEvidence(0, 0, 0, 0, 0.0)
