"""Messages that only ask, told from requests that tell something."""

from __future__ import annotations

from mnemic.language.questions.asks_only import asks_only
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_a_mere_question_tells_nothing() -> None:
    EXAMPLES.assert_right(lambda text: bool(asks_only(text)), "a_mere_question_tells_nothing")


def test_what_tells_something_is_no_mere_question() -> None:
    EXAMPLES.assert_right(lambda text: bool(asks_only(text)), "what_tells_something_is_no_mere_question")
