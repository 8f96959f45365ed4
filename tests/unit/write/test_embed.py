"""Step 4: the text a memory is found by."""

from __future__ import annotations

import pytest

from mnemic.write.prepare import index_text


@pytest.mark.parametrize(
    ("key", "text"),
    [
        (None, "english"),
        ("reply_language", "reply language: english"),
        ("reply-language", "reply language: english"),
        ("homeCity2", "home city 2: english"),
        ("язык", "язык: english"),
    ],
)
def test_index_text(key: str | None, text: str) -> None:
    assert index_text("english", key=key) == text
