"""Memories that join the candidates by policy rather than similarity: preferences with a bonus, and pinned memories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from mnemic.errors import InvalidInput, MnemicError
from mnemic.ports import Snapshot
from mnemic.types import Kind, Where

T = TypeVar("T")

RELEVANCE = "relevance"
PREFERENCE_BIAS = "preference_bias"
# The old word is part of the API (`reason` of a hit) and stays.
PINNED = "standing"

MAX_BIASED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceBias:
    """Preference bias: memories under `keys` join the candidates of every query and gain `bonus`.

    It is a run-time switch, not an inclusion: they still compete for places. Pinned keys, kinds and categories do not
    compete: policy puts them first, and they count against `top_k`, unless `beside` is the number of the most relevant
    ones to return in addition to the `top_k`.
    """

    keys: frozenset[str] = frozenset()
    bonus: float = 0.1
    pinned_keys: frozenset[str] = frozenset()
    pinned_kinds: frozenset[Kind] = frozenset()
    pinned_categories: frozenset[str] = frozenset()
    beside: int | None = None

    def filters(self, where: Where) -> list[tuple[str, Where]]:
        """Return a filter for each way into the `top_k`, with its reason, none wider than `where`."""
        ways = [(PINNED, way) for way in self.pinned_filters(where)] if self.beside is None else []
        if self.keys:
            ways.append((PREFERENCE_BIAS, replace(where, keys=_intersect(self.keys, where.keys))))
        return ways

    def pinned_filters(self, where: Where) -> list[Where]:
        """Return a filter for each way of pinning, none wider than `where`."""
        ways = []
        if self.pinned_keys:
            ways.append(replace(where, keys=_intersect(self.pinned_keys, where.keys)))
        if self.pinned_kinds:
            ways.append(replace(where, kinds=_intersect(self.pinned_kinds, where.kinds)))
        if self.pinned_categories:
            ways.append(replace(where, categories=_intersect(self.pinned_categories, where.categories)))
        return ways


def checked_pinned(pinned: int) -> int:
    """Return the number of pinned memories requested. Raises InvalidInput (`pinned`)."""
    if isinstance(pinned, bool) or not isinstance(pinned, int) or not 0 <= pinned <= MAX_BIASED:
        raise InvalidInput("pinned", hint=f"0 to {MAX_BIASED}")
    return pinned


def _intersect(wanted: frozenset[T], allowed: frozenset[T] | None) -> frozenset[T]:
    return wanted if allowed is None else wanted & allowed


async def find_biased(snapshot: Snapshot, where: Where, bias: PreferenceBias, errors: dict[str, str]) -> dict[str, str]:
    """Return the ids of the memories that the bias adds, each with its first reason; a failure is noted under its
    reason.
    """
    found: dict[str, str] = {}
    for reason, narrowed in bias.filters(where):
        try:
            entries = await snapshot.recent(narrowed, limit=MAX_BIASED)
        except MnemicError as failure:
            errors[reason] = failure.reason
            continue
        for entry in entries:
            found.setdefault(entry.memory_id, reason)
    return found


def in_order(
    scores: Mapping[str, float], biased: Mapping[str, str], bonus: float, most: int | None = None
) -> list[tuple[str, float, str]]:
    """Return each memory with its score and reason: pinned ones first, then by score, and by age among equals, newest
    first. Without `biased` ones only the first `most` are returned, and those that score as much as the last of them.
    """
    if not biased:
        # Pairs sort by score, then by id, which begins with the time: newest first among equals.
        ordered = sorted(zip(scores.values(), scores.keys(), strict=True), reverse=True)
        return [(memory_id, score, RELEVANCE) for score, memory_id in _first(ordered, most)]
    known = dict(scores)
    for memory_id, reason in biased.items():
        known[memory_id] = min(1.0, known.get(memory_id, 0.0) + (bonus if reason == PREFERENCE_BIAS else 0.0))
    entries = [(memory_id, score, biased.get(memory_id, RELEVANCE)) for memory_id, score in known.items()]
    return sorted(entries, key=lambda entry: (entry[2] == PINNED, entry[1], entry[0]), reverse=True)


def _first(ordered: list[tuple[float, str]], most: int | None) -> list[tuple[float, str]]:
    if most is None or len(ordered) <= most:
        return ordered
    while most < len(ordered) and ordered[most][0] == ordered[most - 1][0]:
        most += 1
    return ordered[:most]
