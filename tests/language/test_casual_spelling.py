"""The spelling of chats, written out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.sentences.casual_spelling import written_out
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_english_contractions_and_drawn_out_words_are_written_out() -> None:
    EXAMPLES.assert_right(written_out, "english_contractions_and_drawn_out_words_are_written_out")


@given(st.text(max_size=60))
def test_any_text_can_be_read_twice(text: str) -> None:
    once = written_out(text)
    assert written_out(once) == once
