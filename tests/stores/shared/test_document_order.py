"""What a document filter means, and how a query orders documents."""

from __future__ import annotations

from array import array
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput
from mnemic.stores.relational.documents import (
    accepts,
    best_first,
    check_conditions,
    cosines,
    equal,
    keyword_scores,
    list_matching,
    texts_in,
)
from mnemic.types import ListNamespaces

VALUE: dict[str, Any] = {"n": 9, "f": 2.5, "s": "tea", "yes": True, "nothing": None, "in": {"x": 1}, "many": ["a", "b"]}


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({}, True),
        ({"n": 9}, True),
        ({"n": 9.0}, True),
        ({"n": "9"}, False),
        ({"yes": True}, True),
        ({"yes": 1}, False),
        ({"n": {"$gt": 8, "$lt": 10}}, True),
        ({"n": {"$gte": 9, "$lte": 9}}, True),
        ({"n": {"$gt": "8"}}, False),
        ({"s": {"$gt": "a"}}, True),
        ({"yes": {"$gt": 0}}, False),
        ({"gone": {"$gt": 0}}, False),
        ({"gone": None}, True),
        ({"nothing": None}, True),
        ({"gone": {"$ne": 1}}, True),
        ({"n": {"$ne": 9}}, False),
        ({"n": {"$eq": 9}}, True),
        ({"in": {"x": 1}}, True),
        ({"in": {"x": {"$gt": 0}}}, True),
        ({"in": {"x": 2}}, False),
        ({"s": {"x": 1}}, False),
        ({"many": ["a", "b"]}, True),
        ({"many": ["b", "a"]}, False),
        ({"n": 9, "s": "coffee"}, False),
        ({"n": float("nan")}, False),
    ],
)
def test_conditions(conditions: dict[str, Any], expected: bool) -> None:
    check_conditions(conditions)
    assert accepts(VALUE, conditions) is expected


@pytest.mark.parametrize("unknown", [{"n": {"$in": [1]}}, {"$and": []}, {"in": {"x": {"$regex": "a"}}}])
def test_an_operator_nobody_knows_is_refused(unknown: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="Unsupported operator"):
        check_conditions(unknown)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=3)))
def test_every_value_equals_itself(value: Any) -> None:
    assert equal(value, value)
    assert accepts({"v": value}, {"v": value})


def unit(*values: float) -> bytes:
    return array("f", values).tobytes()


def test_a_row_counts_with_its_best_vector() -> None:
    vectors = {1: [unit(1, 0), unit(0, 1)], 2: [unit(0.6, 0.8)], 3: [unit(1, 0, 0)]}
    scores = cosines(vectors, unit(0, 1))
    assert scores[1] == pytest.approx(1)
    assert scores[2] == pytest.approx(0.8)
    assert 3 not in scores
    assert cosines({}, unit(1, 0)) == {}


def test_words_find_only_what_shares_one() -> None:
    scores = keyword_scores({1: "green tea and cake", 2: "green grass", 3: "coffee"}, "green teas")
    assert scores[1] > scores[2] > 0
    assert 3 not in scores
    assert keyword_scores({}, "x") == {}


def test_the_texts_of_a_value() -> None:
    assert list(texts_in({"a": "x", "b": ["y", {"c": "z", "d": 3}]})) == ["x", "y", "z"]


def test_namespaces() -> None:
    all_of_them = [("u", "1", "food"), ("u", "2", "food"), ("u", "2", "work"), ("app",)]
    assert list_matching(all_of_them, ListNamespaces(prefixes=(("u", "*"),), suffixes=(("food",),))) == all_of_them[:2]
    assert list_matching(all_of_them, ListNamespaces(max_depth=1)) == [("app",), ("u",)]
    assert list_matching(all_of_them, ListNamespaces(limit=1, offset=1)) == [("u", "1", "food")]
    assert list_matching(all_of_them, ListNamespaces(prefixes=(("u", "2", "work", "*"),))) == []
    assert list_matching(all_of_them, ListNamespaces(max_depth=2)) == [("app",), ("u", "1"), ("u", "2")]
    assert list_matching(all_of_them, ListNamespaces(suffixes=(("2", "food"),))) == [("u", "2", "food")]
    assert list_matching(all_of_them, ListNamespaces(suffixes=(("food", "2"),))) == []
    assert list_matching(all_of_them, ListNamespaces(suffixes=(("x", "u", "2", "food"),))) == []
    assert list_matching(all_of_them, ListNamespaces(prefixes=(("u",), ("u", "2")), suffixes=(("*",), ("work",)))) == [
        ("u", "2", "work")
    ]
    assert list_matching(all_of_them, ListNamespaces(limit=2)) == [("app",), ("u", "1", "food")]
    assert list_matching(all_of_them, ListNamespaces(prefixes=(("app", "x"),))) == []


def test_rows_are_ordered_by_score_and_what_has_none_stays_behind() -> None:
    rows = [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
    assert best_first(rows, {}) == rows
    assert best_first(rows, {2: 0.1, 4: 0.9}) == [(4, "d"), (2, "b"), (1, "a"), (3, "c")]
    assert best_first(rows, {3: -0.5}) == [(3, "c"), (1, "a"), (2, "b"), (4, "d")]


def test_a_row_counts_with_the_better_of_two_whatever_their_order() -> None:
    for vectors in ([unit(1, 0), unit(0, 1)], [unit(0, 1), unit(1, 0)], [unit(0, -1), unit(0, 1)]):
        assert cosines({1: vectors}, unit(0, 1))[1] == pytest.approx(1)
    assert cosines({1: [unit(0, -1)]}, unit(0, 1))[1] == pytest.approx(-1)
    assert cosines({1: [unit(1, 0, 0)]}, unit(0, 1)) == {}
