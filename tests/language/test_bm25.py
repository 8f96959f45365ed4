"""The formula of the keyword list."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.text.bm25 import Bm25


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_rare_terms_tell_more_and_none_tells_nothing(first: int, second: int) -> None:
    few, many = sorted((first, second))
    assert 0 < Bm25().idf(10_000, many) <= Bm25().idf(10_000, few)


@given(st.floats(0.01, 100), st.floats(0.01, 100))
def test_repetition_helps_less_and_less(first: float, second: float) -> None:
    low, high = sorted((first, second))
    assert Bm25().gain(1.0, low) <= Bm25().gain(1.0, high) < 1.0


def test_a_known_value() -> None:
    bm25 = Bm25(k1=1.2, b=0.75)
    frequency = bm25.frequency(1.0, 2, 10, 20.0)
    assert frequency == pytest.approx(2 / (0.25 + 0.75 * 0.5))
    assert bm25.gain(bm25.idf(10, 1), frequency) == pytest.approx(1.992430164690206 * frequency / (1.2 + frequency))


def test_a_long_field_counts_less_and_the_context_half() -> None:
    bm25 = Bm25()
    assert bm25.frequency(1.0, 1, 40, 20.0) < bm25.frequency(1.0, 1, 20, 20.0) == 1.0
    assert bm25.frequency(bm25.context_weight, 1, 20, 20.0) == 0.5
