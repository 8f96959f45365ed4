"""States of a day and jokes that say so are left out, in seven languages; what only looks like them is not."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.language.sentences.exclusion_rules import is_in_jest, is_passing_state, takes_back_in_jest
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.types import Deadline, Message
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_a_state_of_the_day_passes() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_passing_state(text)), "a_state_of_the_day_passes")


def test_what_returns_or_depends_on_something_does_not() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_passing_state(text)), "what_returns_or_depends_on_something_does_not")


def test_a_joke_says_that_it_is_one() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_in_jest(text)), "a_joke_says_that_it_is_one")


def test_the_denial_of_a_joke_and_talk_about_jokes_are_no_sign_of_one() -> None:
    EXAMPLES.assert_right(
        lambda text: bool(is_in_jest(text)), "the_denial_of_a_joke_and_talk_about_jokes_are_no_sign_of_one"
    )


def test_only_a_short_sentence_takes_back_the_one_before_it() -> None:
    assert takes_back_in_jest("Haha, just kidding!")
    assert not takes_back_in_jest("I told my boss that I quit, just kidding")


@pytest.mark.parametrize(
    ("text", "kept", "reason"),
    [
        ("I am married to a lighthouse. Just kidding!", [], "joke"),
        ("I am allergic to bees. I quit to become a pirate, jk.", ["I am allergic to bees."], "joke"),
        ("Just kidding, I don't own a lighthouse.", [], "joke"),
        ("Just kidding! I am allergic to bees.", ["I am allergic to bees."], "joke"),
        ("I have the flu and a fever", [], "transient"),
    ],
)
async def test_the_report_names_the_reason(text: str, kept: list[str], reason: str) -> None:
    message = Message(role="user", content=text, sent_at=datetime(2026, 5, 4, tzinfo=UTC))
    found = await RuleExtractor().extract(
        message, policy=Policy(), budget=Budget(), deadline=Deadline(10.0, lambda: 0.0)
    )
    assert [one.content for one in found.candidates if one.key is None] == kept
    assert reason in [one.reason for one in found.skipped]
