"""Policy boundary: proposals of a model, a rule or a caller are checked here before any other module sees them.

Every function takes arbitrary values and raises only the errors it names; a reason never contains rejected content.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from mnemic.errors import InvalidCandidates, InvalidInput, ModelEmpty, ModelInvalidJson, ModelInvalidSchema, RunStopped
from mnemic.language.text.normalise import canonical_value
from mnemic.policy import strict_json
from mnemic.policy.answer_json import loads_answer
from mnemic.policy.budget import Budget
from mnemic.policy.candidate_check import (
    MAX_CONTENT_CHARS,
    check_candidate,
    confidence_of,
    free_text,
    key_of,
    level_of,
    number_of,
    ttl_within,
    value_of,
)
from mnemic.policy.key_rules import Policy
from mnemic.reason_codes import DUPLICATE
from mnemic.types import Candidate, JsonValue, Level, Skipped, Source
from mnemic.types.values import canonical_key, clean_content

__all__ = [
    "CAPTURE_CATEGORIES",
    "DEFAULT_CONFIDENCE",
    "LONGEST_MODEL_TTL",
    "MAX_CONTENT_CHARS",
    "CheckedAnswer",
    "CheckedCandidates",
    "check_answer",
    "check_candidate",
    "check_candidates",
    "drop_duplicates",
    "items_of",
    "list_in",
    "objects_in",
    "parse_json",
]

LONGEST_MODEL_TTL = timedelta(days=365)
"""The longest time that a model may wish for. A program may wish for 36,500 days, or for no end."""
DEFAULT_CONFIDENCE = 0.8
CAPTURE_CATEGORIES = frozenset({"preference", "instruction", "identity", "relation", "event", "fact"})
"""Categories that a model may give a statement. Any other is dropped."""
_NO_DAY_COUNT = 10**6
"""Beyond every time that may be wished for: a number of days is cut to this before it meets `timedelta`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedCandidates:
    """Candidates that meet the contract, and the reasons of those left out (`on_violation="skip"`, duplicates)."""

    candidates: tuple[Candidate, ...] = ()
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedAnswer:
    """An answer, and the keys of the memories that it claims to use, each once."""

    answer: str = field(repr=False)
    used_memory_keys: tuple[str, ...] = ()


_MARKS = ("quote", "value")


def parse_json(text: object) -> object:
    """Return the JSON value in a model's answer (`mnemic.policy.answer_json`).

    Raises ModelEmpty for blank text, ModelInvalidJson for text without any.
    """
    if isinstance(text, str) and not text.strip():
        raise ModelEmpty
    try:
        return loads_answer(text) if isinstance(text, str) else strict_json.loads(text)
    except strict_json.NotStrictJson as error:
        raise ModelInvalidJson(hint=str(error)) from None


def check_candidates(raw: object, policy: Policy, budget: Budget) -> CheckedCandidates:
    """Return the candidates in a model's `{"items": [{"key", "value", ...}]}`, an item with `category`, `scope`,
    `ttl_days`, `confidence` and `quote` if it has them; a `key` of null is a statement without a key, where policy
    allows it.

    Other names are ignored. The length of the list is checked before any item. A breach raises InvalidCandidates,
    KeyNotAllowed or ScopeNotAllowed; under `on_violation="skip"` the item is skipped with that reason instead, and so
    are the items beyond `max_capture_items` (one entry for all of them). Only a payload that is no object, or has no
    list of items, raises in both cases. Of two items with the same key, level and value the first counts.
    """
    # The length before any item: an answer of a million items must cost no more than one within the limit.
    items = items_of(raw)
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
    return CheckedCandidates(candidates=distinct, skipped=(*skipped, *doubles))


def drop_duplicates(candidates: Iterable[Candidate]) -> tuple[tuple[Candidate, ...], tuple[Skipped, ...]]:
    """Return the first of each key, level, kind and value (compared without case), and a `duplicate` entry for each
    other one.
    """
    kept: dict[tuple[str | None, str, str, str], Candidate] = {}
    doubles = []
    for candidate in candidates:
        identity = (candidate.key, candidate.level, candidate.kind, canonical_value(candidate.content))
        if kept.setdefault(identity, candidate) is not candidate:
            doubles.append(Skipped(reason=DUPLICATE, key=candidate.key, span=candidate.source.span))
    return tuple(kept.values()), tuple(doubles)


def check_answer(raw: object) -> CheckedAnswer:
    """Return the answer in a model's `{"answer", "used_memory_keys"}`. Whether it cites rightly is the audit's
    question, not this one's.

    Raises ModelInvalidJson (`llm_invalid_json`) if it is no object, ModelInvalidSchema (`llm_invalid_schema`) for an
    object of another shape, ModelEmpty (`llm_empty`) for a blank answer.
    """
    if not isinstance(raw, Mapping):
        raise ModelInvalidJson(hint="not an object")
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
    return CheckedAnswer(answer=text, used_memory_keys=tuple(dict.fromkeys(name for name in names if name)))


