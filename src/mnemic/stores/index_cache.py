"""Search indexes of the scopes in use, within a memory budget."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

from mnemic.stores.scope_index import ScopeIndex


class Slot:
    """Index of one scope, with a lock for threads that share it."""

    __slots__ = ("index", "lock")

    def __init__(self, index: ScopeIndex) -> None:
        self.index = index
        self.lock = threading.Lock()


class IndexCache:
    """LRU cache of slots by scope. Users report the size of a slot after each use. Thread-safe. If the store `rereads`
    vectors, the index of a large scope drops them.
    """

    def __init__(self, *, dimension: int, budget: int, rereads: bool = False) -> None:
        self._dimension = dimension
        self._budget = budget
        self._rereads = rereads
        self._slots: OrderedDict[Hashable, Slot] = OrderedDict()
        self._sizes: dict[Hashable, int] = {}
        self._lock = threading.Lock()

    def empty(self) -> ScopeIndex:
        """Return a new index without memories."""
        return ScopeIndex(self._dimension, rereads=self._rereads)

    def slot(self, scope: Hashable) -> Slot:
        """Return the scope's slot, with an empty index if there was none."""
        with self._lock:
            slot = self._slots.get(scope)
            if slot is None:
                slot = self._slots[scope] = Slot(self.empty())
            self._slots.move_to_end(scope)
            return slot

    def peek(self, scope: Hashable) -> Slot | None:
        """Return the scope's slot if there is one; it is not used by that."""
        with self._lock:
            return self._slots.get(scope)

    def weigh(self, scope: Hashable, size: int) -> None:
        """Record the bytes of the scope's index, and evict others until all fit; the last one is never evicted."""
        with self._lock:
            self._sizes[scope] = size
            # The last one stays even if it is too large: evicting the index in use would rebuild it with every search.
            while len(self._slots) > 1 and sum(self._sizes.values()) > self._budget:
                dropped, _ = self._slots.popitem(last=False)
                self._sizes.pop(dropped, None)
