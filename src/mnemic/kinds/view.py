"""Base of the views of the kinds: the engine's verbs, one actor, and how a verb is called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnemic.runtime.sync_facade import CallMode, DualModeApi, M
from mnemic.types import Actor

if TYPE_CHECKING:
    from mnemic.engine import MemoryEngine


class KindView(DualModeApi[M]):
    """One kind of memory of one actor."""

    def __init__(self, engine: MemoryEngine, actor: Actor, ground: CallMode[M]) -> None:
        super().__init__(ground)
        self._engine = engine
        self._actor = actor
