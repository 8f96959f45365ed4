from __future__ import annotations

from mnemic.extract.vetting import follows, refusal
from mnemic.policy.key_rules import Policy
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def refused(text: str, quote: str, *, may_ask: bool = False) -> str | None:
    at = text.index(quote)
    return refusal(text, (at, at + len(quote)), may_ask=may_ask)


def test_what_is_no_statement_by_its_form_is_refused() -> None:
    EXAMPLES.assert_right(refused, "what_is_no_statement_by_its_form_is_refused")


def test_what_is_stated_is_not_refused_for_what_it_means() -> None:
    EXAMPLES.assert_right(refused, "what_is_stated_is_not_refused_for_what_it_means")


def test_an_instruction_may_be_asked_for() -> None:
    text = "Could you keep your answers under 90 words?"
    assert refused(text, text, may_ask=True) is None
    assert refused(text, text) == "transient"


def test_a_value_follows_from_its_words_or_the_tables() -> None:
    EXAMPLES.assert_right(
        lambda value, key, quote: follows(value, key, quote, Policy()), "a_value_follows_from_its_words_or_the_tables"
    )
