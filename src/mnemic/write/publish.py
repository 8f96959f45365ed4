"""Steps 8 and 9: the derived copies learn of what was committed. Best effort: the outbox keeps what they missed."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence

from mnemic.errors import MnemicError
from mnemic.ports import Projection, RecordStore
from mnemic.write.commit import Change

_log = logging.getLogger("mnemic.write")
_OUTBOX_PAGE = 100
_UNWATCHED_LIMIT = 256
"""Changes after which an outbox that nobody reads is emptied."""


class Publisher:
    """Feeds projections right after a commit. `failures` counts, per projection, what did not reach it.

    A projection is given every change of an active memory: `upsert` with the memory, and `remove` with the memory as it
    was closed, so that it can tell where it lay. Pending memories never come here. What every projection took is
    acknowledged; what one of them refused stays in the outbox for all, since applying twice changes nothing. Without
    any projection the outbox is emptied from time to time: one that is added later is built from the memories.
    """

    def __init__(self, store: RecordStore, projections: Sequence[Projection] = ()) -> None:
        self._store = store
        self._projections = tuple(projections)
        self.failures: Counter[str] = Counter()
        self._unwatched = 0

    async def publish(self, changes: Sequence[Change]) -> tuple[str, ...]:
        """Apply the changes; the names of the projections that missed one. Never raises for what a projection does."""
        missed: set[str] = set()
        taken: list[Change] = []
        for change in changes:
            refused = [one.name for one in self._projections if not await self._applied(one, change)]
            missed.update(refused)
            if not refused:
                taken.append(change)
        if not self._projections:
            await self._forget_unwatched(len(changes))
        elif taken and not await self._acknowledged(taken):
            missed.add("outbox")
        return tuple(sorted(missed))

    async def _forget_unwatched(self, changes: int) -> None:
        self._unwatched += changes
        if self._unwatched < _UNWATCHED_LIMIT:
            return
        self._unwatched = 0
        try:
            waiting = await self._store.pending(limit=4 * _UNWATCHED_LIMIT)
            await self._store.acknowledge([entry.sequence for entry in waiting])
        except MnemicError as error:
            _log.warning("the outbox could not be emptied: %s", error.reason)

    async def _applied(self, projection: Projection, change: Change) -> bool:
        try:
            await projection.apply(change.entry, change.memory)
        except Exception as error:  # noqa: BLE001 - a projection may fail in any way; the write stands
            self.failures[projection.name] += 1
            reason = error.reason if isinstance(error, MnemicError) else type(error).__name__
            _log.warning("projection %s missed memory %s: %s", projection.name, change.entry.memory_id, reason)
            return False
        return True

    async def _acknowledged(self, taken: Sequence[Change]) -> bool:
        """Whether the entries could be taken off the outbox; behind a backlog they wait for the next drain."""
        applied = {(one.entry.tenant, one.entry.memory_id, one.entry.version) for one in taken}
        try:
            waiting = await self._store.pending(limit=_OUTBOX_PAGE)
            done = [one.sequence for one in waiting if (one.tenant, one.memory_id, one.version) in applied]
            if done:
                await self._store.acknowledge(done)
        except MnemicError as error:
            self.failures["outbox"] += 1
            _log.warning("the outbox could not be acknowledged: %s", error.reason)
            return False
        return True
