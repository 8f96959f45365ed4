"""Choice of the memories that have anything to do with the turn, among those that a store found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mnemic.policy.key_rules import Policy
from mnemic.retrieve.preference_relevance import ParsedRequest


def relevant(
    found: Sequence[dict[str, Any]], query: str, policy: Policy, *, min_score: float, most: int
) -> list[dict[str, Any]]:
    """Return entries of `found`, in their order: those that recall has decided on, and besides at most `most` of those
    that policy pins, those with a score from `min_score` up, and, of a store that gives no scores, those on which an
    answer to `query` could depend by their words. Recall has its own limit, which does not count pinned memories.
    """
    ranked = any(entry.get("score") is not None for entry in found)
    ask = ParsedRequest.from_text(query)

    def is_relevant(entry: Mapping[str, Any]) -> bool:
        if entry.get("reason") is not None or _is_pinned(entry, policy):
            return True
        score = entry.get("score")
        if ranked or score is not None:
            return score is not None and bool(score >= min_score)
        said, value = entry["value"], entry["value"]
        if isinstance(value, Mapping):
            said = value.get("value", value)
        quote = value.get("quote") if isinstance(value, Mapping) else None
        category = value.get("category") if isinstance(value, Mapping) else None
        return ask.concerns(str(said), key=_key(entry), quote=quote, category=category)

    kept = [entry for entry in found if is_relevant(entry)]
    others = [entry for entry in kept if entry.get("reason") is None]
    return [entry for entry in kept if entry.get("reason") is not None or entry in others[:most]]


def _is_pinned(entry: Mapping[str, Any], policy: Policy) -> bool:
    key = _key(entry)
    return key is not None and policy.rule(key).pinned


def _key(entry: Mapping[str, Any]) -> str | None:
    """Return the key of a statement: one with accumulating values is followed by "/" and the value's digest."""
    key = str(entry["key"]).split("/", 1)[0]
    return None if key.startswith("m-") else key
