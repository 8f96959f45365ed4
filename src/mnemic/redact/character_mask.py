"""A text with each character replaced by its class: enough to rule out that a search finds anything.

Looking for "three digits, a separator, four digits" in a mask is a search for the bytes `000 0000`, which takes
some microseconds for 8 KiB; the expression that finds the number itself takes a hundred times as long.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

_HEX = bytes(ord("f") if chr(code) in "0123456789abcdefABCDEF" else code for code in range(256))


def _class(code: int) -> int:
    character = chr(code)
    if character in "0123456789":
        return ord("0")
    if character in " .-":
        return ord(" ")
    return ord("a") if character.isascii() and character.isalpha() else code


_CLASSES = bytes(map(_class, range(256)))


@lru_cache(maxsize=1)
def character_mask(text: str) -> bytes:
    """`text` with `0` for each digit, `a` for each letter of ASCII, a blank for each blank, full stop and hyphen; the
    other signs unchanged, and `?` for characters outside Latin-1.
    """
    return text.encode("latin-1", "replace").translate(_CLASSES)


@lru_cache(maxsize=1)
def hexadecimal(text: str) -> bytes:
    """Return the text with `f` for each hexadecimal digit, and everything else unchanged."""
    return text.encode("latin-1", "replace").translate(_HEX)


def drawn(*shapes: bytes, of: Callable[[str], bytes] = character_mask) -> Callable[[str], bool]:
    """Return a check whether one of `shapes` is anywhere in the mask of a text."""

    def check(text: str) -> bool:
        lines = of(text)
        for shape in shapes:  # noqa: SIM110 - a generator would cost more than the search
            if shape in lines:
                return True
        return False

    return check
