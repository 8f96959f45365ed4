"""Values that check and make up every other type: identifiers, times, frozen JSON, vectors, deadlines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn
from unicodedata import is_normalized

from mnemic.errors import InvalidInput
from mnemic.language.text.normalise import alphabets, invisible, nfkc, visible

MAX_KEY_CHARS = 128
"""Longest key, counted after normalising (NFKC may grow a text 18 times)."""
Vector = bytes
"""A unit-length embedding: little-endian float32 values, packed."""
VECTOR_STEPS = 2.0**15
"""Steps between 0 and 1 that a write rounds the values of a vector to, so that each fits into two bytes."""

JsonValue = None | bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"]

LONGEST_NAME = 128
"""Characters of an identifier or a name."""
_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:@+-]{0,127}", re.ASCII)


def checked_identifier(value: object, name: str) -> str:
    """`value` if it is an identifier (ASCII, 1 to 128 characters, compared byte by byte); nothing is repaired.

    Raises InvalidInput (`invalid_input:<name>`) otherwise.
    """
    if not isinstance(value, str) or not _IDENTIFIER.fullmatch(value):
        raise InvalidInput(name, hint="an identifier has 1 to 128 of the characters A-Z a-z 0-9 _ . : @ + -")
    return value


def checked_name(value: object, name: str) -> str:
    """Return `value` if it can name a person, an agent, a workspace or a conversation, as an identity provider, a
    framework or people write it (`auth0|5f7`, `José`, `a/b`): 1 to 128 printable characters without a space at either
    end, in Unicode's normal form C, compared character by character; nothing is repaired.

    Raises InvalidInput (`invalid_input:<name>`) otherwise.
    """
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME or not value.isprintable():
        raise InvalidInput(name, hint="a name is a text of 1 to 128 printable characters")
    if value != value.strip() or not is_normalized("NFC", value):
        raise InvalidInput(name, hint="a name has no space at its ends and is in Unicode's normal form C")
    return value


def aware(moment: datetime, name: str) -> datetime:
    """Convert `moment` to UTC; refuse a naive one or a year outside 1 to 9999 (`invalid_input:<name>`)."""
    if not isinstance(moment, datetime) or moment.tzinfo is None:
        raise InvalidInput(name, hint="a time needs a time zone")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise InvalidInput(name, hint="a time in the years 1 to 9999, in UTC") from None


def window_of(begin: datetime | None, end: datetime | None) -> tuple[datetime | None, datetime | None]:
    """Return both bounds of a time in UTC. Raises InvalidInput (`window`) for a naive one, and for a time that ends
    before it begins or lasts no moment: it could contain nothing.
    """
    first, last = (None if one is None else aware(one, "window") for one in (begin, end))
    if first is not None and last is not None and first >= last:
        raise InvalidInput("window", hint="it has to end after it begins")
    return first, last


def checked_share(number: float, name: str) -> float:
    """Return `number`. Raises InvalidInput (`<name>`) unless it is a number from 0 to 1."""
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
        raise InvalidInput(name, hint="a number from 0 to 1")
    return number


class FrozenDict(dict[str, Any]):
    """A deeply immutable dict of JSON data: it can be compared, hashed, copied, pickled and dumped as JSON."""

    __slots__ = ()

    def __init__(self, items: Mapping[Any, Any] | Iterable[tuple[Any, Any]] = ()) -> None:
        pairs = items.items() if isinstance(items, Mapping) else items
        super().__init__((key, frozen(item)) for key, item in pairs)

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(f"{type(self).__name__} does not support change")

    __setitem__ = __delitem__ = clear = pop = popitem = setdefault = update = _refuse

    # `d |= x` therefore rebinds `d` to a plain dict and leaves this one as it was.
    def __ior__(self, other: Any) -> dict[str, Any]:  # type: ignore[override,misc]  # as a read-only view has none
        return {**self, **other}

    def __hash__(self) -> int:  # type: ignore[override]  # dict says None
        return hash(frozenset(self.items()))

    def __copy__(self) -> FrozenDict:
        return self

    def __deepcopy__(self, memo: object) -> FrozenDict:
        return self

    def __reduce__(self) -> tuple[type[FrozenDict], tuple[dict[str, Any]]]:
        return FrozenDict, (dict(self),)


def frozen(value: JsonValue) -> JsonValue:
    """Return a deeply immutable copy of JSON data; frozen data is returned unchanged.

    Raises InvalidInput (`invalid_input:nested`) for data that is nested too deeply or contains itself.
    """
    # The exact type: a subclass could have members that are not frozen.
    if type(value) is FrozenDict:
        return value
    try:
        if isinstance(value, Mapping):
            return FrozenDict(value)
        # Tuples are copied, too: a tuple may contain a list.
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            return tuple(frozen(item) for item in value)
    except RecursionError:
        raise InvalidInput("nested", hint="it is nested too deeply, or contains itself") from None
    return value


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock after which work must stop."""

    expires_at: float
    monotonic: Callable[[], float] = field(repr=False)

    @classmethod
    def after(cls, duration: timedelta, monotonic: Callable[[], float]) -> Deadline:
        """Return the deadline `duration` from now."""
        return cls(monotonic() + duration.total_seconds(), monotonic)

    def remaining(self) -> float:
        """Seconds left, never negative."""
        return max(0.0, self.expires_at - self.monotonic())

    def share(self, part: float) -> Deadline:
        """Return the deadline of a call that may use this part (0 to 1) of the time left."""
        return Deadline.after(timedelta(seconds=part * self.remaining()), self.monotonic)

    @property
    def expired(self) -> bool:
        """True once no time is left."""
        return self.remaining() == 0.0


