"""Values of memories in an index, which change with the memory alone: made on first use, and cached by identifier."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, TypeVar

MOST = 32_768
"""Maximum number of memories with cached values; beyond that all are dropped, and made again on use."""
_BYTES = 300
"""Memory that one value takes, about."""

T = TypeVar("T")


class MemoryCache(Generic[T]):
    """Values by identifier. `make` returns those of several memories, without those that have none."""

    def __init__(self, make: Callable[[Sequence[str]], Mapping[str, T]]) -> None:
        self._make = make
        self._kept: dict[str, T] = {}

    @property
    def nbytes(self) -> int:
        """Memory in use, by estimate."""
        return _BYTES * len(self._kept)

    def values_of(self, memory_ids: Iterable[str]) -> dict[str, T]:
        """Return the values of those of the memories that have one, in their order."""
        kept, wanted = self._kept, list(memory_ids)
        if unknown := [one for one in wanted if one not in kept]:
            if len(kept) + len(unknown) > MOST:
                kept, unknown = {}, wanted
                self._kept = kept
            kept.update(self._make(unknown))
        return {one: kept[one] for one in wanted if one in kept}

    def forget(self, memory_ids: Iterable[str]) -> None:
        """Drop the values of these memories."""
        for one in memory_ids:
            self._kept.pop(one, None)
