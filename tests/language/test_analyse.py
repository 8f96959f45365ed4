"""How texts become terms."""

from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mnemic.language.text.analyse import analyse, parse_query, terms
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


def test_terms() -> None:
    EXAMPLES.assert_right(terms, "terms")


@pytest.mark.parametrize(
    ("text", "also"),
    [
        ("GitHub", {"github", "git", "hub"}),
        ("HTTPServer", {"httpserver", "http", "server"}),
        ("C++", {"c", "c++"}),
        ("C#", {"c", "c#"}),
        ("node.js", {"node", "js"}),
        ("🎉!", {"🎉"}),
    ],
)
def test_further_spellings(text: str, also: set[str]) -> None:
    assert also <= set(terms(text))


def test_further_spellings_stand_apart_from_the_sequence() -> None:
    assert analyse("my GitHub page").sequence == ["my", "github", "page"]


@given(st.text())
def test_text_that_is_not_blank_has_terms(text: str) -> None:
    assert bool(terms(text)) == bool(text.strip())
    assert all(0 < len(term) <= 64 for term in terms(text))


@given(st.text())
@example("\u00c0A#")
def test_composition_and_case_do_not_matter(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    assert terms(composed) == terms(unicodedata.normalize("NFD", text))


@given(st.text())
def test_a_text_finds_itself(text: str) -> None:
    sequence, extras = analyse(text, stems=True)
    assert set(parse_query(text).terms) == {*sequence, *extras} >= set(terms(text))


def test_queries_quote_phrases_and_know_no_other_syntax() -> None:
    assert parse_query('who saw "Le Chat Noir" AND “the cat” OR x:*').phrases == [
        ("le", "chat", "noir"),
        ("the", "cat"),
    ]
    assert parse_query('half "open').phrases == []
    assert parse_query('"" " "').phrases == []
    assert parse_query("tea Tea TEAS").terms == ["tea"]


def test_threads_agree() -> None:
    text = "running cats and 東京 in update_channel"
    with ThreadPoolExecutor(8) as threads:
        assert len({tuple(found) for found in threads.map(terms, [text] * 200)}) == 1
