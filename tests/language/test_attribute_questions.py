"""Questions for an attribute of somebody, and the words in which statements answer them."""

from __future__ import annotations

import pytest

from mnemic.language.questions.attributes import plainly_asked, statement_opening, words_of_answers
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What do I do for a living?", {"job", "work"}),
        ("what does my brother do", {"job", "work", "brother"}),
        ("Where does Jo come from?", {"originally", "hometown", "Jo"}),
        ("What is the name of my dog?", {"dog"}),
        ("what is my dog called?", {"dog"}),
    ],
)
def test_a_phrase_becomes_words_that_mean_the_same_alone(question: str, words: set[str]) -> None:
    found = set(plainly_asked(question).replace("?", "").split())
    assert words <= found
    assert not {"living", "from", "called", "name"} & found


@pytest.mark.parametrize(
    "question", ["Which sports do I do?", "What is living in the pond?", "What did Ana call it?", "Where is the form?"]
)
def test_other_questions_keep_their_words(question: str) -> None:
    assert plainly_asked(question) == question


def test_statements_say_an_attribute_in_other_words() -> None:
    EXAMPLES.assert_right(
        lambda question, word: word in words_of_answers(question).split(), "statements_say_an_attribute_in_other_words"
    )


def test_a_question_for_nothing_of_the_kind_has_no_such_words() -> None:
    assert words_of_answers("Did the parcel arrive on Monday?") == ""
    assert words_of_answers("how old " * 5_000)


def test_the_statement_that_would_answer_begins_like_it() -> None:
    EXAMPLES.assert_right(statement_opening, "the_statement_that_would_answer_begins_like_it")
