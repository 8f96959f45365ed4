"""Maintenance of the outbox during writes: without readers it is emptied, and a growing one is compacted."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress

from mnemic.errors import MnemicError
from mnemic.ports import RecordStore
from mnemic.write.outbox_compaction import compact

MAX_WAITING = 100_000
"""Entries that may wait for one projection."""

_PAGE = 1024
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
