"""Wordings that tell a habit or a liking."""

from __future__ import annotations

from mnemic.language.sentences.categories import HABIT
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_tells_a_habit() -> None:
    EXAMPLES.assert_right(lambda text: bool(HABIT.match(text)), "tells_a_habit")


def test_tells_none() -> None:
    EXAMPLES.assert_right(lambda text: bool(HABIT.match(text)), "tells_none")
