"""Maintenance of the outbox during writes: without readers it is emptied, and a growing one is compacted."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from mnemic.errors import MnemicError
from mnemic.ports import RecordStore
from mnemic.types import OutboxEntry, Scope
from mnemic.unit_of_work import Mutation, Unit, commit

_PAGE = 1000


async def compact(store: RecordStore, *, most: int) -> dict[str, int]:
    """Replace all entries that wait for a projection, if they are more than `most`, by one "rebuild" entry for each
    tenant; return the number of entries removed, by projection. Raises StoreFailed.

    The new entry is durable before the old ones are removed: after an interruption the next call starts over, and
    nothing is lost.
    """
    waiting = await store.projections()
    late = [name for name, count in waiting.items() if count > most]
    return {name: await _compact_projection(store, name, waiting.keys() - {name}) for name in late}


async def _compact_projection(store: RecordStore, projection: str, others: set[str]) -> int:
    gone, marked = 0, set[str]()
    while page := await store.pending(projection=projection, limit=_PAGE):
        new = {entry.scope.tenant: entry.scope for entry in page if entry.scope.tenant not in marked}
        # Only "rebuild" entries are left: this projection now has to consume them.
        if not new and all(entry.whole for entry in page):
            for other in others:  # nothing was compacted for it
                await store.acknowledge([entry.sequence for entry in page], projection=other)
            break
        if new:
            await _mark(store, list(new.values()))
            marked |= new.keys()
        # Older "rebuild" entries of a tenant that has just got a new one are acknowledged as well.
        old = [entry.sequence for entry in page if not entry.whole or entry.scope.tenant in new]
        await store.acknowledge(old, projection=projection)
        gone += len(old)
    return gone


async def _mark(store: RecordStore, scopes: list[Scope]) -> None:
    async def work(unit: Unit) -> None:
        for scope in scopes:
            await unit.apply(Mutation(tenant=scope.tenant, outbox=[OutboxEntry.whole_tenant(scope)]))

    await commit(store, work)


MAX_WAITING = 100_000
"""Entries that may wait for one projection."""

_log = logging.getLogger("mnemic.write")


async def maintain_outbox(
    store: RecordStore, *, fed: bool, before: asyncio.Task[None] | None
) -> asyncio.Task[None] | None:
    """Maintain the outbox, in a background task if that may take long. Return the running task, which is `before` while
    that has not finished.
    """
    # Without garbage collection in the store the work is short: no task is needed.
    if not store.capabilities.collects:
        await _looked_after(store, fed)
        return None
    return asyncio.create_task(_looked_after(store, fed)) if before is None or before.done() else before


async def end(looking: asyncio.Task[None]) -> None:
    """Stop the running task."""
    # A store may be closed on another event loop than the writer's; tasks can only be cancelled on theirs.
    if looking.get_loop() is asyncio.get_running_loop():
        looking.cancel()
        await asyncio.wait([looking])
    else:
        with suppress(RuntimeError):  # that loop has ended, and the task with it
            looking.get_loop().call_soon_threadsafe(looking.cancel)


async def _looked_after(store: RecordStore, fed: bool) -> None:
    try:
        if not fed and not await store.projections():
            # Of a store that collects, only what somebody has collected is in the outbox: `mnemic maintain` does both.
            if store.capabilities.collects:
                return
            waiting = await store.pending(limit=_PAGE)
            await store.acknowledge([entry.sequence for entry in waiting])
        else:
            compacted = await compact(store, most=MAX_WAITING)
            for name, count in compacted.items():
                _log.warning("projection %s has not fetched %d entries: it will be built anew", name, count)
    except MnemicError as error:
        _log.warning("the outbox could not be looked after: %s", error.reason)
