"""Policy boundary of retrieval: validates the retrieval intent of a model or a rule."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from mnemic.errors import InvalidInput, InvalidIntent
from mnemic.policy.budget import Budget
from mnemic.policy.candidate_check import MAX_CONTENT_CHARS
from mnemic.policy.key_rules import Policy
from mnemic.types import Intent, Kind
from mnemic.types.values import canonical_key, clean_content

DEFAULT_TOP_K = 4
MAX_PARTS = 3
"""Sub-queries of one search. Each is one more pass over the lists."""
_MAX_SCOPES = 16
_MAX_DATE_CHARS = 40
_DAY, _MOMENT = timedelta(days=1), timedelta(microseconds=1)


def check_intent(raw: object, policy: Policy, budget: Budget) -> Intent:
    """Return the intent in a model's `{"kind": "retrieve_memory", "query", "top_k"?, "scopes"?, "parts"?, "kinds"?,
    "happened_from"?, "happened_to"?, "as_of"?}`.

    Absent and null members are defaults; other names are ignored. `parts` are up to three queries for the parts of
    `query`. The last three are ISO 8601, in UTC if they name no offset; a date without a time means the whole day, so
    that `happened_to` and `as_of` include it. Raises InvalidIntent (`invalid_retrieval_intent:<what>`).
    """
    if not isinstance(raw, Mapping):
        raise InvalidIntent("not_object")
    if raw.get("kind") != "retrieve_memory":
        raise InvalidIntent("kind")
    query, too_long = _query(raw.get("query"), "query")
    top_k = raw.get("top_k", min(DEFAULT_TOP_K, budget.max_retrieve_top_k))
    if not isinstance(top_k, int) or isinstance(top_k, bool) or not 1 <= top_k <= budget.max_retrieve_top_k:
        raise InvalidIntent("top_k")
    levels = None if raw.get("scopes") is None else _levels(raw["scopes"], policy)
    parts = () if raw.get("parts") is None else _parts(raw["parts"])
    if too_long or any(len(text) > budget.max_query_chars for text in (query, *parts)):
        raise InvalidIntent("query_too_long")
    return Intent(query=query, top_k=top_k, levels=levels, parts=parts, **_parse_narrowing(raw))


def _query(raw: object, name: str) -> tuple[str, bool]:
    """Return the text, and whether it is far too long to be checked."""
    if not isinstance(raw, str):
        raise InvalidIntent(name)
    too_long = len(raw) > 4 * MAX_CONTENT_CHARS
    try:
        query = raw[:1] if too_long else clean_content(raw)
    except InvalidInput:
        raise InvalidIntent(name) from None
    if not query:
        raise InvalidIntent(name)
    return query, too_long


def _levels(raw: object, policy: Policy) -> tuple[str, ...]:
    if not isinstance(raw, list | tuple) or not 0 < len(raw) <= _MAX_SCOPES:
        raise InvalidIntent("scopes")
    levels = []
    for item in raw:
        try:
            level = canonical_key(item)
        except InvalidInput:
            raise InvalidIntent("scope_item") from None
        if level not in policy.levels:
            raise InvalidIntent(f"scope_not_allowed:{level}")
        levels.append(level)
    return tuple(dict.fromkeys(levels))


def _parts(raw: object) -> tuple[str, ...]:
    if not isinstance(raw, list | tuple) or len(raw) > MAX_PARTS:
        raise InvalidIntent("parts")
    read = [_query(item, "parts") for item in raw]
    if any(too_long for _, too_long in read):
        raise InvalidIntent("query_too_long")
    return tuple(dict.fromkeys(text for text, _ in read))


def _parse_narrowing(raw: Mapping[Any, Any]) -> dict[str, Any]:
    """Return the requested kinds and times."""
    narrowed: dict[str, Any] = {}
    if raw.get("kinds") is not None:
        narrowed["kinds"] = _kinds(raw["kinds"])
    for name, whole_day in (("happened_from", timedelta(0)), ("happened_to", _DAY), ("as_of", _DAY - _MOMENT)):
        if raw.get(name) is not None:
            narrowed[name] = _moment(raw[name], name, whole_day)
    if {"happened_from", "happened_to"} <= narrowed.keys() and narrowed["happened_from"] >= narrowed["happened_to"]:
        raise InvalidIntent("happened_to")
    return narrowed


def _kinds(raw: object) -> tuple[Kind, ...]:
    if not isinstance(raw, list | tuple) or not 0 < len(raw) <= len(Kind):
        raise InvalidIntent("kinds")
    try:
        return tuple(dict.fromkeys(Kind(item) for item in raw))
    except ValueError:
        raise InvalidIntent("kinds") from None


def _moment(raw: object, name: str, whole_day: timedelta) -> datetime:
    if not isinstance(raw, str) or len(raw) > _MAX_DATE_CHARS:
        raise InvalidIntent(name)
    try:
        # No longer than a date: without a time the whole day is meant.
        if len(raw) <= len("2026-11-22"):
            return datetime.combine(date.fromisoformat(raw), time(tzinfo=UTC)) + whole_day
        parsed = datetime.fromisoformat(raw)
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidIntent(name) from None
