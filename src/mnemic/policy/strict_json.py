"""Strict JSON (RFC 8259): refuses everything that two readers could understand differently.

No NaN or Infinity (also not as `1e999`), no duplicate names in an object, at most 32 levels deep, at most 64 KiB, no
lone surrogates. A Markdown fence around the object is refused like any other text. The rules are checked by scans in C,
so that a maliciously slow text costs little more than parsing it, and a service, which reads such texts before it knows
them, can limit the number of values.
"""

from __future__ import annotations

import math
import re
from functools import cached_property
from itertools import chain
from typing import Any

from pydantic_core import from_json

MAX_DEPTH = 32
MAX_BYTES = 64 * 1024

# A text of megabytes with too many values is refused after this part; scanning it whole would take longer.
_FIRST_BYTES = 256 * 1024
_ONE_BRACKET = bytes.maketrans(b"{}", b"[]")
_NO_BRACKET = bytes(code for code in range(256) if chr(code) not in "[]{}")
_NO_VALUE = bytes(code for code in range(256) if chr(code) not in "[{,")


_PLACE = re.compile(r" at line (\d+) column (\d+)\Z")
"""The parser's wording for the place at which it stopped."""


class NotStrictJson(ValueError):
    """The text breaks one of the rules; the message names the rule and contains nothing of the text. `line` and
    `column` (in bytes) count from 1; `column` is 0 if the place is unknown.
    """

    def __init__(self, rule: str, *, line: int = 1, column: int = 0) -> None:
        super().__init__(rule)
        self.line, self.column = line, column


def loads(text: object, *, max_bytes: int = MAX_BYTES, max_values: int | None = None) -> object:
    """Return the value of `text`. Raises NotStrictJson, and nothing else, for any text.

    `max_values` limits the number of values (objects, lists and their members), checked before parsing.
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
    value = _parse_json(raw)
    _require_plain(value, scan)
    return value


def _parse_json(raw: bytes) -> object:
    try:
        value: object = from_json(raw, allow_inf_nan=False, cache_strings="none")
    except ValueError as error:
        place = _PLACE.search(str(error))
        line, column = (1, 0) if place is None else (int(place[1]), int(place[2]))
        raise NotStrictJson("not JSON", line=line, column=column) from None
    return value


def _bytes(text: str) -> bytes:
    """Return the text in UTF-8, which knows no half of a surrogate pair."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotStrictJson("half a surrogate pair") from error


class _Scan:
    """A text in bytes, and the part outside its strings."""

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    @cached_property
    def plain(self) -> bytes:
        """Return the text without escaped characters that do not end a string."""
        raw = self.raw
        return raw.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in raw else raw

    @cached_property
    def structure(self) -> bytes:
        """Bytes outside all strings."""
        return b"".join(self.plain.split(b'"')[::2])


def _has_more_values(scan: _Scan, most: int) -> bool:
    """Return True if the text contains more values than `most`: each begins an object or a list or follows a comma. A
    text with too many in its first part is not read to its end.
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
    """Return True if the brackets nest too deep, checked before any recursive parser sees them: each round takes the
    innermost pairs away.
    """
    if scan.raw.count(b"[") + scan.raw.count(b"{") <= MAX_DEPTH:
        return False
    brackets = scan.structure.translate(_ONE_BRACKET, _NO_BRACKET)
    for _ in range(MAX_DEPTH):
        # A round that removes nothing: the rest does not close, and the parser will report it.
        if b"[]" not in brackets:
            break
        brackets = brackets.replace(b"[]", b"")
    return b"[]" in brackets or brackets.count(b"[") > MAX_DEPTH


def _require_plain(value: object, scan: _Scan) -> None:
    """Refuse values that two readers would understand differently: a duplicate name in an object, a number too large.

    Checked after parsing: a parser with hooks for each object and number takes twice as long.
    """
    if not any(sign in scan.raw for sign in (b":", b".", b"e", b"E")):
        return
    names = _names(value)
    # Colons inside strings are counted too: only then is the slower count outside of strings needed.
    if names != scan.raw.count(b":") and names != scan.structure.count(b":"):
        raise NotStrictJson("a name stands twice in one object")


def _names(value: object) -> int:
    """Return the total number of names in all objects of `value`. Refuses a number that is not finite.

    Works level by level: the members of a level are scanned in C, and there are at most `MAX_DEPTH` levels.
    """
    names = 0
    level: list[Any] = [value]
    while level:
        kinds = set(map(type, level))
        # `1e999` is valid JSON and becomes infinity.
        if float in kinds and (math.inf in level or -math.inf in level):
            raise NotStrictJson("a number too large")
        objects = [one for one in level if type(one) is dict] if dict in kinds else []
        lists = [one for one in level if type(one) is list] if list in kinds else []
        names += sum(map(len, objects))
        level = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(lists)]
    return names
