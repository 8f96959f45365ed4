"""Terms, vectors and names as they are stored."""

from __future__ import annotations

from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput
from mnemic.stores.postgres.rows import (
    HashedTerms,
    decode_vector,
    digest,
    lock_of,
    pack,
    postings_of,
    raw,
    storable,
    unpack,
    vector_parameter,
)
from mnemic.testing.record_store import memory, scope
from mnemic.types import Level

NUMBERS = st.integers(-(2**31), 2**31 - 1)


@given(st.lists(NUMBERS))
def test_packed_terms_come_back(numbers: list[int]) -> None:
    assert unpack(pack(numbers)) == set(numbers) - {0}


@given(st.lists(NUMBERS.filter(bool), max_size=12), st.lists(NUMBERS.filter(bool), min_size=1, max_size=3))
def test_packed_sequences_stand_inside_each_other_as_their_terms_do(text: list[int], phrase: list[int]) -> None:
    starts = range(len(text) - len(phrase) + 1)
    inside = any(text[start : start + len(phrase)] == phrase for start in starts)
    assert (pack(phrase) in pack(text)) == inside


@given(st.lists(st.floats(width=32, allow_nan=False), min_size=1, max_size=20))
def test_vectors_come_back(values: list[float]) -> None:
    vector = array("f", values).tobytes()
    swapped = array("f", values)
    swapped.byteswap()
    assert decode_vector(len(values).to_bytes(2, "big") + b"\0\0" + swapped.tobytes()) == vector
    assert vector_parameter(vector) == array("f", values)
    assert decode_vector(None) is vector_parameter(None) is None


def test_terms_are_salted_and_fit_their_column() -> None:
    here, there = HashedTerms(b"a" * 16), HashedTerms(b"b" * 16)
    numbers = [here.number(word) for word in ("tea", "coffee", "\ud800")]
    assert all(-(2**31) <= number < 2**31 and number != 0 for number in numbers)
    assert here.number("tea") != there.number("tea")


def test_postings_count_both_fields() -> None:
    content, context = HashedTerms(b"salt").hash_terms(memory("tea and tea", key="drink", context="tea or coffee"))
    terms, in_content, in_context = postings_of(content, context)
    assert len(terms) == len(set(terms)) == 5
    assert (sum(in_content), sum(in_context)) == (content.length, context.length) == (4, 3)


def test_every_scope_has_a_lock_of_its_own() -> None:
    places = [scope(owner, tenant=tenant, level=level) for owner in "ab" for tenant in "xy" for level in Level]
    assert len({lock_of(place) for place in places}) == len(places)
    assert lock_of(scope()) == lock_of(scope())
    assert all(-(2**63) <= lock_of(place) < 2**63 for place in places)


def test_names_that_no_row_can_have() -> None:
    assert storable(["a", "b\x00", "\ud800", ""]) == ["a", ""]
    assert digest(None) is raw(None) is None
    assert digest("a") != digest("b")
    with pytest.raises(InvalidInput, match="surrogate"):
        raw("\ud800")
