"""What only keeps somebody company is not kept; what tells something of the speaker is."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.social_remarks import is_company
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_it_is_left_out() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_company(text)), "it_is_left_out")


def test_what_tells_something_is_not() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_company(text)), "what_tells_something_is_not")


@pytest.mark.parametrize("text", ["Ouch, bummer about the injury.", "Wow, such a view!", "Aww, what a puppy!"])
def test_a_cry_about_something_keeps_company(text: str) -> None:
    assert is_company(text)


@pytest.mark.parametrize(
    "text", ["Ouch, my knee hurts again.", "Ugh, the flight was cancelled.", "Wow, no shellfish for Noor then."]
)
def test_a_cry_that_tells_something_does_not(text: str) -> None:
    assert not is_company(text)


def test_advice_greetings_and_what_is_true_for_everybody() -> None:
    EXAMPLES.assert_right(is_company, "advice_greetings_and_what_is_true_for_everybody")
