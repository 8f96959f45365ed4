"""JSON as RFC 8259 means it, read defensively: nothing a later reader could understand differently.

No NaN or Infinity (also not as `1e999`), no duplicate names in an object, at most 32 levels deep, at most 64 KiB, no
half surrogate pairs. A Markdown fence around the object is not JSON and is refused like any other text. The rules are
checked by scans in C, so that a text built to be slow costs little more than parsing it, and a service, which reads
such texts before it knows what they are, can say how many values it takes.
"""

from __future__ import annotations

import json
import math
import re
from itertools import islice
from typing import Any

MAX_DEPTH = 32
MAX_BYTES = 64 * 1024

_STRING = r'"(?:[^"\\]|\\.)*+"?'
_UP_TO_BRACKET = re.compile(rf'(?:{_STRING}|[^\[\]{{}}"])*+([\[\]{{}}]|\Z)', re.DOTALL)
_UP_TO_VALUE = re.compile(rf'(?:{_STRING}|[^\[{{,"])*+([\[{{,]|\Z)', re.DOTALL)


class NotStrictJson(ValueError):
    """The text breaks one of the rules; the message says which, and holds none of the text."""


def loads(text: object, *, max_bytes: int = MAX_BYTES, max_values: int | None = None) -> object:
    """The value `text` spells. Raises NotStrictJson, and nothing else, whatever the text.

    `max_values` bounds how many values (objects, lists and what is in them) the text may hold, before it is parsed.
    """
    if not isinstance(text, str):
        raise NotStrictJson("not text")
    if len(text) > max_bytes or _bytes(text) > max_bytes:
        raise NotStrictJson(f"larger than {max_bytes} bytes")
    if max_values is not None and _has_more_values(text, max_values):
        raise NotStrictJson(f"more than {max_values} values")
    if _is_too_deep(text):
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


def _bytes(text: str) -> int:
    """The size of the text in UTF-8, which knows no half of a surrogate pair."""
    try:
        return len(text.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise NotStrictJson("half a surrogate pair") from error


def _has_more_values(text: str, most: int) -> bool:
    """Whether the text holds more values than `most`: each begins an object or a list or follows a comma."""
    if sum(map(text.count, "[{,")) <= most:
        return False
    beyond = next(islice(_UP_TO_VALUE.finditer(text), most, None), None)
    return beyond is not None and beyond[1] != ""


def _is_too_deep(text: str) -> bool:
    """Whether the brackets nest too deep, told before any recursive parser sees them."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for found in _UP_TO_BRACKET.finditer(text):
        if found[1] in ("]", "}"):
            depth -= 1
        elif found[1]:
            depth += 1
        if not 0 <= depth <= MAX_DEPTH:
            break
    return depth > MAX_DEPTH


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
