"""Recently read memories of one scope: successive writes meet the same neighbours."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from mnemic.types import Memory

MOST = 16_384
"""Memories kept, those that were met last."""
BYTES = 4_000
"""Memory that one takes, about, its vector among it."""


class NeighbourCache:
    """Memories by identifier, each with the index place that it was read at. A memory that changes moves to another
    place, so a memory at the same place is unchanged.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[int, Memory]] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Memory in use, by estimate."""
        return BYTES * len(self._kept)

    def find(self, memory_ids: Sequence[str], places: Sequence[int]) -> dict[str, Memory]:
        """Return those of the memories that are cached, by identifier, if they are still at these places."""
        found: dict[str, Memory] = {}
        for memory_id, place in zip(memory_ids, places, strict=True):
            kept = self._kept.get(memory_id)
            if kept is not None and kept[0] == place:
                found[memory_id] = kept[1]
                self._kept.move_to_end(memory_id)
        return found

    def keep(self, memories: Sequence[Memory], places: Sequence[int]) -> None:
        """Cache these memories and evict those not met for the longest time."""
        for memory, place in zip(memories, places, strict=True):
            self._kept[memory.memory_id] = place, memory
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def forget(self, memory_ids: Iterable[str]) -> None:
        """Evict these memories."""
        for memory_id in memory_ids:
            self._kept.pop(memory_id, None)
