"""JSON as RFC 8259 means it, read defensively: nothing a later reader could understand differently.

No NaN or Infinity (also not as `1e999`), no duplicate names in an object, at most 32 levels deep, at most 64 KiB, at
most 20,000 objects and lists, no half surrogate pairs. A Markdown fence around the object is not JSON and is refused
like any other text. The rules are checked by scans in C, so that a text built to be slow costs little more than
parsing it: a service reads such texts before it knows who sent them.
"""

from __future__ import annotations

import json
import re
from typing import Any

MAX_DEPTH = 32
MAX_BYTES = 64 * 1024
MAX_PARTS = 20_000
"""Objects and lists of one text."""

_NO_STRUCTURE = re.compile(r'(?:"(?:[^"\\]|\\.)*+"?|[^\[\]{}"])++', re.DOTALL)


class NotStrictJson(ValueError):
    """The text breaks one of the rules; the message says which, and holds none of the text."""


def loads(text: object, *, max_bytes: int = MAX_BYTES, max_parts: int = MAX_PARTS) -> object:
    """The value `text` spells; other bounds are for files that a person names. Raises NotStrictJson, and nothing else,
    whatever the text.
    """
    if not isinstance(text, str):
        raise NotStrictJson("not text")
    if len(text) > max_bytes or len(text.encode("utf-8", "replace")) > max_bytes:
        raise NotStrictJson(f"larger than {max_bytes} bytes")
    _require_bounded(text, max_parts)
    try:
        value: object = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except NotStrictJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotStrictJson("not JSON") from error
    _require_writable(value)
    return value


def _require_bounded(text: str, max_parts: int) -> None:
    """Refuse a text of too many parts or too many levels before any recursive parser sees it."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return
    brackets = _NO_STRUCTURE.sub("", text)
    if brackets.count("[") + brackets.count("{") > max_parts:
        raise NotStrictJson(f"more than {max_parts} objects and lists")
    deepest = depth = 0
    for bracket in brackets[: 2 * max_parts]:
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    if deepest > MAX_DEPTH:
        raise NotStrictJson(f"deeper than {MAX_DEPTH} levels")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise NotStrictJson("a name stands twice in one object")
    return value


def _no_constant(_: str) -> float:
    raise NotStrictJson("NaN or Infinity")


def _require_writable(value: object) -> None:
    """Refuse what can be read and not written again: a number that became infinite, half a surrogate pair."""
    try:
        json.dumps(value, allow_nan=False, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotStrictJson("half a surrogate pair") from error
    except ValueError as error:
        raise NotStrictJson("a number too large") from error
