"""Step 1: validation of a candidate.

Explicit checks rather than a pydantic schema: a model's JSON was already parsed by one (policy), and this step receives
Python values from any caller. Each field has its stable reason, limits are measured after normalising, and storing a
single line does not load a schema library.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from mnemic.errors import InvalidInput
from mnemic.policy.candidate_check import MAX_CONTENT_CHARS
from mnemic.policy.expiry_rule import FOREVER, LONGEST_TTL, lifetime
from mnemic.policy.key_rules import Policy
from mnemic.types import Candidate, JsonValue, Kind, Origin, Source
from mnemic.types.enums import ORIGINS
from mnemic.types.memory_kinds import CATALOG
from mnemic.types.values import canonical_key, clean_content

MAX_CONTENT_BYTES = 32 * 1024
MAX_RAW_CHARS = 64 * 1024
MAX_DATA_DEPTH = 8
MAX_DATA_BYTES = 32 * 1024
MAX_DATA_KEY_CHARS = 256
_LARGEST_INTEGER = 2**63
_LABEL_CHARS = {"category": 128, "ref": 2048, "session": 128, "speaker": 256, "quote": MAX_CONTENT_CHARS}


def validate(candidate: Candidate, policy: Policy, now: datetime) -> Candidate:
    """Return the candidate with every text cleaned and every value checked.

    Raises InvalidInput: `content:empty`, `content:too_long` (more than 8,192 characters or 32 KiB), `content:nul`,
    `content:surrogate`, `kind`, `kind:not_durable`, `key`, `confidence`, `ttl`, `valid_to`, `origin`, `span`, `data`
    (no JSON), `data:depth`, `data:integer`, `data:too_long`, `context:too_long`, and `<field>` or `<field>:too_long`
    for the labels.
    """
    cleaned = candidate.with_fields(
        content=clean_text(candidate.content),
        kind=_kind(candidate.kind),
        key=None if candidate.key is None else canonical_key(candidate.key),
        category=None if candidate.category is None else _label("category", candidate.category),
        context=clean_text(candidate.context, "context", empty=True) if candidate.context != "" else "",
        data=_data(candidate.data),
        confidence=_confidence(candidate.confidence),
        source=_source(candidate.source),
    )
    _check_times(cleaned, now)
    if cleaned.ttl is not None and lifetime(cleaned, policy).shortened:
        cleaned = replace(cleaned, clamped=tuple(dict.fromkeys((*cleaned.clamped, "ttl_days"))))
    return cleaned


def clean_text(text: object, name: str = "content", *, empty: bool = False) -> str:
    """`text` in the form it is stored in. Raises InvalidInput (`<name>`, `<name>:empty`, `<name>:too_long`, ...)."""
    if not isinstance(text, str):
        raise InvalidInput(name, hint="it must be text")
    # Before cleaning, whose Unicode normalisation costs time in proportion to the length.
    if len(text) > MAX_RAW_CHARS:
        raise InvalidInput(f"{name}:too_long", hint=f"at most {MAX_CONTENT_CHARS} characters")
    clean = _clean(text, name)
    if not clean and not empty:
        raise InvalidInput(f"{name}:empty", hint="there is nothing to remember")
    return within_limits(clean, name)


def within_limits(text: str, name: str = "content") -> str:
    """`text` if it is within the limits of characters and bytes, else InvalidInput (`<name>:too_long`)."""
    if len(text) > MAX_CONTENT_CHARS or len(text.encode()) > MAX_CONTENT_BYTES:
        raise InvalidInput(
            f"{name}:too_long", hint=f"at most {MAX_CONTENT_CHARS} characters and {MAX_CONTENT_BYTES} bytes"
        )
    return text


def _clean(text: str, name: str) -> str:
    try:
        return clean_content(text)
    except InvalidInput as error:
        raise InvalidInput(
            error.reason.removeprefix("invalid_input:").replace("content", name, 1), hint=error.hint
        ) from None


def _kind(value: object) -> Kind:
    try:
        kind = Kind(value)  # type: ignore[arg-type]
    except ValueError:
        raise InvalidInput("kind", hint="one of " + ", ".join(Kind)) from None
    if not CATALOG[kind].durable:
        raise InvalidInput(
            "kind:not_durable", hint=f"{kind} memory lives with the process or the session, not in the store"
        )
    return kind


def _label(name: str, value: object) -> str | None:
    if not isinstance(value, str):
        raise InvalidInput(name, hint="it must be text")
    # Twice, because cleaning may shorten a text; a longer one cannot become valid, and needs no cleaning.
    if len(value) > 2 * _LABEL_CHARS[name]:
        raise InvalidInput(f"{name}:too_long", hint=f"at most {_LABEL_CHARS[name]} characters")
    clean = _clean(value, name)
    if len(clean) > _LABEL_CHARS[name]:
        raise InvalidInput(f"{name}:too_long", hint=f"at most {_LABEL_CHARS[name]} characters")
    return clean or None


def _confidence(value: object) -> float:
    # bool is a subclass of int, and NaN fails the comparison.
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput("confidence", hint="a number from 0 to 1")
    return float(value)


def _source(source: Source) -> Source:
    if not isinstance(source, Source) or source.origin not in ORIGINS:
        raise InvalidInput("origin", hint="one of " + ", ".join(Origin))
    span: object = source.span
    if span is not None and not (
        isinstance(span, tuple)
        and len(span) == 2
        and all(type(at) is int for at in span)
        and 0 <= span[0] <= span[1] < _LARGEST_INTEGER
    ):
        raise InvalidInput("span", hint="two offsets into the message, start and end")
    labels = {name: label for name in _LABELS if (label := getattr(source, name)) is not None}
    if not labels and isinstance(source.origin, Origin):
        return source
    clean = {name: _label(name, label) for name, label in labels.items()}
    return replace(source, origin=Origin(source.origin), **clean)  # type: ignore[arg-type]


_LABELS = ("ref", "session", "speaker", "quote")


def _data(data: object) -> Mapping[str, JsonValue]:
    if not isinstance(data, Mapping):
        raise InvalidInput("data", hint="it must be a JSON object")
    if not data:
        return data
    plain = _plain(data, MAX_DATA_DEPTH)
    if len(json.dumps(plain, ensure_ascii=False).encode()) > MAX_DATA_BYTES:
        raise InvalidInput("data:too_long", hint=f"at most {MAX_DATA_BYTES} bytes of JSON")
    assert isinstance(plain, dict)
    return plain


def _plain(value: object, depth: int) -> JsonValue:
    """Return `value` as plain JSON, its texts as they were given: a filter with the same value must find them. Raises
    InvalidInput (`data`, `data:depth`).
    """
    if depth < 0:
        raise InvalidInput("data:depth", hint=f"at most {MAX_DATA_DEPTH} levels")
    # 64 bits: larger integers cannot be compared exactly in SQLite or PostgreSQL. True and False are integers here.
    if value is None or (isinstance(value, int) and -_LARGEST_INTEGER <= value < _LARGEST_INTEGER):
        return value
    if isinstance(value, int):
        raise InvalidInput("data:integer", hint="integers have at most 64 bits: give a longer one as text")
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, str):
        if len(value) > MAX_DATA_BYTES:
            raise InvalidInput("data:too_long", hint=f"at most {MAX_DATA_BYTES} bytes of JSON")
        return _sound(value)
    if isinstance(value, Mapping):
        return {_data_key(key): _plain(item, depth - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, depth - 1) for item in value]
    raise InvalidInput("data", hint="it must be JSON without NaN and infinity")


def _data_key(key: object) -> str:
    if not isinstance(key, str) or not 0 < len(key) <= MAX_DATA_KEY_CHARS:
        raise InvalidInput("data", hint=f"its keys are text of 1 to {MAX_DATA_KEY_CHARS} characters")
    return _sound(key)


def _sound(text: str) -> str:
    _clean(text, "data")  # refuses a NUL and half a surrogate pair
    return text


def _check_times(candidate: Candidate, now: datetime) -> None:
    ttl: object = candidate.ttl
    fits = isinstance(ttl, timedelta) and timedelta(0) < ttl and (ttl <= LONGEST_TTL or ttl == FOREVER)
    if ttl is not None and not fits:
        raise InvalidInput("ttl", hint="a positive duration of at most 36,500 days, or without an end")
    starts_at = candidate.valid_from or candidate.occurred_at or now
    if candidate.valid_to is not None and candidate.valid_to <= starts_at:
        raise InvalidInput("valid_to", hint="it must be after the moment from which the memory is valid")
