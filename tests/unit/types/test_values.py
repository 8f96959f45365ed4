"""Frozen JSON data."""

from __future__ import annotations

import copy
import json
import pickle
import unicodedata
from dataclasses import FrozenInstanceError, replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput
from mnemic.language.text.normalise import invisible
from mnemic.testing.record_store.fixtures import memory
from mnemic.types import FrozenDict, Hit, frozen
from mnemic.types.search import LazyText
from mnemic.types.values import canonical_key, clean_content

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


ANY_TEXT = st.text(st.characters())


def test_keys_are_normalised_and_trimmed_but_keep_their_case() -> None:
    assert canonical_key("  Ｌanguage ") == "Language"
    assert canonical_key("préférence") == unicodedata.normalize("NFC", "préférence")
    assert canonical_key("好み_キー") == "好み_キー"


@pytest.mark.parametrize(
    "key",
    [
        "",
        "   ",
        "a\nb",
        "a\0",
        "a\x7f",
        "a\x85b",
        "lang\u200buage",
        "lang\u200duage",
        "\ufefflanguage",
        "lan\u00adguage",
        "\u202elanguage",
        "language\u2066",
        "a\u2028b",
        "language\U000e0061",
        "language\ufe0f",
        "\u3164",
        "lang\u115fuage",
        "\u2800",
        "a\ud800",
        "a\uffff",
        "lаnguage",  # Cyrillic а
        "tιer",  # Greek iota
        "k" * 129,
        "\ufdfa" * 10,  # grows 18 times
        None,
        5,
        b"key",
    ],
)
def test_a_key_nobody_could_read_is_refused(key: object) -> None:
    with pytest.raises(InvalidInput) as wrong:
        canonical_key(key)
    assert wrong.value.reason == "invalid_input:key"


@given(ANY_TEXT)
def test_a_key_is_refused_or_stands_still(key: str) -> None:
    try:
        once = canonical_key(key)
    except InvalidInput:
        return
    assert canonical_key(once) == once
    assert not invisible(once)
    once.encode("utf-8")


def test_content_loses_what_nobody_sees() -> None:
    assert clean_content(" caf\u0065\u0301\u200b \u202eabc\U000e0041\x1b\x07 ") == "café abc"
    assert clean_content("a\r\nb\rc\u2028d\te") == "a\nb\nc\nd\te"


def test_content_keeps_joiners_and_selectors_where_the_writing_needs_them() -> None:
    for text in ("می\u200cخواهم", "क्\u200dष", "👩\u200d🚀", "❤\ufe0f", "1\ufe0f\u20e3"):
        assert clean_content(text) == text
        assert not invisible(text)
    assert clean_content("ab\u200dc") == "abc"
    assert clean_content("\u200d👩\u200d") == "👩"


@pytest.mark.parametrize(
    ("text", "reason"), [("a\0b", "invalid_input:content:nul"), ("a\udc80b", "invalid_input:content:surrogate")]
)
def test_content_no_store_could_hold_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidInput) as wrong:
        clean_content(text)
    assert wrong.value.reason == reason


@given(ANY_TEXT)
def test_content_is_refused_or_clean_and_stays_so(text: str) -> None:
    try:
        once = clean_content(text)
    except InvalidInput:
        assert "\0" in text or any("\ud800" <= c <= "\udfff" for c in text)
        return
    assert clean_content(once) == once
    assert not invisible(once.replace("\n", " ").replace("\t", " "))


ID = "01900000-0000-7000-8000-000000000001"


def hit_of(made: list[str]) -> Hit:
    def make() -> str:
        made.append("once")
        return "because"

    return Hit(memory=memory("I sail.", memory_id=ID), score=0.5, why=cast("str", LazyText(make)))


def test_the_sentence_is_made_once_when_it_is_read() -> None:
    made: list[str] = []
    hit = hit_of(made)
    assert made == []
    assert (hit.why, hit.why, made) == ("because", "because", ["once"])


def test_a_hit_with_it_equals_and_becomes_what_one_with_the_text_does() -> None:
    plain = replace(hit_of([]), why="because")
    assert hit_of([]) == plain
    assert hit_of([]).to_dict() == plain.to_dict()
    assert pickle.loads(pickle.dumps(hit_of([]))) == plain
    assert copy.copy(hit_of([])) == plain
    assert replace(hit_of([]), score=0.5) == plain


def test_it_stays_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        hit_of([]).why = "other"  # type: ignore[misc]
