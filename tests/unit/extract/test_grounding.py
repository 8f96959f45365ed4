from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.extract.grounding import NormalisedText, ground
from mnemic.types import Candidate, Message, Source
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def grounded(text: str, value: str, quote: str | None = None) -> str | None:
    found = ground(Candidate(content=value, key="k", source=Source(quote=quote)), Message(role="user", content=text))
    if found is None:
        return None
    assert found.source.span is not None
    start, end = found.source.span
    assert text[start:end] == found.source.quote
    return found.source.quote


def test_words_that_support_a_value_are_found() -> None:
    EXAMPLES.assert_right(grounded, "words_that_support_a_value_are_found")


@pytest.mark.parametrize(
    ("text", "value", "quote"),
    [
        ("I had a plasmsa scan.", "sms", None),
        ("I am enterprise tier.", "platinum", None),
        ("I am enterprise tier.", "platinum", "I am"),
        ("I am enterprise tier.", "platinum", "I am platinum tier"),
        ("Call me a taxi.", "a b", None),
        ("", "english", None),
        ("I like tea.", "...", None),
        ("I like tea.", "coffee", "x" * 2_000),
    ],
)
def test_values_nobody_said_are_not(text: str, value: str, quote: str | None) -> None:
    assert grounded(text, value, quote) is None


@given(text=st.text(max_size=200), start=st.integers(0, 200), length=st.integers(1, 40))
def test_every_folded_place_leads_back_into_the_text(text: str, start: int, length: int) -> None:
    folded = NormalisedText(text)
    assert len(folded.text) == len(folded.places)
    assert folded.places == sorted(folded.places)
    span = folded.find(text[start : start + length])
    assert span is None or 0 <= span[0] < span[1] <= len(text)
