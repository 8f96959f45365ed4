"""Escaped and spelled characters are decoded, and no find of the plain text is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.redact import redact
from mnemic.redact.escapes import decode_escapes

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


@pytest.mark.parametrize("text", ["plain", "100%", "50% of", "a & b", "&nosuch;", "%00", "\\u0007", "%zz"])
def test_other_texts_are_left(text: str) -> None:
    assert decode_escapes(text) is None


@pytest.mark.parametrize(
    ("text", "entity", "hidden"),
    [
        ("https://x.org/?m=jane%40acme.com&b=1", "EMAIL", "jane%40acme.com"),
        ("mail jane&#64;acme&period;com", "EMAIL", "jane&#64;acme&period;com"),
        ('{"m": "jane\\u0040acme.com"}', "EMAIL", "jane\\u0040acme.com"),
        ("password=ab%20cd9!x", "SECRET", "ab%20cd9!x"),
        ("tel=%2B44%2020%207946%200958&x", "PHONE", "%2B44%2020%207946%200958"),
    ],
)
def test_an_escape_hides_nothing(text: str, entity: str, hidden: str) -> None:
    done = redact(text)
    assert [(span.entity, text[span.start : span.end]) for span in done.spans] == [(entity, hidden)]


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


@pytest.mark.parametrize(
    "text",
    [
        "look at example dot com",
        "at the dot on the map",
        "meet me at noon dot sharp",
        "Ana at Acme",
        "a dot at home dot x",
    ],
)
def test_other_dots_are_left(text: str) -> None:
    assert redact(text).text == text


def test_a_spelled_address_is_the_address() -> None:
    secret = b"k" * 32
    assert redact("Jane at Acme dot com", secret=secret).text == redact("jane@acme.com", secret=secret).text
