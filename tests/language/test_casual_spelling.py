"""The spelling of chats, written out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.sentences.casual_spelling import written_out


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Im glad theyre here", "I'm glad they're here"),
        ("i dont like it, its toooo loud", "i don't like it, its to loud"),
        ("Whats your favourite song", "What's your favourite song"),
        ("I love himmm", "I love him"),
        ("ive got a cat", "I've got a cat"),
        ("Im Winter fahre ich Ski", "Im Winter fahre ich Ski"),
        ("C'est le film dont je parle", "C'est le film dont je parle"),
        ("I can't complain", "I can't complain"),
    ],
)
def test_english_contractions_and_drawn_out_words_are_written_out(text: str, plain: str) -> None:
    assert written_out(text) == plain


@given(st.text(max_size=60))
def test_any_text_can_be_read_twice(text: str) -> None:
    once = written_out(text)
    assert written_out(once) == once
