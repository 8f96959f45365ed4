"""Values of index places, which never change: made on first use, and cached for the places in use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

MOST = 32_768
"""Maximum number of places with cached values; beyond that all are dropped, and made again on use."""
_BYTES = 300
"""Memory that one value takes, about."""

T = TypeVar("T")


class PlaceCache(Generic[T]):
    """Values by place. `make` returns those of several places; it receives their identifiers, too."""

    def __init__(self, make: Callable[[Sequence[int], Sequence[str]], Sequence[T]]) -> None:
        self._make = make
        self._kept: dict[int, T] = {}

    @property
    def nbytes(self) -> int:
        """Memory in use, by estimate."""
        return _BYTES * len(self._kept)

    def of(self, places: Sequence[int], memory_ids: Sequence[str]) -> list[T]:
        """Return the value of each of these places."""
        kept = self._kept
        unknown = [(place, name) for place, name in zip(places, memory_ids, strict=True) if place not in kept]
        if unknown:
            if len(kept) + len(unknown) > MOST:
                kept = self._kept = {}
                unknown = list(zip(places, memory_ids, strict=True))
            chosen, names = zip(*unknown, strict=True)
            kept.update(zip(chosen, self._make(chosen, names), strict=True))
        return list(map(kept.__getitem__, places))
