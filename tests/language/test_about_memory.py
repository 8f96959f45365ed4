from __future__ import annotations

import pytest

from mnemic.language.sentences.requests_about_memory import asked_of_memory, split_requests
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def found(text: str) -> list[tuple[str, str]]:
    return [(one.kind, one.subject) for one in asked_of_memory(text)]


def test_a_request_is_recognised() -> None:
    EXAMPLES.assert_right(lambda text, kind, subject: found(text) == [(kind, subject)], "a_request_is_recognised")


def test_what_only_speaks_of_it_is_none() -> None:
    EXAMPLES.assert_right(found, "what_only_speaks_of_it_is_none")


def test_a_message_is_parted_into_its_requests_and_the_rest() -> None:
    text = "I moved to Bergen. Forget what I told you about Oslo! What do you know about me? Thanks."
    requests = "Forget what I told you about Oslo! What do you know about me?"
    assert split_requests(text) == (requests, "I moved to Bergen. Thanks.")
    assert split_requests("I moved to Bergen.") == ("", "I moved to Bergen.")
    assert split_requests("Forget everything about me.") == ("Forget everything about me.", "")


def test_each_sentence_is_looked_at() -> None:
    text = "I moved to Bergen. Forget what I told you about Oslo. What do you know about me?"
    asked = list(asked_of_memory(text))
    assert [one.kind for one in asked] == ["forget", "show"]
    assert text[slice(*asked[0].span)] == "Forget what I told you about Oslo."


def test_a_request_in_other_words() -> None:
    EXAMPLES.assert_right(lambda text, kind, subject: found(text) == [(kind, subject)], "a_request_in_other_words")


@pytest.mark.parametrize(
    "text", ["Forget about the pizza.", "Delete everything after the second line.", "I forgot about my keys."]
)
def test_words_of_a_request_that_ask_nothing_of_memory(text: str) -> None:
    assert found(text) == []


def test_a_request_in_the_words_of_its_language() -> None:
    EXAMPLES.assert_right(
        lambda text, kind, subject: found(text) == [(kind, subject)], "a_request_in_the_words_of_its_language"
    )


def test_what_must_not_be_forgotten_is_no_request_to_forget_it() -> None:
    assert found("Vergeet mijn paspoort niet.") == []


def test_some_are_requests_only_where_something_is_known() -> None:
    EXAMPLES.assert_right(
        lambda text, if_known: [one.if_known for one in asked_of_memory(text)] == [if_known],
        "some_are_requests_only_where_something_is_known",
    )
