from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.errors import InvalidInput
from mnemic.language.text.normalise import invisible
from mnemic.types.values import canonical_key, clean_content

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
