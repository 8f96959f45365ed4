"""Outbox compaction: the backlog of a stalled projection becomes one entry "rebuild" for each tenant."""

from __future__ import annotations

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
