"""Steps 8 and 9: publish the committed changes to the projections. Best effort: the outbox retains missed changes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnemic.types import Change, Deadline
from mnemic.write.outbox_consumer import BATCH, OutboxConsumer
from mnemic.write.outbox_maintenance import maintain_outbox

if TYPE_CHECKING:
    from mnemic.ports import Clock, RecordStore
    from mnemic.ports.projections import Projection

_LOOK_AFTER = 256
"""Number of changes between checks of the outbox: without readers it is emptied, and a growing one is compacted."""


_DELIVERED = BATCH // 2


class Publisher:
    """Feeds projections right after a commit, each at its own pace: a failing one does not delay the others.

    Pending memories are never published. Without a registered projection the outbox is emptied from time to time: a
    projection that is added later is built from the memories, and so is one that has fetched nothing for too long.
    """

    def __init__(self, store: RecordStore, clock: Clock, projections: Sequence[Projection] = ()) -> None:
        self._store = store
        self.feeds: tuple[OutboxConsumer, ...] = _feeds(projections, store, clock) if projections else ()
        self._unseen = 0
        self.looking: asyncio.Task[None] | None = None

    @property
    def failures(self) -> Counter[str]:
        """Number of times each projection missed something since the start; `outbox`: the store refused the entries."""
        return sum((feed.failures for feed in self.feeds), Counter())

    async def publish(self, changes: Sequence[Change], *, deadline: Deadline | None = None) -> tuple[str, ...]:
        """Apply the changes after the earlier backlog; return the names of the projections that lag now, and `outbox`
        if the store failed. Never raises for failures of projections or store.
        """
        if not changes:
            return ()
        # Counted in this process only: an estimate that saves a read of the outbox per write.
        self._unseen += len(changes)
        if self._unseen >= _LOOK_AFTER:
            self._unseen = 0
            self.looking = await maintain_outbox(self._store, fed=bool(self.feeds), before=self.looking)
        missed: tuple[str, ...] = ()
        # In parts that a consumer takes at once, or it would seem to lag.
        for first in range(0, len(changes) if self.feeds else 0, _DELIVERED):
            missed = await self.catch_up(changes[first : first + _DELIVERED], deadline=deadline)
        return missed

    async def catch_up(self, known: Sequence[Change] = (), *, deadline: Deadline | None = None) -> tuple[str, ...]:
        """Deliver the contents of the outbox in the same way, up to one batch for each projection."""
        # Side by side: a projection that waits for its timeout delays no other.
        caught = await asyncio.gather(*(feed.catch_up(known, deadline=deadline) for feed in self.feeds))
        return tuple(
            sorted({one.failed or feed.name for feed, one in zip(self.feeds, caught, strict=True) if one.behind})
        )


def _feeds(projections: Sequence[Projection], store: RecordStore, clock: Clock) -> tuple[OutboxConsumer, ...]:
    return tuple(OutboxConsumer(projection, store, clock) for projection in projections)
