"""Work of jobs, over rows: walks over a whole tenant, counts, and proof that something is gone."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

from mnemic.errors import MnemicError
from mnemic.ports.database_backend import RowReads
from mnemic.ports.record_store import Damage
from mnemic.stores.codec import DAMAGED, body_check, checked_marks, checked_request, checked_secret, load, vector_check
from mnemic.stores.row_store_adapter.auxiliary_records import texts_of
from mnemic.stores.row_store_adapter.memories import RowCodec, earlier_of, memories_of, place_of, places_of, stored_in
from mnemic.stores.row_store_adapter.tables import MARK, OUTBOX, REQUEST, TENANT, EarlierRow, MemoryRow, OutboxRow
from mnemic.stores.store_verbs import Scan
from mnemic.types import Memory, Status

_PAGE = 500


async def scan(rows: RowReads, memories: RowCodec, wanted: Scan) -> list[Memory]:
    """Return the memories that the port's `scan` asks for."""
    found: list[Memory] = []
    after = wanted.after
    while len(found) < wanted.limit and (page := await _page(rows, wanted, after)):
        taken = [memory for memory in map(memories.read_fields, page) if _takes(wanted, memory)]
        if wanted.author is not None:
            taken = [memory for memory in taken if await _wrote(rows, memories, wanted.author, memory)]
        found += taken
        after = page[-1].memory_id
    return found[: wanted.limit]


def _takes(wanted: Scan, memory: Memory) -> bool:
    """Check everything but the author of an earlier version."""
    return (
        memory.status in wanted.statuses
        and (wanted.memory_ids is None or memory.memory_id in wanted.memory_ids)
        and (wanted.expired_by is None or (memory.expires_at is not None and memory.expires_at <= wanted.expired_by))
    )


async def _page(rows: RowReads, wanted: Scan, after: str | None) -> list[MemoryRow]:
    if wanted.scope is None:
        return await memories_of(rows, wanted.tenant, after, _PAGE)
    return await stored_in(rows, place_of(wanted.scope), after=after, limit=_PAGE)


async def _wrote(rows: RowReads, memories: RowCodec, author: str, memory: Memory) -> bool:
    """Check whether `author` wrote any version."""
    earlier = await earlier_of(rows, (memory.scope.tenant, memory.memory_id)) if memory.version > 1 else []
    return author in {memory.author, *(memories.earlier(row, memory).author for row in earlier)}


async def waiting(rows: RowReads, tenant: str) -> int:
    """Return the port's `waiting`."""
    return sum(row.status == Status.PENDING_REVIEW for row in await places_of(rows, (tenant,)))


async def traces(
    rows: RowReads, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]
) -> dict[str, int]:
    """Return the port's `traces`."""
    stored: list[MemoryRow | EarlierRow] = [
        *await stored_in(rows, (tenant,)),
        *await earlier_of(rows, (tenant,)),
    ]
    receipts = [texts_of(load(row[3])) for row in await rows.scan(REQUEST, (tenant,))]
    # The outbox is ordered by sequence across tenants, so that its consumer reads one range.
    outbox = [OutboxRow(*row) for row in await rows.scan(OUTBOX, ())]
    return {
        "memory": sum(row.memory_id in memory_ids or row.fingerprint in fingerprints for row in stored),
        "outbox": sum(row.tenant == tenant and row.memory_id in memory_ids for row in outbox),
        "request": sum(not said.isdisjoint(memory_ids) for said in receipts),
    }


async def damaged_rows(rows: RowReads, memories: RowCodec, tenant: str) -> list[Damage]:
    """Return the damaged rows of `tenant` (`mnemic.ports.record_store.DamageScan`)."""
    found = [
        Damage("memory", row.memory_id)
        for row in await stored_in(rows, (tenant,))
        if memories.read_fields(row).content is DAMAGED or row.vector_check != vector_check(row.vector)
    ]
    homes = {place.memory_id: (place.level, place.owner) for place in await places_of(rows, (tenant,))}
    for old in await earlier_of(rows, (tenant,)):
        home = homes.get(old.memory_id)
        if home is None or old.checksum != body_check(tenant, *home, old.body):
            found.append(Damage("memory_version", f"{old.memory_id} version {old.version}"))
    return found + await _sides(rows, tenant)


async def _sides(rows: RowReads, tenant: str) -> list[Damage]:
    """Return the damaged records other than memories."""
    marks = await rows.scan(MARK, (tenant,))
    requests, secrets = await rows.scan(REQUEST, (tenant,)), await rows.get(TENANT, [(tenant,)])
    checks: list[tuple[str, Callable[[], object]]] = [
        *(("mark", partial(checked_marks, [row[1:]])) for row in marks),
        *(("request", partial(checked_request, row[2], row[3], row[5])) for row in requests),
        *(("tenant", partial(checked_secret, *row)) for row in secrets),
    ]
    found = []
    for table, check in checks:
        try:
            check()
        except MnemicError:
            found.append(Damage(table, "a row"))
    return found
