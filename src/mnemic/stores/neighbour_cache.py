"""Recently met memories of one scope: successive writes meet the same neighbours."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence

from mnemic.types import Memory

MOST = 16_384
"""Maximum number of cached memories, the latest used."""
BYTES = 4_000
"""Memory that one takes, about, its vector among it."""


class NeighbourCache:
    """Memories by the index place that they were read at. A memory that changes moves to another place, so a memory at
    the same place is unchanged.
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Memory] = OrderedDict()

    @property
    def nbytes(self) -> int:
        """Memory in use, by estimate."""
        return BYTES * len(self._kept)

    def memories_at(self, places: Sequence[int]) -> list[Memory | None]:
        """Return the memories at these places, None for those that are not cached."""
        found = list(map(self._kept.get, places))
        for place, memory in zip(places, found, strict=True):
            if memory is not None:
                self._kept.move_to_end(place)
        return found

    def keep(self, memories: Sequence[Memory], places: Sequence[int]) -> None:
        """Cache these memories, without those at no place (-1), and evict those not met for the longest time."""
        self._kept |= [(place, one) for place, one in zip(places, memories, strict=True) if place >= 0]
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)

    def forget(self, places: Iterable[int]) -> None:
        """Evict the memories at these places."""
        for place in places:
            self._kept.pop(place, None)
