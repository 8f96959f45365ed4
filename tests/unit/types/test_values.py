"""Frozen JSON data."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

from mnemic.types import FrozenDict, frozen

DATA = FrozenDict({"seat": "12A", "legs": [{"to": "OSL"}, {"to": "BGO"}]})


def test_it_is_frozen_all_the_way_down() -> None:
    assert isinstance(DATA["legs"], tuple)
    assert isinstance(DATA["legs"][0], FrozenDict)
    assert frozen({"a": [1]}) == {"a": (1,)}


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.__setitem__("seat", "1A"),
        lambda data: data.__delitem__("seat"),
        lambda data: data.update(seat="1A"),
        lambda data: data.pop("seat"),
        lambda data: data.popitem(),
        lambda data: data.setdefault("row", 1),
        lambda data: data.clear(),
    ],
)
def test_it_cannot_be_changed(change: Any) -> None:
    with pytest.raises(TypeError, match="does not support change"):
        change(DATA)

    assert DATA["seat"] == "12A"


def test_it_is_a_mapping_like_any_other() -> None:
    assert json.loads(json.dumps(DATA)) == {"seat": "12A", "legs": [{"to": "OSL"}, {"to": "BGO"}]}
    assert dict(DATA) == {"seat": 1} | DATA
    assert FrozenDict(dict(DATA).items()) == DATA


def test_an_update_in_place_makes_a_new_dict() -> None:
    data = before = FrozenDict({"a": 1})
    data |= {"b": 2}  # type: ignore[assignment]  # a plain dict

    assert data == {"a": 1, "b": 2}
    assert type(data) is dict
    assert before == {"a": 1}


def test_copies_and_pickles_are_equal_and_frozen() -> None:
    for again in (copy.copy(DATA), copy.deepcopy(DATA), pickle.loads(pickle.dumps(DATA))):
        assert again == DATA
        assert type(again) is FrozenDict


def test_equal_data_has_one_hash() -> None:
    assert hash(FrozenDict({"a": 1, "b": [2]})) == hash(FrozenDict({"b": (2,), "a": 1}))
    assert len({FrozenDict({"a": 1}), FrozenDict({"a": 1})}) == 1


def test_what_is_frozen_is_not_copied_again() -> None:
    assert frozen(DATA) is DATA