def items_of(raw: object, *, strictly: bool = True) -> Sequence[object]:
    """Return the items of a model's answer. Raises InvalidCandidates (`not_object`, `items`).

    Unless `strictly`, also those of a list alone, of one item alone, and under another name or inside another object.
    """
    if not strictly:
        found = list_in(raw, "items", _MARKS)
        if found is not None:
            return found
    if not isinstance(raw, Mapping):
        raise InvalidCandidates("not_object")
    items = raw.get("items")
    if not isinstance(items, list | tuple):
        raise InvalidCandidates("items")
    return items


def list_in(raw: object, name: str, marks: Collection[str] = ()) -> Sequence[object] | None:
    """Return the list `name` of a model's answer; also a list alone, one under another name or inside another object,
    and one object alone that has a field of `marks`. None if there is none.
    """
    if isinstance(raw, list | tuple):
        return raw
    if not isinstance(raw, Mapping):
        return None
    if not raw.keys().isdisjoint(marks):
        return [raw]
    # The name of the contract first; of other names only one whose content can be the list.
    for inner in (raw[name],) if name in raw else raw.values():
        if isinstance(inner, list | tuple) or (isinstance(inner, Mapping) and list_in(inner, name, marks) is not None):
            return list_in(inner, name, marks)
    return None


def objects_in(text: str, name: str, marks: Collection[str]) -> list[Mapping[str, Any]]:
    """Return the objects of the list `name` in a model's answer, in the forms of `list_in`; what is no object costs
    only itself. Raises ModelInvalidJson, ModelEmpty, and ModelInvalidSchema for an answer without such a list.
    """
    found = list_in(parse_json(text), name, marks)
    if found is None or (found and not any(isinstance(one, Mapping) for one in found)):
        raise ModelInvalidSchema(hint=f"{name} is not a list of objects")
    return [one for one in found if isinstance(one, Mapping)]


def _candidate(item: object, policy: Policy, budget: Budget) -> Candidate:
    if not isinstance(item, Mapping):
        raise InvalidCandidates("item")
    if "key" not in item or "value" not in item:
        raise InvalidCandidates("missing_keys")
    # Null must be written: a missing key is a mistake of the model, not a statement without one.
    keyless = item["key"] is None and policy.allows_keyless
    key = None if keyless else key_of(item["key"], policy)
    value = free_text(item["value"]) if key is None else value_of(item["value"], key, policy, budget)
    level = level_of(item.get("scope", Level.USER.value), policy)
    ttl, clamped_ttl = ttl_within(_days(item.get("ttl_days")), LONGEST_MODEL_TTL)
    confidence, clamped_confidence = confidence_of(item.get("confidence", DEFAULT_CONFIDENCE))
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


def _key_to_name(item: object) -> str | None:
    """Return the key of a skipped item for the report, if it is fit to be shown."""
    try:
        return canonical_key(item["key"])  # type: ignore[index]
    except (InvalidInput, LookupError, TypeError):
        return None


def _quote(raw: object) -> str | None:
    if raw is None:
        return None
    # A lone surrogate is a Python string that no store can encode.
    if not isinstance(raw, str) or len(raw) > MAX_CONTENT_CHARS or any("\ud800" <= c <= "\udfff" for c in raw):
        raise InvalidCandidates("quote")
    return raw.strip() or None


def _days(raw: object) -> timedelta | None:
    """Return a number of days as a duration, None for none; numbers beyond any calendar are capped first, so that
    nothing overflows.
    """
    if raw is None:
        return None
    days = number_of(raw, "ttl_days")
    return timedelta(days=max(-_NO_DAY_COUNT + 1, min(_NO_DAY_COUNT - 1, days)))


MAX_CHARS = 240
MAX_ITEMS = 20
MAX_DEPTH = 3


async def echo_input(raw: object, redact: Callable[[str], Awaitable[str]], *, depth: int = MAX_DEPTH) -> JsonValue:
    """`raw` as JSON data of bounded size, each text and each name through `redact`; anything else by its type's
    name.
    """
    if raw is None or isinstance(raw, bool | int) or (isinstance(raw, float) and math.isfinite(raw)):
        return raw
    if isinstance(raw, str):
        return await redact(raw[:MAX_CHARS])
    if depth == 0 or not isinstance(raw, Mapping | Sequence):
        return f"<{type(raw).__name__}>"
    if isinstance(raw, Mapping):
        pairs = list(raw.items())[:MAX_ITEMS]
        return {
            await redact(str(name)[:MAX_CHARS]): await echo_input(value, redact, depth=depth - 1)
            for name, value in pairs
        }
    return [await echo_input(value, redact, depth=depth - 1) for value in raw[:MAX_ITEMS]]
