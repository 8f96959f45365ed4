"""Decoding of escaped characters: percent-encoding, HTML entities, and the escapes of JSON and JavaScript."""

from __future__ import annotations

import html
import re
from urllib.parse import unquote

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
