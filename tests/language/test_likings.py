"""Wordings of likes, dislikes, needs and values, whatever they are about."""

from __future__ import annotations

import pytest

from mnemic.language.sentences.likings import LIKING, without_marks_around
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_tells_a_liking() -> None:
    EXAMPLES.assert_right(lambda text: bool(LIKING.match(text)), "tells_a_liking")


def test_tells_none() -> None:
    EXAMPLES.assert_right(lambda text: bool(LIKING.match(text)), "tells_none")


def test_a_liking_in_quotation_marks_alone_is_the_writers() -> None:
    assert without_marks_around('"I hate brass bands."').strip() == "I hate brass bands."
    assert without_marks_around("“I find early starts unbearable.”").strip() == "I find early starts unbearable."


@pytest.mark.parametrize(
    "text",
    [
        'He said "I hate brass bands."',
        '"I hate brass bands." is a line of the song.',
        '"The train leaves at nine."',
        '"I hate brass bands." "So do I."',
    ],
)
def test_other_quotations_keep_their_marks(text: str) -> None:
    assert without_marks_around(text) == text
