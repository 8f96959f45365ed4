"""Requests of callers, as intents."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from mnemic.catalog import kind_of
from mnemic.errors import InvalidInput
from mnemic.retrieve.search import MAX_TOP_K
from mnemic.types import Intent, Kind, aware

T = TypeVar("T")


def intent_of(
    query: str,
    top_k: int,
    levels: Sequence[str] | None,
    kinds: Sequence[Kind | str] | None,
    categories: Sequence[str] | None,
    keys: Sequence[str] | None,
    window: tuple[datetime | None, datetime | None],
    times: tuple[datetime | None, datetime | None],
    min_score: float,
) -> Intent:
    """Return the intent that the arguments of a search spell; `times` are `as_of` and `known_at`.

    Raises InvalidInput (`top_k`, `query`, `kind`, `window`, `as_of`, `known_at`).
    """
    if isinstance(top_k, bool) or not isinstance(top_k, int) or not 1 <= top_k <= MAX_TOP_K:
        raise InvalidInput("top_k", hint=f"1 to {MAX_TOP_K}")
    if not isinstance(query, str):
        raise InvalidInput("query")
    begin, end = (moment(given, "window") for given in window)
    return Intent(
        query=query,
        top_k=top_k,
        levels=_listed(levels),
        kinds=_listed(None if kinds is None else [kind_of(kind) for kind in kinds]),
        categories=_listed(categories),
        keys=_listed(keys),
        happened_from=begin,
        happened_to=end,
        as_of=moment(times[0], "as_of"),
        known_at=moment(times[1], "known_at"),
        min_score=min_score,
    )


def checked_standing(standing: int) -> int:
    """Return the number of pinned memories that are asked for. Raises InvalidInput (`standing`)."""
    if isinstance(standing, bool) or not isinstance(standing, int) or not 0 <= standing <= MAX_TOP_K:
        raise InvalidInput("standing", hint=f"0 to {MAX_TOP_K}")
    return standing


def moment(given: datetime | None, name: str) -> datetime | None:
    """`given` in UTC. Raises InvalidInput (`invalid_input:<name>`) where it names no time zone."""
    return None if given is None else aware(given, name)


def _listed(values: Sequence[T] | None) -> tuple[T, ...] | None:
    return None if values is None else tuple(values)
