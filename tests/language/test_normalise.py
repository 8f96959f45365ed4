from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.text.normalise import alphabets, canonical_value, invisible, nfkc, visible

ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)))


@given(ANY_TEXT)
def test_values_have_one_canonical_form(text: str) -> None:
    once = canonical_value(text)
    assert canonical_value(once) == once
    assert canonical_value(f"  {text}\n") == once


def test_values_differ_by_more_than_case_and_space() -> None:
    assert canonical_value(" ENGLISH ") == canonical_value("english")
    assert canonical_value("Straße") == canonical_value("STRASSE")
    assert canonical_value("new\u00a0 york") == "new york"
    assert canonical_value("c++") != canonical_value("c")


def test_nfkc_is_the_compatibility_form() -> None:
    assert nfkc("ﬁ①") == "fi1"


def test_what_nobody_sees_is_removed() -> None:
    assert visible(" caf\u0065\u0301\u200b \u202eabc\U000e0041\x1b\x07 ") == "café abc"
    assert visible("a\r\nb\rc\u2028d\te") == "a\nb\nc\nd\te"


@given(ANY_TEXT)
def test_what_is_visible_stays(text: str) -> None:
    once = visible(text)
    assert visible(once) == once
    assert not invisible(once.replace("\n", " ").replace("\t", " "))


def test_letters_of_look_alike_alphabets_are_told_apart() -> None:
    assert alphabets("language") == {"LATIN"}
    assert alphabets("l\u0430nguage") == {"LATIN", "CYRILLIC"}
    assert alphabets("好み") == set()
