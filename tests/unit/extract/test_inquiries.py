"""Phrases without a verb that ask for a service are requests; what states something with the same words is not."""

from __future__ import annotations

from mnemic.language.sentences.clauses import clauses
from mnemic.language.sentences.exclusion_rules import left_out, mood_of
from mnemic.reason_codes import TRANSIENT
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def reason(text: str) -> str | None:
    return left_out(clauses(text)[0], mood_of(text))


def test_a_phrase_that_names_a_service_and_a_place_asks() -> None:
    EXAMPLES.assert_right(lambda text: reason(text) == TRANSIENT, "a_phrase_that_names_a_service_and_a_place_asks")


def test_what_states_something_does_not() -> None:
    EXAMPLES.assert_right(reason, "what_states_something_does_not")
