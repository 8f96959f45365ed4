"""Requests of callers, as intents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypeVar

from mnemic.errors import InvalidInput
from mnemic.retrieve.search import MAX_TOP_K
from mnemic.types import Intent, JsonValue, Kind, aware, window_of
from mnemic.types.filter_language import checked_filter
from mnemic.types.memory_kinds import kind_of

T = TypeVar("T")


def intent_of(
    query: str,
    top_k: int,
    levels: Sequence[str] | None,
    kinds: Sequence[Kind | str] | None,
    categories: Sequence[str] | None,
    keys: Sequence[str] | None,
    times: tuple[datetime | None, datetime | None, datetime | None, datetime | None],
    min_score: float,
    where: Mapping[str, JsonValue] | None = None,
) -> Intent:
    """Return the intent in the arguments of a search; `times` are `happened_from`, `happened_to`, `as_of` and
    `known_at`.

    Raises InvalidInput (`top_k`, `query`, `kind`, `window`, `as_of`, `known_at`, `where`, `operator`).
    """
    if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= MAX_TOP_K:
        raise InvalidInput("top_k", hint=f"a whole number from 1 to {MAX_TOP_K}")
    if not isinstance(query, str):
        raise InvalidInput("query")
    begin, end = window_of(*times[:2])
    return Intent(
        query=query,
        top_k=top_k,
        levels=_as_tuple(levels),
        kinds=_as_tuple(None if kinds is None else [kind_of(kind) for kind in kinds]),
        categories=_as_tuple(categories),
        keys=_as_tuple(keys),
        happened_from=begin,
        happened_to=end,
        as_of=moment(times[2], "as_of"),
        known_at=moment(times[3], "known_at"),
        min_score=min_score,
        where=checked_filter(where),
    )


def moment(given: datetime | None, name: str) -> datetime | None:
    """`given` in UTC. Raises InvalidInput (`invalid_input:<name>`) if it has no time zone."""
    return None if given is None else aware(given, name)


def _as_tuple(values: Sequence[T] | None) -> tuple[T, ...] | None:
    return None if values is None else tuple(values)
