"""The policy boundary: what a model (or a rule, or a caller) hands over, checked before anything else sees it.

Everything here takes arbitrary values and raises nothing but the errors named; a reason never carries rejected content.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from mnemic.errors import (
    InvalidCandidates,
    InvalidInput,
    KeyNotAllowed,
    ModelEmpty,
    ModelInvalidJson,
    ModelInvalidSchema,
    RunStopped,
    ScopeNotAllowed,
)
from mnemic.guard import strict_json
from mnemic.guard.budget import Budget
from mnemic.guard.expiry import FOREVER, LONGEST_TTL, SHORTEST_TTL
from mnemic.guard.policy import Policy
from mnemic.text.normalise import canonical_key, canonical_value, clean_content, invisible
from mnemic.types import Candidate, Kind, Level, Skipped, Source

MAX_CONTENT_CHARS = 8192
"""Longest content of a memory without a key, and longest quote (S3's limit)."""
LONGEST_MODEL_TTL = timedelta(days=365)
"""The longest time that a model may wish for. A program may wish for 36,500 days, or for no end."""
DEFAULT_CONFIDENCE = 0.8
CAPTURE_CATEGORIES = frozenset({"preference", "instruction", "identity", "relation", "event", "fact"})
"""What a model may say that a statement is. Anything else that it calls it is forgotten."""
_MAX_CATEGORY_CHARS = 64
_NO_DAY_COUNT = 10**6
"""Beyond every time that may be wished for: a number of days is cut to this before it meets `timedelta`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """The candidates that keep the contract, and those left out with the reason (`on_violation="skip"`, duplicates)."""

    candidates: tuple[Candidate, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer, and the keys of the memories it says it used, each once."""

    answer: str = field(repr=False)
    used_memory_keys: tuple[str, ...] = ()


def parse_json(text: object) -> object:
    """The value of strict JSON `text` (rules: `mnemic.guard.strict_json`), which one Markdown fence may enclose.

    Raises ModelEmpty for blank text, ModelInvalidJson for anything else that is not strict JSON.
    """
    if isinstance(text, str) and not text.strip():
        raise ModelEmpty
    try:
        return strict_json.loads(_unfenced(text) if isinstance(text, str) else text)
    except strict_json.NotStrictJson as error:
        raise ModelInvalidJson(hint=str(error)) from None


def _unfenced(text: str) -> str:
    """`text` without a Markdown fence around all of it."""
    stripped = text.strip()
    head, line_end, rest = stripped.partition("\n")
    fenced = line_end and head.strip().lower() in ("```", "```json") and rest.endswith("```")
    return rest.removesuffix("```") if fenced else text


def check_candidates(raw: object, policy: Policy, budget: Budget) -> Checked:
    """The candidates in a model's `{"items": [{"key", "value", ...}]}`, an item with `category`, `scope`, `ttl_days`,
    `confidence` and `quote` where it has them; a `key` of null is a statement without a key, where policy allows it.

    Other names are ignored. The length of the list is checked before any item. A breach raises InvalidCandidates,
    KeyNotAllowed or ScopeNotAllowed; under `on_violation="skip"` the item is skipped with that reason instead, and so
    are the items beyond `max_capture_items` (one entry for all of them). Only a payload that is no object, or has no
    list of items, raises in both cases. Of two items with the same key, level and value the first is kept.
    """
    items = _items(raw)
    skipped: list[Skipped] = []
    if len(items) > budget.max_capture_items:
        if policy.on_violation == "stop":
            raise InvalidCandidates("too_many_items")
        skipped.append(Skipped(reason=InvalidCandidates("too_many_items").reason))
        items = items[: budget.max_capture_items]
    kept: list[Candidate] = []
    for item in items:
        try:
            kept.append(_candidate(item, policy, budget))
        except RunStopped as breach:
            if policy.on_violation == "stop":
                raise
            skipped.append(Skipped(reason=breach.reason, key=_key_to_name(item)))
    distinct, doubles = drop_duplicates(kept)
    return Checked(candidates=distinct, skipped=(*skipped, *doubles))


def check_candidate(candidate: Candidate, policy: Policy, budget: Budget) -> Candidate:
    """`candidate` normalised: canonical key and level, the policy's spelling of the value, ttl and confidence clamped.

    With a key the content is a value: NFC, one line, at most `max_value_chars`. Without one it is free text: cleaned,
    at most 8192 characters. Each clamp is named in `clamped`. Raises InvalidCandidates, KeyNotAllowed or
    ScopeNotAllowed.
    """
    key = None if candidate.key is None else _key(candidate.key, policy)
    if key is None and not policy.allows_keyless:
        raise InvalidCandidates(
            "missing_keys", hint="this policy lists its keys: name one, or set keyless = true in it"
        )
    content = _free_text(candidate.content) if key is None else _value(candidate.content, key, policy, budget)
    level = _level(candidate.level, policy)
    if candidate.kind not in tuple(Kind) or candidate.kind not in policy.kinds:
        raise InvalidCandidates("kind")
    ttl, clamped_ttl = _ttl(candidate.ttl, LONGEST_TTL)
    confidence, clamped_confidence = _confidence(candidate.confidence)
    return replace(
        candidate,
        content=content,
        key=key,
        level=level,
        kind=Kind(candidate.kind),
        category=None if candidate.category is None else _category(candidate.category),
        ttl=ttl,
        confidence=confidence,
        clamped=tuple(dict.fromkeys((*candidate.clamped, *clamped_ttl, *clamped_confidence))),
    )


def drop_duplicates(candidates: Iterable[Candidate]) -> tuple[tuple[Candidate, ...], tuple[Skipped, ...]]:
    """The first of each key, level, kind and value (compared without case), and a `duplicate` entry for each other
    one.
    """
    kept: dict[tuple[str | None, str, str, str], Candidate] = {}
    doubles = []
    for candidate in candidates:
        identity = (candidate.key, candidate.level, candidate.kind, canonical_value(candidate.content))
        if kept.setdefault(identity, candidate) is not candidate:
            doubles.append(Skipped(reason="duplicate", key=candidate.key, span=candidate.source.span))
    return tuple(kept.values()), tuple(doubles)


def check_answer(raw: object) -> Answer:
    """The answer in a model's `{"answer", "used_memory_keys"}`. Whether it cites rightly is the audit's question, not
    this one's.

    Raises ModelInvalidSchema (`llm_invalid_schema`) for another shape, ModelEmpty (`llm_empty`) for a blank answer.
    """
    if not isinstance(raw, Mapping):
        raise ModelInvalidSchema(hint="not an object")
    answer, keys = raw.get("answer"), raw.get("used_memory_keys")
    if not isinstance(answer, str):
        raise ModelInvalidSchema(hint="answer is not text")
    if not isinstance(keys, list | tuple) or not all(isinstance(key, str) for key in keys):
        raise ModelInvalidSchema(hint="used_memory_keys is not a list of texts")
    try:
        text = clean_content(answer)
        names = [clean_content(key) for key in keys]
    except InvalidInput:
        raise ModelInvalidSchema(hint="not valid text") from None
    if not text:
        raise ModelEmpty
    return Answer(answer=text, used_memory_keys=tuple(dict.fromkeys(name for name in names if name)))


def _items(raw: object) -> list[Any] | tuple[Any, ...]:
    if not isinstance(raw, Mapping):
        raise InvalidCandidates("not_object")
    items = raw.get("items")
    if not isinstance(items, list | tuple):
        raise InvalidCandidates("items")
    return items


def _candidate(item: object, policy: Policy, budget: Budget) -> Candidate:
    if not isinstance(item, Mapping):
        raise InvalidCandidates("item")
    if "key" not in item or "value" not in item:
        raise InvalidCandidates("missing_keys")
    keyless = item["key"] is None and policy.allows_keyless
    key = None if keyless else _key(item["key"], policy)
    value = _free_text(item["value"]) if key is None else _value(item["value"], key, policy, budget)
    level = _level(item.get("scope", Level.USER.value), policy)
    ttl, clamped_ttl = _ttl(_days(item.get("ttl_days")), LONGEST_MODEL_TTL)
    confidence, clamped_confidence = _confidence(item.get("confidence", DEFAULT_CONFIDENCE))
    category = item.get("category")
    return Candidate(
        content=value,
        key=key,
        level=level,
        category=category if isinstance(category, str) and category in CAPTURE_CATEGORIES else None,
        ttl=ttl,
        confidence=confidence,
        source=Source(quote=_quote(item.get("quote"))),
        clamped=clamped_ttl + clamped_confidence,
    )


def _key(raw: object, policy: Policy) -> str:
    try:
        key = canonical_key(raw)
    except InvalidInput:
        raise InvalidCandidates("key") from None
    if not policy.allows(key):
        raise KeyNotAllowed(key)
    return key


def _key_to_name(item: object) -> str | None:
    """The key of a skipped item for the report, where it is fit to be shown."""
    try:
        return canonical_key(item["key"])  # type: ignore[index]
    except (InvalidInput, LookupError, TypeError):
        return None


def _value(raw: object, key: str, policy: Policy, budget: Budget) -> str:
    if not isinstance(raw, str):
        raise InvalidCandidates("value", hint="the value is not text")
    too_long = InvalidCandidates("value_too_long", hint=f"at most {budget.max_value_chars} characters under a key")
    text = raw.strip()
    if len(text) > 4 * budget.max_value_chars:
        raise too_long
    if not text or invisible(text):
        raise InvalidCandidates("value", hint="the value is empty, or has characters that cannot be seen")
    text = unicodedata.normalize("NFC", text)
    if len(text) > budget.max_value_chars:
        raise too_long
    spelling = policy.rule(key).spelling(text)
    if spelling is None:
        raise InvalidCandidates("value", hint="not one of the values that the policy allows for this key")
    return spelling


def _free_text(raw: object) -> str:
    if not isinstance(raw, str):
        raise InvalidCandidates("value", hint="the content is not text")
    try:
        text = clean_content(raw) if len(raw) <= 4 * MAX_CONTENT_CHARS else raw
    except InvalidInput as refused:
        raise InvalidCandidates("value", hint=refused.reason) from None
    if not text:
        raise InvalidCandidates("value", hint="the content is empty")
    if len(text) > MAX_CONTENT_CHARS:
        raise InvalidCandidates("value_too_long", hint=f"at most {MAX_CONTENT_CHARS} characters")
    return text


def _level(raw: object, policy: Policy) -> str:
    try:
        level = canonical_key(raw)
    except InvalidInput:
        raise InvalidCandidates("scope") from None
    if level not in policy.levels:
        raise ScopeNotAllowed(level)
    return level


def _category(raw: object) -> str | None:
    if raw is None:
        return None
    try:
        category = canonical_key(raw)
    except InvalidInput:
        raise InvalidCandidates("category") from None
    if len(category) > _MAX_CATEGORY_CHARS:
        raise InvalidCandidates("category")
    return category


def _quote(raw: object) -> str | None:
    if raw is None:
        return None
    if not isinstance(raw, str) or len(raw) > MAX_CONTENT_CHARS or any("\ud800" <= c <= "\udfff" for c in raw):
        raise InvalidCandidates("quote")
    return raw.strip() or None


def _days(raw: object) -> timedelta | None:
    """A number of days as a duration, None for none; numbers no calendar holds are cut first, so that nothing
    overflows.
    """
    if raw is None:
        return None
    days = _number(raw, "ttl_days")
    return timedelta(days=max(-_NO_DAY_COUNT + 1, min(_NO_DAY_COUNT - 1, days)))


def _ttl(raw: object, longest: timedelta) -> tuple[timedelta | None, tuple[str, ...]]:
    if raw is None or raw == FOREVER:
        return (None if raw is None else FOREVER), ()
    if not isinstance(raw, timedelta):
        raise InvalidCandidates("ttl_days")
    ttl = max(SHORTEST_TTL, min(longest, raw))
    return ttl, (() if ttl == raw else ("ttl_days",))


def _confidence(raw: object) -> tuple[float, tuple[str, ...]]:
    number = _number(raw, "confidence")
    confidence = float(max(0.0, min(1.0, number)))
    return round(confidence, 3), (() if confidence == number else ("confidence",))


def _number(raw: object, name: str) -> float | int:
    """A finite number, of any size. A bool is none."""
    if isinstance(raw, bool) or not isinstance(raw, int | float) or (isinstance(raw, float) and not math.isfinite(raw)):
        raise InvalidCandidates(name)
    return raw
