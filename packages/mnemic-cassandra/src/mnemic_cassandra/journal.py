"""The trail of a change, kept in the partition that it changes, and collected from there.

A line of the audit and an entry of the outbox are committed with the change itself, in the journal of one partition.
Each line of a journal is chained to the one before. Whoever reads the audit or the outbox collects first: what the
journals hold is appended to the chain of the tenant and to the outbox, in the order of its times, and leaves the
journals in the same transaction.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from datetime import timedelta
from functools import partial

from mnemic.errors import StoreBusy
from mnemic.ports.rows import Row, RowChange, RowStore
from mnemic.stores.audit_chain import follows
from mnemic.stores.audit_format import Sign, decode_event, encode_event, link, next_line
from mnemic.stores.codec import dump, load
from mnemic.stores.layered import trail
from mnemic.stores.layered.tables import AUDIT
from mnemic.types import AuditEvent, Deadline, OutboxEntry
from mnemic.types.scope import scope_named
from mnemic_cassandra.partitions import Partitions
from mnemic_cassandra.routing import AUDIT_END, JOURNAL, LANE, Partition

_AT_ONCE = 16
"""Partitions that are collected in one transaction."""

_LINES = 200
"""Lines of each that are."""

_ROUNDS = 100
"""Times that this is repeated where a journal holds more."""

_LONGEST_WAIT = timedelta(seconds=1)
"""Time in which several partitions must be collected together; else fewer are taken at once."""


_Line = tuple[int, Partition, int, str, str, bool]
"""Time, partition, number, kind and text of a line, and whether it follows from the one before."""


class _Now:
    """Microseconds since 1970, never the same twice in this process."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def __call__(self) -> int:
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() // 1000)
            return self._last


_now = _Now()


async def note_event(rows: RowChange, home: Partition, event: AuditEvent) -> None:
    """Put a line of the audit into the journal of a partition."""
    await _append(rows, home, "event", encode_event(event))


async def note_entry(rows: RowChange, home: Partition, entry: OutboxEntry) -> None:
    """Put an entry of the outbox into the journal of a partition."""
    scope = entry.scope
    record = [scope.level.value, scope.owner, entry.action, entry.memory_id, entry.version]
    await _append(rows, home, "entry", dump(record))


async def _append(rows: RowChange, home: Partition, what: str, text: str) -> None:
    found = await rows.get(LANE, [home])
    last, previous, collected, before = found[0][3:] if found else (0, "", 0, "")
    hashed = link(previous, text)
    await rows.put(JOURNAL, [(*home, last + 1, _now(), what, text, hashed)])
    await rows.put(LANE, [(*home, last + 1, hashed, collected, before)])


async def collect(store: RowStore, partitions: Partitions, tenant: str | None, sign: Sign | None) -> None:
    """Collect the journals of a tenant, or of all: what was committed before, not what others commit meanwhile."""
    notes = await partitions.noted(tenant)
    for homes in _groups(notes):
        left = set(homes)
        for _ in range(_ROUNDS):
            for home in await _emptied(store, sorted(left), sign):
                left.discard(home)
                await partitions.unnote(home, notes[home])
            if not left:
                break


async def _emptied(store: RowStore, homes: Sequence[Partition], sign: Sign | None) -> list[Partition]:
    """Collect these partitions, in halves where others write to them all the time; those that hold nothing more."""
    work = partial(_collected, homes=homes, sign=sign)
    if len(homes) == 1:
        return await store.transact(work)
    try:
        return await store.transact(work, deadline=Deadline.after(_LONGEST_WAIT, time.monotonic))
    except StoreBusy:
        middle = len(homes) // 2
        return [home for half in (homes[:middle], homes[middle:]) for home in await _emptied(store, half, sign)]


def _groups(notes: dict[Partition, list[str]]) -> list[tuple[Partition, ...]]:
    """Return the partitions in groups, each of one tenant."""
    tenants: dict[str, list[Partition]] = {}
    for home in sorted(notes):
        tenants.setdefault(home.tenant, []).append(home)
    return [
        tuple(homes[first : first + _AT_ONCE]) for homes in tenants.values() for first in range(0, len(homes), _AT_ONCE)
    ]


async def _collected(rows: RowChange, homes: Sequence[Partition], sign: Sign | None) -> list[Partition]:
    """Move what the journals of these partitions hold; those that hold nothing more."""
    taken: list[_Line] = []
    emptied: list[Partition] = []
    for home in homes:
        lines = await _taken(rows, home)
        taken += lines
        if len(lines) < _LINES:
            emptied.append(home)
    tenant = homes[0].tenant
    taken.sort(key=lambda line: line[:3])
    await _chained(rows, tenant, [(change, whole) for *_, what, change, whole in taken if what == "event"], sign)
    for *_, what, change, _ in taken:
        if what == "entry":
            level, owner, action, memory_id, version = load(change)
            scope = scope_named(tenant, level, owner)
            entry = OutboxEntry(scope=scope, action=action, memory_id=memory_id, version=version)
            await trail.enqueue(rows, entry)
    return emptied


async def _taken(rows: RowChange, home: Partition) -> list[_Line]:
    """Take lines of one journal."""
    found = await rows.get(LANE, [home])
    if not found:
        return []
    last, hashed, collected, previous = found[0][3:]
    lines: list[_Line] = []
    earliest = 0
    for row in await rows.scan(JOURNAL, home, limit=_LINES):
        number, at, what, change, digest = row[3:]
        earliest = max(earliest, at)
        whole = number == collected + 1 and follows(digest, previous, change)
        lines.append((earliest, home, number, what, change, whole))
        collected, previous = number, digest
    await rows.remove(JOURNAL, [(*home, line[2]) for line in lines])
    await rows.put(LANE, [(*home, last, hashed, collected, previous)])
    return lines


async def _chained(rows: RowChange, tenant: str, lines: Sequence[tuple[str, bool]], sign: Sign | None) -> None:
    """Append these lines to the audit of the tenant. One that was changed in its journal breaks the chain there."""
    if not lines:
        return
    end = await rows.get(AUDIT_END, [(tenant,)])
    sequence, previous = end[0][1:] if end else (0, "")
    appended: list[Row] = []
    for result, whole in lines:
        sequence, line, hashed = next_line(decode_event(result, ""), sequence, previous, sign)
        previous = hashed if whole else "broken"
        appended.append((tenant, sequence, line, previous))
    await rows.put(AUDIT, appended)
    await rows.put(AUDIT_END, [(tenant, sequence, previous)])