_DURATION = re.compile(
    # The lookaheads refuse `P` and `PT` alone, which name no duration.
    r"(-?)P(?=.)(?:(\d+)W)?(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:\.(\d{1,6}))?S)?)?",
    re.ASCII,
)


def duration_of(text: str) -> timedelta:
    """Return the duration that `text` gives in ISO 8601 (`P180D`, `PT1H30M`). Raises ValueError if it gives none."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise ValueError("not an ISO 8601 duration")
    weeks, days, hours, minutes, seconds = (int(part or 0) for part in found.groups()[1:6])
    micros = int((found[7] or "").ljust(6, "0"))
    size = timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes, seconds=seconds, microseconds=micros)
    return -size if found[1] else size


def canonical_key(key: object) -> str:
    """Return the form in which keys and scopes are compared and stored: NFKC, trimmed. Case is significant.

    Raises InvalidInput (`invalid_input:key`) for an empty or overlong key, for control, zero-width, bidi, tag and
    surrogate characters, and for letters of several look-alike alphabets in one key.
    """
    if not isinstance(key, str) or invisible(key, strict=True):
        raise InvalidInput("key", hint="a key may contain visible characters only")
    # Checked before and after: NFKC can produce invisible characters, and can remove some that should be refused.
    normal = nfkc(key).strip()
    if not normal or len(normal) > MAX_KEY_CHARS or invisible(normal, strict=True):
        raise InvalidInput("key", hint=f"a key has 1 to {MAX_KEY_CHARS} visible characters")
    if len(alphabets(normal)) > 1:
        raise InvalidInput("key", hint="a key must use one alphabet")
    return normal


def clean_content(text: str) -> str:
    r"""`text` in NFC, stripped, without invisible characters; line ends are `\n`, tabs stay.

    Joiners stay where a script or an emoji needs them. Raises InvalidInput: `invalid_input:content:nul` for a NUL,
    `invalid_input:content:surrogate` for half a surrogate pair.
    """
    if "\0" in text:
        raise InvalidInput("content:nul", hint="the text contains a NUL character")
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        raise InvalidInput("content:surrogate", hint="the text is not valid Unicode")
    # The usual text needs no table of characters; `visible` reads each one.
    if text.isascii() and text.isprintable():
        return text.strip()
    return visible(text)
