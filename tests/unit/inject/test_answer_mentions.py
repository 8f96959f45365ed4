"""A value in an answer: said, turned down, or left open. Half of the rows were written without looking at the rules."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize(
    ("answer", "how"),
    [
        ("Email is not a problem.", Mention.SAID),
        ("Email is switched off.", Mention.DENIED),
        ("The email is off to the team.", Mention.SAID),
        ("Left email out this time.", Mention.DENIED),
        ("It is email-free.", Mention.DENIED),
        ("E-Mail nutze ich nicht.", Mention.DENIED),
        ("There are two stops before the email.", Mention.SAID),
        ("", Mention.ABSENT),
    ],
)
def test_what_follows_may_turn_it_down(answer: str, how: Mention) -> None:
    assert mention("email", answer) is how


def test_a_value_is_not_found_over_the_end_of_a_sentence() -> None:
    assert mention("aisle seat", "It is on the aisle. Seats are free.") is Mention.ABSENT
    assert mention("東京", "大阪で行います。") is Mention.ABSENT


def test_forms_of_one_word() -> None:
    EXAMPLES.assert_right(same_word, "forms_of_one_word")


@pytest.mark.parametrize(
    ("value", "answer", "how"),
    [
        ("rail", "I wouldn't take anything other than rail.", Mention.SAID),
        ("rail", "There is no better way than rail.", Mention.SAID),
        ("rail", "I found nothing but rail.", Mention.SAID),
        ("quiet table", "I booked a table; it is quiet.", Mention.ABSENT),
        ("quiet table", "I booked a table that is quiet.", Mention.OPEN),
        ("two", "It is 2.", Mention.SAID),
        ("3 nights", "You stay three nights.", Mention.SAID),
        ("Dr. Kim", "You see Doctor Kim at ten.", Mention.SAID),
        ("rail", "Rail sold out, so I booked a bus.", Mention.DENIED),
        ("rail", "The rail is booked out.", Mention.DENIED),
        ("rail", "Rail no longer runs; take the bus.", Mention.DENIED),
        ("rail", "Forget rail.", Mention.DENIED),
        ("rail", "Don't forget rail.", Mention.SAID),
        ("rail", "I ignored rail.", Mention.DENIED),
        ("rail", "Rail: no.", Mention.DENIED),
        ("rail", "Rail? nope.", Mention.DENIED),
        ("rail", "Rail, no bus.", Mention.SAID),
        ("decaf", "Hardly decaf.", Mention.DENIED),
        ("decaf", "The decaf is gone.", Mention.DENIED),
        ("balcony", "Balcony unavailable.", Mention.DENIED),
        ("balcony", "Far from a balcony.", Mention.DENIED),
        ("tofu", "You prefer tofu; I cannot do that.", Mention.OPEN),
        ("sms", "You asked for SMS, but I will call.", Mention.OPEN),
        ("sms", "You get SMS.", Mention.SAID),
    ],
)
def test_what_is_excepted_or_missing_or_only_told_back(value: str, answer: str, how: Mention) -> None:
    assert mention(value, answer) is how


@pytest.mark.parametrize(
    ("value", "answer", "how"),
    [
        ("vegetarian", "Here are three veggie places.", Mention.OPEN),
        ("Lisbon", "We fly you to Lisboa.", Mention.OPEN),
        ("night train", "The nightly train leaves at nine.", Mention.ABSENT),
        ("morning", "There are more flights.", Mention.ABSENT),
        ("aisle", "aisle", Mention.OPEN),
        ("vegetarian", "Is there a vegetarian?", Mention.OPEN),
        ("vegetarian", "Is there a vegetarian? Yes, this one is vegetarian.", Mention.SAID),
    ],
)
def test_what_may_be_the_value_is_left_open(value: str, answer: str, how: Mention) -> None:
    assert mention(value, answer) is how
