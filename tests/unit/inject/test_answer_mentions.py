"""A value in an answer: said, turned down, or left open. Half of the rows were written without looking at the rules."""

from __future__ import annotations

from mnemic.inject.answer_mentions import Mention, mention
from mnemic.language.text.inflect import same_word
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_an_honest_answer_says_the_value() -> None:
    EXAMPLES.assert_right(
        lambda value, answer: mention(value, answer) is Mention.SAID, "an_honest_answer_says_the_value"
    )


def test_what_is_turned_down_or_absent_is_not_said() -> None:
    EXAMPLES.assert_right(
        lambda value, answer: mention(value, answer) is not Mention.SAID, "what_is_turned_down_or_absent_is_not_said"
    )


def test_two_negations_leave_it_open() -> None:
    assert mention("email", "I cannot send it without email.") is Mention.OPEN
    assert mention("email", "I do not think that we should really use email.") is Mention.OPEN


def test_what_follows_may_turn_it_down() -> None:
    EXAMPLES.assert_right(lambda answer: mention("email", answer), "what_follows_may_turn_it_down")


def test_a_value_is_not_found_over_the_end_of_a_sentence() -> None:
    assert mention("aisle seat", "It is on the aisle. Seats are free.") is Mention.ABSENT
    assert mention("東京", "大阪で行います。") is Mention.ABSENT


def test_forms_of_one_word() -> None:
    EXAMPLES.assert_right(same_word, "forms_of_one_word")


def test_what_is_excepted_or_missing_or_only_told_back() -> None:
    EXAMPLES.assert_right(mention, "what_is_excepted_or_missing_or_only_told_back")


def test_what_may_be_the_value_is_left_open() -> None:
    EXAMPLES.assert_right(mention, "what_may_be_the_value_is_left_open")
