"""Steps 8 and 9: the derived copies learn of what was committed. Best effort: the outbox keeps what they missed."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from mnemic.errors import MnemicError
from mnemic.types import Change, Deadline

if TYPE_CHECKING:
    from mnemic.ports import Clock, RecordStore
    from mnemic.ports.projections import Projection
    from mnemic.write.outbox_consumer import Feed

MOST_WAITING = 100_000
"""Entries that may wait for one projection."""

_log = logging.getLogger("mnemic.write")
_LOOK_AFTER = 256
"""Changes after which the outbox is looked at: one that nobody reads is emptied, one that grows is bounded."""


class Publisher:
    """Feeds projections right after a commit, each at its own pace: one that fails holds up no other.

    Pending memories never come here. Without any registered projection the outbox is emptied from time to time: one
    that is added later is built from the memories. So is, in the end, one that has fetched nothing for too long.
    """

    def __init__(self, store: RecordStore, clock: Clock, projections: Sequence[Projection] = ()) -> None:
        self._store = store
        self.feeds: tuple[Feed, ...] = _feeds(projections, store, clock) if projections else ()
        self._unseen = 0
        self.looking: asyncio.Task[None] | None = None

    async def close(self) -> None:
        """End what goes on in the background."""
        looking, self.looking = self.looking, None
        if looking is None or looking.done():
            return
        if looking.get_loop() is asyncio.get_running_loop():
            looking.cancel()
            await asyncio.wait([looking])
        else:
            with suppress(RuntimeError):  # that loop has ended, and the task with it
                looking.get_loop().call_soon_threadsafe(looking.cancel)

    @property
    def failures(self) -> Counter[str]:
        """Number of times each projection missed something since the start; `outbox`: the store did not let it."""
        return sum((feed.failures for feed in self.feeds), Counter())

    async def publish(self, changes: Sequence[Change], *, deadline: Deadline | None = None) -> tuple[str, ...]:
        """Apply the changes, after those that were left before; the names of the projections that are behind now, and
        `outbox` where the store failed. Never raises for what projections and store do.
        """
        if not changes:
            return ()
        self._unseen += len(changes)
        if self._unseen >= _LOOK_AFTER:
            self._unseen = 0
            if not self._store.capabilities.shared:
                await self._look_after()
            elif self.looking is None or self.looking.done():
                # On a server it may take long, and nobody's write waits for it.
                self.looking = asyncio.create_task(self._look_after())
        return await self.catch_up(changes, deadline=deadline) if self.feeds else ()

    async def catch_up(self, known: Sequence[Change] = (), *, deadline: Deadline | None = None) -> tuple[str, ...]:
        """Return the same for whatever the outbox holds, up to one batch for each projection."""
        caught = await asyncio.gather(*(feed.catch_up(known, deadline=deadline) for feed in self.feeds))
        return tuple(
            sorted({one.failed or feed.name for feed, one in zip(self.feeds, caught, strict=True) if one.behind})
        )

    async def _look_after(self) -> None:
        from mnemic.write.outbox_compaction import compact

        try:
            if not self.feeds and not await self._store.projections():
                waiting = await self._store.pending(limit=4 * _LOOK_AFTER)
                await self._store.acknowledge([entry.sequence for entry in waiting])
            else:
                compacted = await compact(self._store, most=MOST_WAITING)
                for name, count in compacted.items():
                    _log.warning("projection %s has not fetched %d entries: it will be built anew", name, count)
        except MnemicError as error:
            _log.warning("the outbox could not be looked after: %s", error.reason)


def _feeds(projections: Sequence[Projection], store: RecordStore, clock: Clock) -> tuple[Feed, ...]:
    from mnemic.write.outbox_consumer import Feed

    return tuple(Feed(projection, store, clock) for projection in projections)
