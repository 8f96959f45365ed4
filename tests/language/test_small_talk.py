"""Requests to which nothing that is remembered helps, and requests that look like them."""

from __future__ import annotations

from mnemic.language.questions.small_talk import is_small_talk
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_greetings_thanks_and_nods() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_small_talk(text)), "greetings_thanks_and_nods")


def test_whatever_else_is_asked() -> None:
    EXAMPLES.assert_right(lambda text: bool(is_small_talk(text)), "whatever_else_is_asked")
