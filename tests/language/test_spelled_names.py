"""The names that a text may spell: what a name's key is made of, found in a question however it is written."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mnemic.language.text.names import MAX_RUNS, slug, spelled_names
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


COMMON = frozenset({"the", "is", "of", "s", "will", "in"})


def test_a_name_is_spelled_by_a_text_that_holds_it() -> None:
    EXAMPLES.assert_right(
        lambda name, label, text: slug(name, label) in spelled_names(text, common=COMMON),
        "a_name_is_spelled_by_a_text_that_holds_it",
    )


def test_common_words_and_signs_between_sentences_make_no_names() -> None:
    found = spelled_names("the house is big. Ana? Ben", common=COMMON)
    assert {"house", "big", "ana", "ben"} <= set(found)
    assert not {"the", "is", "the-house", "ana-ben"} & set(found)


def test_of_a_long_text_only_the_beginning_is_looked_at() -> None:
    words = [f"word{number}" for number in range(5_000)]
    found = spelled_names(" ".join(words))
    assert "word0" in found
    assert len(found) == MAX_RUNS
    assert len(spelled_names("東" * 5_000)) <= MAX_RUNS


@given(st.text(max_size=60))
def test_any_text_has_names_that_fit_a_key(text: str) -> None:
    found = spelled_names(text, common=COMMON)
    assert len(found) == len(set(found))
    assert all(0 < len(name) <= 37 and name.isascii() for name in found)


@given(st.text(alphabet="abcXYZ é'-.&", min_size=1, max_size=12))
def test_the_quick_way_is_the_slug(name: str) -> None:
    for found in spelled_names(name):
        assert slug(found, "thing") in {found, found.removeprefix("the-")}
