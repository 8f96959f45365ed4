"""Facets of structured data: the values of its fields as texts that a store can look up, one for each value and one for
each day.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from mnemic.types.enums import Kind
from mnemic.types.memory import Memory

MAX_FACETS = 256
"""Facets of one memory. Data with more fields than that is not looked up by them: it has the facet `ANY` instead."""

ANY = ""
"""The facet of a memory that may have every facet."""


def facets_of(memory: Memory) -> frozenset[str]:
    """Return the facets of a memory of kind `structured`; none of every other kind. Lists have none."""
    if memory.kind is not Kind.STRUCTURED:
        return frozenset()
    found = frozenset(islice(_facets(memory.data, ""), MAX_FACETS + 1))
    return found if len(found) <= MAX_FACETS else frozenset({ANY})


def value_facet(path: str, value: bool | float | str) -> str:
    """Return the facet "the field at `path` (dotted) is `value`". Equal JSON values have the same facet, and so do
    texts that differ only in case and outer space.
    """
    if isinstance(value, str):
        return f"{path}=s{value.strip().casefold()}"
    if isinstance(value, bool):
        return f"{path}=b{value}"
    try:
        return f"{path}=n{float(value)!r}"
    except OverflowError:
        return f"{path}=n{value}"


def day_facet(path: str, day: str, *, utc: bool) -> str:
    """Return the facet "the field at `path` is a time of `day` (YYYY-MM-DD)": the day in the time's own offset, or in
    UTC; a time without an offset counts as written.
    """
    return f"{path}@{'utc' if utc else 'own'} {day}"


def undated_facet(path: str) -> str:
    """Return the facet of a text at `path` that begins with a digit and may be a time of any day."""
    return f"{path}@?"


def has_facets(facets: frozenset[str], wanted: Iterable[frozenset[str]]) -> bool:
    """Return True if `facets` contains one of each set in `wanted`, or contains `ANY`."""
    return ANY in facets or all(facets & one for one in wanted)


def _facets(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _facets(inner, f"{path}.{name}" if path else str(name))
    elif isinstance(value, bool | int | float | str):
        yield value_facet(path, value)
        if isinstance(value, str) and value.strip()[:1].isdigit():
            yield from _day_facets(path, value)


def _day_facets(path: str, text: str) -> Iterator[str]:
    try:
        moment = datetime.fromisoformat(text.strip().upper())
        there = moment if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        yield undated_facet(path)
        return
    yield day_facet(path, moment.date().isoformat(), utc=False)
    yield day_facet(path, there.date().isoformat(), utc=True)
