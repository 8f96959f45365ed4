"""An outbox stays bounded: what a projection does not fetch for too long becomes one entry for each tenant."""

from __future__ import annotations

from mnemic.ports import RecordStore
from mnemic.types import OutboxEntry, Scope
from mnemic.unit_of_work import Mutation, Unit, commit

_PAGE = 1000


async def compact(store: RecordStore, *, most: int) -> dict[str, int]:
    """Replace all entries that wait for a projection, if they are more than `most`, with one for each tenant, which
    says that the tenant's copy is to be rebuilt; return the number of entries removed, by projection. Raises
    StoreFailed.

    The new entry is durable before the old ones go: cut off, it is begun anew by the next call, and nothing is lost.
    """
    waiting = await store.projections()
    late = [name for name, count in waiting.items() if count > most]
    return {name: await _compact_projection(store, name, waiting.keys() - {name}) for name in late}


async def _compact_projection(store: RecordStore, projection: str, others: set[str]) -> int:
    gone, marked = 0, set[str]()
    while page := await store.pending(projection=projection, limit=_PAGE):
        new = {entry.scope.tenant: entry.scope for entry in page if entry.scope.tenant not in marked}
        if not new and all(entry.whole for entry in page):
            for other in others:  # for whom nothing was compacted
                await store.acknowledge([entry.sequence for entry in page], projection=other)
            break
        if new:
            await _mark(store, list(new.values()))
            marked |= new.keys()
        old = [entry.sequence for entry in page if not entry.whole or entry.scope.tenant in new]
        await store.acknowledge(old, projection=projection)
        gone += len(old)
    return gone


async def _mark(store: RecordStore, scopes: list[Scope]) -> None:
    async def work(unit: Unit) -> None:
        for scope in scopes:
            await unit.apply(Mutation(tenant=scope.tenant, outbox=[OutboxEntry.whole_tenant(scope)]))

    await commit(store, work)
