"""The audit log and the outbox, over rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mnemic.ports.database_backend import RowChange, RowReads
from mnemic.stores.audit_chain import Chain, Sign, decode_event, next_line
from mnemic.stores.codec import dump, load
from mnemic.stores.row_store_adapter.tables import AUDIT, COUNTER, OUTBOX, PROJECTION, OutboxRow
from mnemic.types import AuditEvent, OutboxEntry
from mnemic.types.scope import scope_named

_PAGE = 1000


async def append_audit(rows: RowChange, event: AuditEvent, sign: Sign | None) -> None:
    """Implement the port's `append_audit`."""
    last = await rows.scan(AUDIT, (event.tenant,), limit=1, reverse=True)
    sequence, previous = (last[0][1], last[0][3]) if last else (0, "")
    await rows.put(AUDIT, [(event.tenant, *next_line(event, sequence, previous, sign))])


async def audit(rows: RowReads, tenant: str, after: int, before: int | None, limit: int) -> list[AuditEvent]:
    """Implement the port's `audit`."""
    after, limit = max(0, after), max(0, limit)
    if before is None:
        lines = await rows.scan(AUDIT, (tenant,), after=after, limit=limit)
    else:
        lines = (await rows.scan(AUDIT, (tenant,), after=after, before=before, limit=limit, reverse=True))[::-1]
    return [decode_event(event, digest) for _, _, event, digest in lines]


async def broken_audit(rows: RowReads, tenant: str, sign: Sign | None) -> tuple[int, int | None, str]:
    """Implement the port's `broken_audit`."""
    chain, last = Chain(tenant, sign), 0
    while lines := await rows.scan(AUDIT, (tenant,), after=last, limit=_PAGE):
        for _, sequence, event, digest in lines:
            chain.take(sequence, event, digest)
        last = lines[-1][1]
    return chain.found


async def enqueue(rows: RowChange, entry: OutboxEntry) -> None:
    """Implement the port's `enqueue`."""
    # Counted apart from the entries: the number of a removed entry must not be given to a later one.
    known = await rows.get(COUNTER, [("outbox",)])
    sequence = 1 + (known[0][1] if known else 0)
    place = (entry.scope.tenant, entry.scope.level.value, entry.scope.owner)
    await rows.put(COUNTER, [("outbox", sequence)])
    await rows.put(OUTBOX, [OutboxRow(sequence, *place, entry.action, entry.memory_id, entry.version, "[]")])


async def pending(rows: RowReads, projection: str | None, limit: int) -> list[OutboxEntry]:
    """Implement the port's `pending`."""
    found: list[OutboxRow] = []
    last = await _removed_up_to(rows)
    while len(found) < limit and (page := await _entries(rows, last, _PAGE)):
        found += [row for row in page if projection not in load(row.taken)]
        last = page[-1].sequence
    return [
        OutboxEntry(
            sequence=row.sequence,
            scope=scope_named(row.tenant, row.level, row.owner),
            action=row.action,
            memory_id=row.memory_id,
            version=row.version,
        )
        for row in found[: max(0, limit)]
    ]


async def acknowledge(rows: RowChange, sequences: Sequence[int], projection: str | None) -> None:
    """Implement the port's `acknowledge`."""
    there = [OutboxRow(*row) for row in await rows.get(OUTBOX, [(sequence,) for sequence in dict.fromkeys(sequences)])]
    if projection is None:
        await rows.remove(OUTBOX, [row[:1] for row in there])
    else:
        registered = await _registered_names(rows)
        taken = [(row, {projection, *load(row.taken)}) for row in there]
        await rows.remove(OUTBOX, [row[:1] for row, names in taken if names >= registered])
        await rows.put(OUTBOX, [_with_names(row, names) for row, names in taken if not names >= registered])
    await _note_removed(rows)


async def register(rows: RowChange, projection: str) -> None:
    """Implement the port's `register`."""
    await rows.put(PROJECTION, [(projection,)])


async def unregister(rows: RowChange, projection: str) -> None:
    """Implement the port's `unregister`."""
    await rows.remove(PROJECTION, [(projection,)])
    registered = await _registered_names(rows)
    for row in await _entries(rows, await _removed_up_to(rows)):
        names = set(load(row.taken))
        # With no projection left nobody has taken anything: such entries stay until the outbox is emptied as a whole.
        if registered and projection not in names and names >= registered:
            await rows.remove(OUTBOX, [row[:1]])
        elif projection in names:
            await rows.put(OUTBOX, [_with_names(row, names - {projection})])
    await _note_removed(rows)


async def projections(rows: RowReads) -> dict[str, int]:
    """Implement the port's `projections`."""
    taken = [load(row.taken) for row in await _entries(rows, await _removed_up_to(rows))]
    return {name: sum(name not in names for names in taken) for (name,) in await rows.scan(PROJECTION, ())}


async def _registered_names(rows: RowReads) -> set[str]:
    return {name for (name,) in await rows.scan(PROJECTION, ())}


async def _removed_up_to(rows: RowReads) -> int:
    """Return the sequence number up to which no entry is left. A read begins there: a database may retain what was
    removed as tombstones for days, and refuse a read that meets too many of them.
    """
    known = await rows.get(COUNTER, [("removed",)])
    return int(known[0][1]) if known else 0


async def _note_removed(rows: RowChange) -> None:
    """Note up to which sequence number no entry is left."""
    before, last = await _removed_up_to(rows), await rows.get(COUNTER, [("outbox",)])
    left = await _entries(rows, before, 1)
    removed = left[0].sequence - 1 if left else last[0][1] if last else 0
    if removed > before:
        await rows.put(COUNTER, [("removed", removed)])


async def _entries(rows: RowReads, after: int, limit: int | None = None) -> list[OutboxRow]:
    return [OutboxRow(*row) for row in await rows.scan(OUTBOX, (), after=after, limit=limit)]


def _with_names(row: OutboxRow, names: Collection[str]) -> OutboxRow:
    return row._replace(taken=dump(sorted(names)))
