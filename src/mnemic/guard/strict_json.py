"""JSON as RFC 8259 means it, read defensively: nothing a later reader could understand differently.

No NaN or Infinity (also not as `1e999`), no duplicate names in an object, at most 32 levels deep, at most 64 KiB, no
half surrogate pairs. A Markdown fence around the object is not JSON and is refused like any other text. The rules are
checked by scans of NumPy, so that a text built to be slow costs little more than parsing it, and a service, which reads
such texts before it knows what they are, can say how many values it takes.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json

MAX_DEPTH = 32
MAX_BYTES = 64 * 1024

_FIRST_BYTES = 256 * 1024
_VALUES = b"[{,"
"""Each value begins an object or a list or follows one of these commas, but for the outermost."""
_QUOTE, _OPEN, _CLOSE = b'"{}'
_BRACKET = 0x20
"""The bit by which a brace differs from a bracket."""


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
    value = _parsed(raw)
    _require_plain(value, scan)
    return value


def _parsed(raw: bytes) -> object:
    try:
        value: object = from_json(raw, allow_inf_nan=False, cache_strings="none")
    except ValueError as error:
        raise NotStrictJson("not JSON") from error
    return value


def _bytes(text: str) -> bytes:
    """The text in UTF-8, which knows no half of a surrogate pair."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise NotStrictJson("half a surrogate pair") from error


class _Scan:
    """A text in bytes, and what of it stands outside its strings. While it is looked for, others may run: NumPy lets go
    of the interpreter.
    """

    def __init__(self, raw: bytes) -> None:
        self.raw = raw

    @property
    def signs(self) -> NDArray[np.uint8]:
        """All of it."""
        return np.frombuffer(self.raw, np.uint8)

    @cached_property
    def structure(self) -> NDArray[np.uint8]:
        """Without what stands behind a backslash, and with zeros in the place of what the strings hold."""
        signs = self.signs
        if b"\\" in self.raw:
            signs = np.frombuffer(self.raw.replace(b"\\\\", b"").replace(b'\\"', b""), np.uint8)
        outside = np.bitwise_xor.accumulate((signs == _QUOTE).view(np.uint8)) ^ 1
        return signs * outside

    @property
    def depth(self) -> int:
        """How deep brackets and braces nest."""
        alike = self.structure | _BRACKET
        steps = (alike == _OPEN).view(np.int8) - (alike == _CLOSE).view(np.int8)
        return int(np.add.accumulate(steps, dtype=np.int32).max(initial=0))


def _count(signs: NDArray[np.uint8], wanted: bytes) -> int:
    return sum(int(np.count_nonzero(signs == sign)) for sign in wanted)


def _has_more_values(scan: _Scan, most: int) -> bool:
    """Whether the text holds more values than `most`. What holds too many in its first part is not read to its end."""
    if len(scan.raw) <= most or _count(scan.signs, _VALUES) <= most:
        return False
    if len(scan.raw) > 2 * _FIRST_BYTES and _has_more_values(_Scan(scan.raw[:_FIRST_BYTES]), most):
        return True
    return _count(scan.structure, _VALUES) > most


def _is_too_deep(scan: _Scan) -> bool:
    """Whether the brackets nest too deep, told before any recursive parser sees them."""
    return scan.raw.count(b"[") + scan.raw.count(b"{") > MAX_DEPTH and scan.depth > MAX_DEPTH


def _require_plain(value: object, scan: _Scan) -> None:
    """Refuse what two readers would understand differently: a name twice in one object, a number too large.

    Looked for afterwards: a parser that asks about each object and number takes twice as long.
    """
    if not any(sign in scan.raw for sign in (b":", b".", b"e", b"E")):
        return
    names = _names(value)
    if names != scan.raw.count(b":") and names != _count(scan.structure, b":"):
        raise NotStrictJson("a name stands twice in one object")


def _names(value: object) -> int:
    """How many names all objects of `value` hold together. Refuses a number that is not finite.

    Level by level: what a level holds is looked at in C, and there are no more levels than `MAX_DEPTH`.
    """
    names = 0
    level: list[Any] = [value]
    while level:
        kinds = set(map(type, level))
        if float in kinds and (math.inf in level or -math.inf in level):
            raise NotStrictJson("a number too large")
        objects = [one for one in level if type(one) is dict] if dict in kinds else []
        lists = [one for one in level if type(one) is list] if list in kinds else []
        names += sum(map(len, objects))
        level = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(lists)]
    return names
