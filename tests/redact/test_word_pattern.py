"""Expressions that are tried only if they can match: the same answers as `re` gives."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.redact.required_words import required
from mnemic.redact.word_pattern import OFTEN, SHORTEST, WordPattern

LETTERS = "ab c-.'éßK"
ATOMS = st.sampled_from(
    r"a;b;ab;ba; ;-;';é;\b;\w;\w+;\s+;\W;.;[ab];[^a];(?:ab|b);^;$;(?:a|ba )?;(?:ab)+;(?=a);(?!a);(?<=b);(?<!\w);"
    r"(?![\w']);a*;\Z;(?:a|b.);(?i:A)".split(";")
)
EXPRESSIONS = st.recursive(
    st.lists(ATOMS, min_size=1, max_size=5).map("".join),
    lambda inner: (
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})") | st.tuples(inner, inner).map("".join)
    ),
    max_leaves=4,
)


def often(text: str, flags: int = 0) -> WordPattern:
    """An expression that was used often enough to have its words read off."""
    pattern = WordPattern(text, flags)
    for _ in range(OFTEN):
        pattern.search("")
    return pattern


@given(EXPRESSIONS, st.text(LETTERS, max_size=60), st.sampled_from([0, re.IGNORECASE]))
def test_every_answer_is_that_of_the_expression(expression: str, text: str, flags: int) -> None:
    text = text.ljust(SHORTEST, "c")
    pattern, plain = often(expression, flags), re.compile(expression, flags)
    assert str(pattern.search(text)) == str(plain.search(text))
    assert str(pattern.match(text)) == str(plain.match(text))
    assert str(pattern.search(text, 3)) == str(plain.search(text, 3))
    assert str(pattern.search(text, 2, 9)) == str(plain.search(text, 2, 9))
    assert pattern.findall(text) == plain.findall(text)
    assert list(map(str, pattern.finditer(text, 1))) == list(map(str, plain.finditer(text, 1)))
    assert pattern.sub("<>", text) == plain.sub("<>", text)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        (r"\b(?:quit|left) my job\b", {"^quit$", "^left$"}),
        (r"\bjoin\w* us", {"^join"}),
        (r"(?<![\w'])(?:for\s+good)(?![\w])", {"^good$"}),
        (r"\b(?:colou?r|hue)s?\b", {"^color$", "^colors$", "^colour$", "^colours$", "^hue$", "^hues$"}),
        (r"\d+ \w+", None),
        (r"(?:left )?\w+", None),
        (r".*\?$", {"?"}),
    ],
)
def test_words_without_which_nothing_matches(expression: str, words: set[str] | None) -> None:
    found = required(re.compile(expression))
    assert (None if found is None else set(found)) == words


def test_a_text_without_the_words_is_not_tried() -> None:
    pattern = often(r"\b(?:quit|left) (?:\w+ ){0,3}job\b")
    assert pattern.is_absent("The lamp on the third floor is green.")
    assert not pattern.is_absent("They left the lamp on the third floor.")
    assert not pattern.is_absent("I left my old job at the harbour.")


def test_letters_that_differ_in_case_alone_are_the_same_word() -> None:
    pattern = often(r"\bist\b|\bkiosk\b", re.IGNORECASE)
    for text in (
        "Das İST wohl ein kleines Haus am Meer.",
        "Das \u017ft wohl, ıſt ein kleines Haus.",
        "Der KIO\u017f\u212a am kleinen Haus.",
    ):
        assert str(pattern.search(text)) == str(re.compile(pattern.text, re.IGNORECASE).search(text))
