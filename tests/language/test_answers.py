"""Rules for answers: a phrase and the question that another person asked make one statement, or none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mnemic.language.sentences.answers import question_of, statement_of
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_a_phrase_answers_a_question() -> None:
    EXAMPLES.assert_right(
        lambda asked, answer: statement_of(question_of(asked), answer).text, "a_phrase_answers_a_question"
    )


def test_nothing_certain_is_answered() -> None:
    EXAMPLES.assert_right(
        lambda asked, answer: statement_of(question_of(asked), answer).text, "nothing_certain_is_answered"
    )


def test_a_model_is_not_confirmed_by_a_bare_yes() -> None:
    assert statement_of(question_of("Are you vegan?"), "yes", confirms=False).text == ""
    assert statement_of(question_of("Where do you live?"), "Graz", confirms=False) == ("I live in Graz.", True)


def test_of_a_models_question_only_the_users_own_value_is_taken() -> None:
    asked = question_of("Do you still work at Aldi?")
    assert statement_of(asked, "No, at Lidl.", confirms=False).text == "I work at Lidl now."


def test_what_is_of_the_moment_need_not_last() -> None:
    assert statement_of(question_of("When's your exam?"), "on Friday") == ("My exam is on Friday.", False)


FIGURES = Path(__file__).with_name("answers.txt")
LEAST = 0.9
"""Share of the dialogues of a language whose answer is understood."""


def test_answers_in_other_languages() -> None:
    def check(language: str) -> Any:
        lines = [line.split(" | ") for line in FIGURES.read_text(encoding="utf-8").splitlines() if " | " in line]
        right = [
            _has(statement_of(question_of(asked), answer).text, wanted)
            for spoken, asked, answer, wanted in lines
            if spoken == language
        ]
        return sum(right) >= LEAST * len(right)

    EXAMPLES.assert_right(check, "answers_in_other_languages")


def _has(stated: str, wanted: str) -> bool:
    """Return True if a statement has each of the words, of which a bar parts those that do as well; or is none."""
    if wanted == "-":
        return stated == ""
    said = stated.casefold()
    return all(any(word in said for word in one.split("|")) for one in wanted.split())
