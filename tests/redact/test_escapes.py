"""Escaped and spelled characters are decoded, and no find of the plain text is lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.redact import redact
from mnemic.redact.normalised_text import decode_escapes
from tests.examples import Examples

EXAMPLES = Examples.of_tests(__file__)


READ = [
    ("jane%40acme.com", "jane@acme.com"),
    ("jane%2540acme.com", "jane@acme.com"),
    ("&#64;&#x40;&commat;&amp;#64;", "@@@@"),
    ("a\\u0040b\\x40c\\\\u0040", "a@b@c@"),
    ("%C3%A9t%C3%A9 %E2%82%AC %F0%9F%98%80", "été € \U0001f600"),
]


@pytest.mark.parametrize(("text", "plain"), READ)
def test_what_is_escaped_is_read(text: str, plain: str) -> None:
    read = decode_escapes(text)
    assert read is not None
    assert read[0] == plain
    assert (len(read[1]), read[1][0], read[1][-1]) == (len(plain) + 1, 0, len(text))


def test_other_texts_are_left() -> None:
    EXAMPLES.assert_right(decode_escapes, "other_texts_are_left", floor=1)


def test_an_escape_hides_nothing() -> None:
    def check(text: str, entity: str, hidden: str) -> Any:
        done = redact(text)
        return [(span.entity, text[span.start : span.end]) for span in done.spans] == [(entity, hidden)]

    EXAMPLES.assert_right(check, "an_escape_hides_nothing", floor=1)


@given(st.lists(st.sampled_from(["%40", "&#64;", "\\u0040", "jane", "acme.com", " ", "%", "&", ";"]), max_size=12))
def test_twice_is_once(pieces: list[str]) -> None:
    secret = b"k" * 32
    once = redact("".join(pieces), secret=secret).text
    assert redact(once, secret=secret).text == once


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("write to jane at acme dot com please", "jane at acme dot com"),
        ("Jane dot Doe At Mail dot Acme dot Co dot Uk", "Jane dot Doe At Mail dot Acme dot Co dot Uk"),
        ("it is j.doe+x at acme-labs dot org.", "j.doe+x at acme-labs dot org"),
    ],
)
def test_a_spelled_address_is_found(text: str, hidden: str) -> None:
    assert [(span.entity, text[span.start : span.end]) for span in redact(text).spans] == [("EMAIL", hidden)]


def test_other_dots_are_left() -> None:
    EXAMPLES.assert_right(lambda text: redact(text).text == text, "other_dots_are_left", floor=1)


def test_a_spelled_address_is_the_address() -> None:
    secret = b"k" * 32
    assert redact("Jane at Acme dot com", secret=secret).text == redact("jane@acme.com", secret=secret).text
