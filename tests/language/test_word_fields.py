"""Evidence that the words of a statement give about a question in another language than English."""

from __future__ import annotations

from mnemic.language.questions.word_fields import WordEvidence, asked_in, evidence
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_the_language_of_a_question_is_one_of_the_table() -> None:
    EXAMPLES.assert_right(asked_in, "the_language_of_a_question_is_one_of_the_table")


def test_words_are_the_same_related_of_other_subjects_or_unknown() -> None:
    EXAMPLES.assert_right(
        lambda question, statement, language: evidence(question, statement, language)[:4],
        "words_are_the_same_related_of_other_subjects_or_unknown",
    )


def test_a_long_statement_meets_words_by_chance() -> None:
    short = evidence("Wo wohne ich?", "Ich wohne in Ulm.", "german")
    assert short.length == 0.0
    text = "Ich wohne in Ulm, " + " und ".join(f"Zeile{letter}" for letter in "abcdefghijklmnop")
    assert evidence("Wo wohne ich?", text, "german").length > 1.0


def test_nothing_is_met_in_an_empty_text() -> None:
    assert evidence("", "", "german") == WordEvidence(0, 0, 0, 0, 0.0)
