from __future__ import annotations

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


def test_values_nobody_said_are_not() -> None:
    EXAMPLES.assert_right(grounded, "values_nobody_said_are_not")


@given(text=st.text(max_size=200), start=st.integers(0, 200), length=st.integers(1, 40))
def test_every_folded_place_leads_back_into_the_text(text: str, start: int, length: int) -> None:
    folded = NormalisedText(text)
    assert len(folded.text) == len(folded.places)
    assert folded.places == sorted(folded.places)
    span = folded.find(text[start : start + length])
    assert span is None or 0 <= span[0] < span[1] <= len(text)
