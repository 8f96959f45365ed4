"""The search indexes of the scopes in use, within a budget of memory: the least recently used go first."""

from __future__ import annotations

import threading
from collections import OrderedDict

from mnemic.stores.scope_index import ScopeIndex
from mnemic.text.bm25 import Bm25


class Slot:
    """One scope's index, and a lock for whoever shares it between threads."""

    __slots__ = ("index", "lock")

    def __init__(self, index: ScopeIndex) -> None:
        self.index = index
        self.lock = threading.Lock()


class IndexShelf:
    """Slots by the number of their scope. Whoever has used one says how much it weighs now. Safe for threads.

    Where the store `rereads` vectors, an index of a large scope does not keep them.
    """

    def __init__(self, *, dimension: int, bm25: Bm25, budget: int, rereads: bool = False) -> None:
        self._dimension = dimension
        self._bm25 = bm25
        self._budget = budget
        self._rereads = rereads
        self._slots: OrderedDict[int, Slot] = OrderedDict()
        self._sizes: dict[int, int] = {}
        self._lock = threading.Lock()

    def empty(self) -> ScopeIndex:
        """A new index without memories."""
        return ScopeIndex(self._dimension, self._bm25, rereads=self._rereads)

    def slot(self, scope_id: int) -> Slot:
        """The scope's slot, with an empty index where there was none."""
        with self._lock:
            slot = self._slots.get(scope_id)
            if slot is None:
                slot = self._slots[scope_id] = Slot(self.empty())
            self._slots.move_to_end(scope_id)
            return slot

    def weigh(self, scope_id: int, size: int) -> None:
        """Note what the scope's index takes, in bytes, and drop others until all fit; the last one stays."""
        with self._lock:
            self._sizes[scope_id] = size
            while len(self._slots) > 1 and sum(self._sizes.values()) > self._budget:
                dropped, _ = self._slots.popitem(last=False)
                self._sizes.pop(dropped, None)
