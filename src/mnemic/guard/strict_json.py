"""JSON as RFC 8259 means it, read defensively: nothing a later reader could understand differently.

No NaN or Infinity (also not as `1e999`), no duplicate names in an object, at most 32 levels deep, at most 64 KiB, no
half surrogate pairs. A Markdown fence around the object is not JSON and is refused like any other text.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

MAX_DEPTH = 32
MAX_BYTES = 64 * 1024

_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_NOT_BRACKET = re.compile(r"[^\[\]{}]+")


class NotStrictJson(ValueError):
    """The text breaks one of the rules; the message says which, and holds none of the text."""


def loads(text: object, *, max_bytes: int = MAX_BYTES) -> object:
    """The value `text` spells. Raises NotStrictJson, and nothing else, whatever the text."""
    if not isinstance(text, str):
        raise NotStrictJson("not text")
    if len(text) > max_bytes or len(text.encode("utf-8", "replace")) > max_bytes:
        raise NotStrictJson(f"larger than {max_bytes} bytes")
    if _depth(text) > MAX_DEPTH:
        raise NotStrictJson(f"deeper than {MAX_DEPTH} levels")
    try:
        value: object = json.loads(
            text, object_pairs_hook=_distinct, parse_constant=_no_constant, parse_float=_finite, parse_int=int
        )
    except NotStrictJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotStrictJson("not JSON") from error
    if _has_surrogate(value):
        raise NotStrictJson("half a surrogate pair")
    return value


def _depth(text: str) -> int:
    """How deep the brackets nest, counted before any recursive parser sees them."""
    deepest = depth = 0
    for bracket in _NOT_BRACKET.sub("", _STRING.sub("", text)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


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


def _has_surrogate(value: object) -> bool:
    if isinstance(value, str):
        return any("\ud800" <= c <= "\udfff" for c in value) if not value.isascii() else False
    if isinstance(value, dict):
        return any(_has_surrogate(name) or _has_surrogate(item) for name, item in value.items())
    return any(_has_surrogate(item) for item in value) if isinstance(value, list) else False
