"""Normalised text that detectors read, with percent-encoding, HTML entities and the escapes of JSON and JavaScript
decoded, and the offset of each of its characters in the original.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from itertools import chain, compress, count, repeat
from urllib.parse import unquote

from mnemic.redact.types import PLACEHOLDER

_ESCAPE = re.compile(
    r"(?:%(?:25){0,2}[0-7][0-9A-Fa-f]"
    r"|%[CDcd][0-9A-Fa-f]%[89ABab][0-9A-Fa-f]|%[Ee][0-9A-Fa-f](?:%[89ABab][0-9A-Fa-f]){2}"
    r"|%[Ff][0-7](?:%[89ABab][0-9A-Fa-f]){3}"
    r"|&(?:amp;){0,2}(?:\#\d{2,7}|\#[xX][0-9A-Fa-f]{2,6}|[A-Za-z]{2,8});"
    r"|\\{1,4}(?:u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}))"
)
_SIGNS = ("%", "&", "\\")
_TWICE = re.compile(r"(?<=%)(?:25){1,2}(?=[0-9A-Fa-f]{2})|(?<=&)(?:amp;){1,2}")


def decode_escapes(text: str) -> tuple[str, list[int]] | None:
    """Decode `text`; return it with the offset in `text` of each character (and of the end). None if nothing is
    escaped.

    An escape that was itself escaped ("%2540", "&amp;#64;") is decoded up to twice.
    """
    if not any(sign in text for sign in _SIGNS):
        return None
    pieces: list[str] = []
    offsets: list[int] = []
    cursor = 0
    for match in _ESCAPE.finditer(text):
        plain = _character(match.group())
        if plain is None:
            continue
        start, end = match.span()
        pieces += (text[cursor:start], plain)
        offsets += [*range(cursor, start), *([start] * len(plain))]
        cursor = end
    if not cursor:
        return None
    return "".join([*pieces, text[cursor:]]), [*offsets, *range(cursor, len(text) + 1)]


def _character(escape: str) -> str | None:
    """Return the character that is escaped; None for a control character, and for a name that is no entity."""
    once = _TWICE.sub("", escape)
    if once[0] == "%":
        plain = unquote(once, errors="replace")
    elif once[0] == "&":
        plain = html.unescape(once)
    else:
        plain = chr(int(once.lstrip("\\")[1:], 16))
    return plain if plain != once and plain.isprintable() and "\ufffd" not in plain else None


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
