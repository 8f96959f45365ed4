"""JSON as RFC 8259 means it, read defensively: nothing a later reader could understand differently.

No NaN or Infinity (also not as `1e999`), no duplicate names in an object, at most 32 levels deep, at most 64 KiB, no
half surrogate pairs. A Markdown fence around the object is not JSON and is refused like any other text. The rules are
checked by scans in C, so that a text built to be slow costs little more than parsing it, and a service, which reads
such texts before it knows what they are, can say how many values it takes.
"""

from __future__ import annotations

import json
import math
from typing import Any

MAX_DEPTH = 32
MAX_BYTES = 64 * 1024

_ONE_BRACKET = bytes.maketrans(b"{}", b"[]")
_NO_BRACKET = bytes(code for code in range(256) if chr(code) not in "[]{}")
_NO_VALUE = bytes(code for code in range(256) if chr(code) not in "[{,")


class NotStrictJson(ValueError):
    """The text breaks one of the rules; the message says which, and holds none of the text."""


def loads(text: object, *, max_bytes: int = MAX_BYTES, max_values: int | None = None) -> object:
    """The value `text` spells. Raises NotStrictJson, and nothing else, whatever the text.

    `max_values` bounds how many values (objects, lists and what is in them) the text may hold, before it is parsed.
    """
    if not isinstance(text, str):
        raise NotStrictJson("not text")
    if len(text) > max_bytes or len(raw := _bytes(text)) > max_bytes:
        raise NotStrictJson(f"larger than {max_bytes} bytes")
    if max_values is not None and _has_more_values(raw, max_values):
        raise NotStrictJson(f"more than {max_values} values")
    if _is_too_deep(raw):
        raise NotStrictJson(f"deeper than {MAX_DEPTH} levels")
    try:
        value: object = json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant, parse_float=_finite)
    except NotStrictJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotStrictJson("not JSON") from error
    if "\\ud" in text or "\\uD" in text:
        _bytes(json.dumps(value, ensure_ascii=False))
    return value


def _bytes(text: str) -> bytes:
    """The text in UTF-8, which knows no half of a surrogate pair."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotStrictJson("half a surrogate pair") from error


def _has_more_values(raw: bytes, most: int) -> bool:
    """Whether the text holds more values than `most`: each begins an object or a list or follows a comma."""
    if len(raw.translate(None, _NO_VALUE)) <= most:
        return False
    plain = _without_escapes(raw)
    # A value is at most two strings: its name and itself.
    if plain.count(b'"') > 4 * most + 2:
        return True
    return len(_outside_strings(plain).translate(None, _NO_VALUE)) > most


def _is_too_deep(raw: bytes) -> bool:
    """Whether the brackets nest too deep, told before any recursive parser sees them: each round takes the innermost
    pairs away.
    """
    if raw.count(b"[") + raw.count(b"{") <= MAX_DEPTH:
        return False
    brackets = _outside_strings(_without_escapes(raw)).translate(_ONE_BRACKET, _NO_BRACKET)
    for _ in range(MAX_DEPTH):
        if b"[]" not in brackets:
            break
        brackets = brackets.replace(b"[]", b"")
    return b"[]" in brackets or brackets.count(b"[") > MAX_DEPTH


def _without_escapes(raw: bytes) -> bytes:
    """The text without what stands behind a backslash and is no end of its string."""
    return raw.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in raw else raw


def _outside_strings(plain: bytes) -> bytes:
    return b"".join(plain.split(b'"')[::2])


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise NotStrictJson("a name stands twice in one object")
    return value


def _no_constant(_: str) -> float:
    raise NotStrictJson("NaN or Infinity")


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise NotStrictJson("a number too large")
    return value
