"""Check of one candidate against policy and budget, the same for a program's candidates and a model's."""

from __future__ import annotations

import math
import unicodedata
from datetime import timedelta

from mnemic.errors import InvalidCandidates, InvalidInput, KeyNotAllowed, ScopeNotAllowed
from mnemic.language.text.normalise import invisible
from mnemic.policy.budget import Budget
from mnemic.policy.expiry_rule import FOREVER, LONGEST_TTL, SHORTEST_TTL
from mnemic.policy.key_rules import Policy
from mnemic.types import Candidate, Kind
from mnemic.types.enums import KINDS
from mnemic.types.values import canonical_key, clean_content

MAX_CONTENT_CHARS = 8192
"""Longest content of a memory without a key, and longest quote: at most 32 KiB in UTF-8."""
_MAX_CATEGORY_CHARS = 64


def check_candidate(candidate: Candidate, policy: Policy, budget: Budget) -> Candidate:
    """`candidate` normalised: canonical key and level, the policy's spelling of the value, ttl and confidence clamped.

    With a key the content is a value: NFC, one line, at most `max_value_chars`. Without one it is free text: cleaned,
    at most 8192 characters. Each clamp is named in `clamped`. Raises InvalidCandidates, KeyNotAllowed or
    ScopeNotAllowed.
    """
    key = None if candidate.key is None else key_of(candidate.key, policy)
    if key is None and not policy.allows_keyless:
        raise InvalidCandidates(
            "missing_keys", hint="this policy lists its keys: name one, or set keyless = true in it"
        )
    # The key first: it decides whether the content is a value or free text.
    content = free_text(candidate.content) if key is None else value_of(candidate.content, key, policy, budget)
    level = level_of(candidate.level, policy)
    if candidate.kind not in KINDS or candidate.kind not in policy.kinds:
        raise InvalidCandidates("kind")
    if candidate.kind == Kind.STRUCTURED and not (candidate.category and candidate.data):
        raise InvalidCandidates(
            "shape", hint="structured memory is data of a known shape: `structured.put(name, data)`"
        )
    # Clamped rather than refused, and named in the receipt: models return numbers a little out of bounds.
    ttl, clamped_ttl = ttl_within(candidate.ttl, LONGEST_TTL)
    confidence, clamped_confidence = confidence_of(candidate.confidence)
    return candidate.with_fields(
        content=content,
        key=key,
        level=level,
        kind=Kind(candidate.kind),
        category=None if candidate.category is None else category_of(candidate.category),
        ttl=ttl,
        confidence=confidence,
        clamped=tuple(dict.fromkeys((*candidate.clamped, *clamped_ttl, *clamped_confidence))),
    )


def key_of(raw: object, policy: Policy) -> str:
    """Return the canonical key. Raises InvalidCandidates, KeyNotAllowed."""
    try:
        key = canonical_key(raw)
    except InvalidInput:
        raise InvalidCandidates("key") from None
    if not policy.allows(key):
        raise KeyNotAllowed(key)
    return key


def value_of(raw: object, key: str, policy: Policy, budget: Budget) -> str:
    """Return the value under a key, as policy spells it. Raises InvalidCandidates."""
    if not isinstance(raw, str):
        raise InvalidCandidates("value", hint="the value is not text")
    too_long = InvalidCandidates("value_too_long", hint=f"at most {budget.max_value_chars} characters under a key")
    text = raw.strip()
    # A text that is far too long is refused before the cost of normalising it.
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


def free_text(raw: object) -> str:
    """Return the cleaned content of a memory without a key. Raises InvalidCandidates."""
    if not isinstance(raw, str):
        raise InvalidCandidates("value", hint="the content is not text; `remember` takes messages")
    try:
        # Cleaning megabytes would only delay the refusal.
        text = clean_content(raw) if len(raw) <= 4 * MAX_CONTENT_CHARS else raw
    except InvalidInput as refused:
        raise InvalidCandidates("value", hint=refused.reason) from None
    if not text:
        raise InvalidCandidates("value", hint="the content is empty")
    if len(text) > MAX_CONTENT_CHARS:
        raise InvalidCandidates("value_too_long", hint=f"at most {MAX_CONTENT_CHARS} characters")
    return text


def level_of(raw: object, policy: Policy) -> str:
    """Return the canonical level. Raises InvalidCandidates, ScopeNotAllowed."""
    if isinstance(raw, str) and raw in policy.levels:
        return str.__str__(raw)
    try:
        level = canonical_key(raw)
    except InvalidInput:
        raise InvalidCandidates("scope") from None
    if level not in policy.levels:
        raise ScopeNotAllowed(level, hint=f"of {', '.join(sorted(policy.levels))}")
    return level


def category_of(raw: object) -> str | None:
    """Return the canonical category. Raises InvalidCandidates."""
    if raw is None:
        return None
    try:
        category = canonical_key(raw)
    except InvalidInput:
        raise InvalidCandidates("category") from None
    if len(category) > _MAX_CATEGORY_CHARS:
        raise InvalidCandidates("category")
    return category


def ttl_within(raw: object, longest: timedelta) -> tuple[timedelta | None, tuple[str, ...]]:
    """Return the time to live within its bounds, and `ttl_days` if that changed it. Raises InvalidCandidates."""
    if raw is None or raw == FOREVER:
        return (None if raw is None else FOREVER), ()
    if not isinstance(raw, timedelta):
        raise InvalidCandidates("ttl_days")
    ttl = max(SHORTEST_TTL, min(longest, raw))
    return ttl, (() if ttl == raw else ("ttl_days",))


def confidence_of(raw: object) -> tuple[float, tuple[str, ...]]:
    """Return the confidence from 0 to 1, and `confidence` if it was outside. Raises InvalidCandidates."""
    number = number_of(raw, "confidence")
    confidence = float(max(0.0, min(1.0, number)))
    # Models return figures such as 0.8999999; three digits are as many as any threshold has.
    return round(confidence, 3), (() if confidence == number else ("confidence",))


def number_of(raw: object, name: str) -> float | int:
    """Return a finite number of any size. A bool is not a number."""
    # `bool` is a subclass of `int`, and JSON of a model may contain NaN or Infinity.
    if isinstance(raw, bool) or not isinstance(raw, int | float) or (isinstance(raw, float) and not math.isfinite(raw)):
        raise InvalidCandidates(name)
    return raw
