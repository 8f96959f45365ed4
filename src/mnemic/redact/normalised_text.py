"""Normalised text that detectors read, and the offset of each of its characters in the original."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from itertools import chain, compress, count, repeat

from mnemic.redact.types import PLACEHOLDER

_JOINED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
"""Scripts without a blank between a word and a number, or the words about it: Thai, Lao, Burmese, Khmer, Chinese,
Japanese, Korean.
"""
_JOINS = re.compile(f"[{_JOINED}]")
_SEAM = re.compile(rf"(?<=[{_JOINED}])(?=[0-9A-Za-z+(])|(?<=[0-9A-Za-z)])(?=[{_JOINED}])")


def fold(text: str) -> tuple[str, list[int] | None]:
    """`text` as detectors read it, and for each character (and the end) its offset in `text`; None if they are equal.

    NFKC makes full-width signs plain; digits of any script become ASCII, dashes one hyphen, spaces one space. Invisible
    characters (zero-width, soft hyphens, variation selectors, fillers) are removed. A blank separates a script that
    joins words from ASCII letters and digits, as other scripts would write it.
    """
    if text.isascii() or text.replace(PLACEHOLDER, "").isascii():
        return text, None
    folded, offsets = _made_plain(text)
    return _split_parts(folded, offsets) if _JOINS.search(folded) else (folded, offsets)


def _made_plain(text: str) -> tuple[str, list[int] | None]:
    characters = set(text)
    changed = {character: plain for character in characters if (plain := _PLAIN[ord(character)]) != character}
    folded = _replace_characters(text, changed)
    if all(len(plain) == 1 for plain in changed.values()):
        return folded, None
    lengths = dict.fromkeys(characters, 1) | {character: len(plain) for character, plain in changed.items()}
    each = map(lengths.__getitem__, text)
    if max(lengths.values()) == 1:
        return folded, [*compress(count(), each), len(text)]
    return folded, [*chain.from_iterable(map(repeat, count(), each)), len(text)]


def _split_parts(folded: str, offsets: list[int] | None) -> tuple[str, list[int] | None]:
    seams = [seam.start() for seam in _SEAM.finditer(folded)]
    if not seams:
        return folded, offsets
    places = sorted([*range(len(folded) + 1), *seams])
    return _SEAM.sub(" ", folded), places if offsets is None else [offsets[place] for place in places]


_FEW = 12


def _replace_characters(text: str, changed: Mapping[str, str]) -> str:
    if len(changed) > _FEW or not all(map(str.isascii, changed.values())):
        return text.translate(_PLAIN)
    # The replacements are plain, so that no character is replaced twice.
    for character, plain in changed.items():
        text = text.replace(character, plain)
    return text


class _Plain(dict[int, str]):
    """Each character as detectors read it, computed once."""

    def __missing__(self, code: int) -> str:
        plain = self[code] = _plain(chr(code))
        return plain


_PLAIN = _Plain()


_NOTHING = frozenset([*map(chr, range(0xFE00, 0xFE10)), *"\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"])


def _plain(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Nd":
        return str(unicodedata.digit(character))
    if category == "Pd" or character == "\u2212":
        return "-"
    if category == "Zs":
        return " "
    if category == "Cf" or character in _NOTHING:
        return ""
    return unicodedata.normalize("NFKC", character) or character
