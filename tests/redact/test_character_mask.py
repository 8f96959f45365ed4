"""Parts of a text that a mask shows."""

from __future__ import annotations

import pytest

from mnemic.redact.search_primitives import character_mask, drawn, hexadecimal


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("call 212-555.12", b"aaaa 000 000 00"),
        ("(030) é+4/5", b"(000) \xe9+0/0"),
        ("\ufdd0１1", b"??0"),
        ("", b""),
    ],
)
def test_each_character_has_its_place(text: str, shown: bytes) -> None:
    assert character_mask(text) == shown
    assert len(shown) == len(text)


def test_hexadecimal_digits_alone_are_told() -> None:
    assert hexadecimal("aB:9g.-") == b"ff:fg.-"


def test_one_of_the_shapes_is_enough() -> None:
    check = drawn(b"000 0000", b"0)0")
    assert [check(text) for text in ("555-1234", "(1)2", "55 1234")] == [True, True, False]
    assert drawn(b"ff:ff", of=hexadecimal)("0a:bc")
