"""JSON as RFC 8259 means it, read defensively: nothing a later reader could understand differently.

No NaN or Infinity (also not as `1e999`), no duplicate names in an object, at most 32 levels deep, at most 64 KiB, no
half surrogate pairs. A Markdown fence around the object is not JSON and is refused like any other text. The rules are
checked by scans in C, so that a text built to be slow costs little more than parsing it, and a service, which reads
such texts before it knows what they are, can say how many values it takes.
"""

from __future__ import annotations

import json
import math
from functools import cached_property
from typing import Any

MAX_DEPTH = 32
MAX_BYTES = 64 * 1024

_FIRST_BYTES = 256 * 1024
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
    scan = _Scan(raw)
    if max_values is not None and _has_more_values(scan, max_values):
        raise NotStrictJson(f"more than {max_values} values")
    if _is_too_deep(scan):
        raise NotStrictJson(f"deeper than {MAX_DEPTH} levels")
    try:
        value: object = json.loads(text, parse_constant=_no_constant)
    except NotStrictJson:
        raise
    except (ValueError, RecursionError) as error:
        raise NotStrictJson("not JSON") from error
    _require_plain(value, scan)
    if "\\ud" in text or "\\uD" in text:
        _bytes(json.dumps(value, ensure_ascii=False))
    return value


def _bytes(text: str) -> bytes:
    """The text in UTF-8, which knows no half of a surrogate pair."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotStrictJson("half a surrogate pair") from error


class _Scan:
    """A text in bytes, and what of it stands outside its strings."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    @cached_property
    def plain(self) -> bytes:
        """Without what stands behind a backslash and is no end of its string."""
        raw = self.raw
        return raw.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in raw else raw

    @cached_property
    def structure(self) -> bytes:
        """What no string holds."""
        return b"".join(self.plain.split(b'"')[::2])


def _has_more_values(scan: _Scan, most: int) -> bool:
    """Whether the text holds more values than `most`: each begins an object or a list or follows a comma. What holds
    too many in its first part is not read to its end.
    """
    if len(scan.raw) > 2 * _FIRST_BYTES and _has_more_values(_Scan(scan.raw[:_FIRST_BYTES]), most):
        return True
    if len(scan.raw.translate(None, _NO_VALUE)) <= most:
        return False
    # A value is at most two strings: its name and itself.
    if scan.plain.count(b'"') > 4 * most + 2:
        return True
    return len(scan.structure.translate(None, _NO_VALUE)) > most


def _is_too_deep(scan: _Scan) -> bool:
    """Whether the brackets nest too deep, told before any recursive parser sees them: each round takes the innermost
    pairs away.
    """
    if scan.raw.count(b"[") + scan.raw.count(b"{") <= MAX_DEPTH:
        return False
    brackets = scan.structure.translate(_ONE_BRACKET, _NO_BRACKET)
    for _ in range(MAX_DEPTH):
        if b"[]" not in brackets:
            break
        brackets = brackets.replace(b"[]", b"")
    return b"[]" in brackets or brackets.count(b"[") > MAX_DEPTH


def _no_constant(_: str) -> float:
    raise NotStrictJson("NaN or Infinity")


def _require_plain(value: object, scan: _Scan) -> None:
    """Refuse what two readers would understand differently: a name twice in one object, a number too large.

    Looked for afterwards: a parser that asks about each object and number takes twice as long.
    """
    if not any(sign in scan.raw for sign in (b":", b".", b"e", b"E")):
        return
    names = _names(value)
    if names != scan.raw.count(b":") and names != scan.structure.count(b":"):
        raise NotStrictJson("a name stands twice in one object")


def _names(value: object) -> int:
    """How many names all objects of `value` hold together. Refuses a number that is not finite."""
    names = 0
    left: list[Any] = [[value]]
    for one in left:
        values = one
        if type(one) is dict:
            names += len(one)
            values = one.values()
        for each in values:
            kind = type(each)
            if kind is dict or kind is list:
                left.append(each)
            elif kind is float and not math.isfinite(each):
                raise NotStrictJson("a number too large")
    return names
