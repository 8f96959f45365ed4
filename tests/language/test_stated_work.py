"""Statements of one's own work, in the words that people use for it."""

from __future__ import annotations

from mnemic.language.questions.attributes import stated_work
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_what_is_said_of_ones_own_work() -> None:
    EXAMPLES.assert_right(stated_work, "what_is_said_of_ones_own_work")
