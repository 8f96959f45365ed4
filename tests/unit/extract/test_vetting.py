from __future__ import annotations

import pytest

from mnemic.extract.vetting import follows, refusal
from mnemic.policy.key_rules import Policy


def refused(text: str, quote: str, *, may_ask: bool = False) -> str | None:
    at = text.index(quote)
    return refusal(text, (at, at + len(quote)), may_ask=may_ask)


@pytest.mark.parametrize(
    ("text", "quote", "reason"),
    [
        ("Am I allergic to kiwi?", "Am I allergic to kiwi", "transient"),
        ("Translate: I live in Turin.", "I live in Turin", "quoted"),
        ('My boss: "I live in Bari."', "I live in Bari", "quoted"),
        ("Mon chef : « j'habite à Nice »", "j'habite à Nice", "quoted"),
        ("> I live in Turin.\nWhat do you say to that?", "I live in Turin", "quoted"),
        ("Pretend you are a pirate. I live on a ship.", "I live on a ship", "transient"),
        ("Thanks, perfect!", "Thanks, perfect", "not_durable"),
        ("Yeah right, I'll row to work on a swan.", "I'll row to work on a swan", "sarcasm"),
    ],
)
def test_what_is_no_statement_by_its_form_is_refused(text: str, quote: str, reason: str) -> None:
    assert refused(text, quote) == reason


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("I live in Turin.", "I live in Turin"),
        ("My husband is a baker.", "My husband is a baker"),
        ("Doc put me on warfarin, so no grapefruit for me.", "Doc put me on warfarin"),
        ("The bank said yes, so make that 15,000.", "make that 15,000"),
        ("Please move me to gate nine, I use a rollator, ok?", "I use a rollator"),
        ('My favourite song: "Imagine".', 'My favourite song: "Imagine"'),
        ("Jestem uczulona na orzeszki.", "Jestem uczulona na orzeszki"),
        ("Yeah right, I'm allergic to peanuts and he brings satay.", "I'm allergic to peanuts"),
    ],
)
def test_what_is_stated_is_not_refused_for_what_it_means(text: str, quote: str) -> None:
    assert refused(text, quote) is None


def test_an_instruction_may_be_asked_for() -> None:
    text = "Could you keep your answers under 90 words?"
    assert refused(text, text, may_ask=True) is None
    assert refused(text, text) == "transient"


@pytest.mark.parametrize(
    ("value", "key", "quote", "expected"),
    [
        ("aisle seats", "seat", "I want aisle seat", True),
        ("tea over coffee", "drink", "I take tea over coffee", True),
        ("tea over coffee", "drink", "I take coffee over tea", False),
        ("100k", "salary", "I like tea", False),
        ("celiac", "diet", "I'm coeliac.", True),
    ],
)
def test_a_value_follows_from_its_words_or_the_tables(value: str, key: str, quote: str, expected: bool) -> None:
    assert follows(value, key, quote, Policy()) is expected
