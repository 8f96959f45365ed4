"""The trail of a change, kept in the partition that it changes, and collected from there.

A line of the audit and an entry of the outbox are committed with the change itself, in the journal of one partition.
Each line of a journal is chained to the one before. Whoever reads the audit or the outbox collects first: what the
journals hold is appended to the chain of the tenant and to the outbox, in the order of its times, together with how far
each journal is there by now; only then it leaves the journals, one after the other. So no writer waits for it.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from mnemic.ports.row_store import Row, RowChange, RowReads, RowStore
from mnemic.stores.audit_chain import follows
from mnemic.stores.audit_format import Sign, decode_event, encode_event, link, next_line
from mnemic.stores.codec import dump, load
from mnemic.stores.layered import audit_and_outbox
from mnemic.stores.layered.tables import AUDIT
from mnemic.types import AuditEvent, OutboxEntry
from mnemic.types.scope import scope_named
from mnemic_cassandra.connection import pause
from mnemic_cassandra.partitions import Partitions
from mnemic_cassandra.routing import AUDIT_END, COLLECTED, JOURNAL, LANE, NAMES, Partition

_AT_ONCE = 16
"""Partitions that are collected in one transaction."""

_LINES = 200
"""Lines of each that are."""

_LOOKS = 5
"""Times that a journal with a gap is read: while nodes join or leave, an answer may lack a row for a moment."""

_ROUNDS = 100
"""Maximum number of rounds for a journal with further entries."""


class _Line(NamedTuple):
    """A line of a journal. `at` never goes back within one."""

    at: int
    home: Partition
    number: int
    what: str
    change: str
    hash: str


class _Waiting(NamedTuple):
    """Lines of a journal, and how far it says itself that it was collected."""

    home: Partition
    collected: int
    before: str
    lines: list[_Line]

    @property
    def whole(self) -> bool:
        """Check that no line is missing."""
        return len(self.before_gap.lines) == len(self.lines)

    @property
    def before_gap(self) -> _Waiting:
        """The same with the lines before the first that is missing; some may have been collected already."""
        known = [line for line in self.lines if line.number <= self.collected]
        numbered = enumerate(self.lines[len(known) :], self.collected + 1)
        present = takewhile(lambda one: one[0] == one[1].number, numbered)
        return self._replace(lines=[*known, *(line for _, line in present)])


_Place = tuple[int, str]
"""Number and hash of a line of a journal."""


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
            waiting = await asyncio.gather(*(_looked(store, partitions, home) for home in sorted(left)))
            await store.transact(partial(_appended, waiting=waiting, sign=sign))
            empty = await asyncio.gather(*(store.transact(partial(_emptied, waiting=each)) for each in waiting))
            for each, nothing_left in zip(waiting, empty, strict=True):
                if nothing_left:
                    await partitions.unnote(each.home, notes[each.home])
                if len(each.lines) < _LINES:
                    left.discard(each.home)
            if not left:
                break


def _groups(notes: dict[Partition, list[str]]) -> list[tuple[Partition, ...]]:
    """Return the partitions in groups, each of one tenant."""
    tenants: dict[str, list[Partition]] = {}
    for home in sorted(notes):
        tenants.setdefault(home.tenant, []).append(home)
    return [
        tuple(homes[first : first + _AT_ONCE]) for homes in tenants.values() for first in range(0, len(homes), _AT_ONCE)
    ]


async def _looked(store: RowStore, partitions: Partitions, home: Partition) -> _Waiting:
    """Return the first lines of a journal. One that has a gap is read again, at last from every replica: what is
    appended to the audit with a gap stays broken there, and the missing lines would never follow. Where a replica is
    away, only the lines before the gap are returned, and the rest waits.
    """
    waiting = await store.read(partial(_waiting, home=home))
    for tried in range(_LOOKS - 1):
        if waiting.whole:
            break
        await pause(0.1 * 2**tried, 0.2 * 2**tried)
        waiting = await store.read(partial(_waiting, home=home))
    if waiting.whole:
        return waiting
    if not await partitions.repair(home, NAMES[JOURNAL]):
        return waiting.before_gap
    return await store.read(partial(_waiting, home=home))


async def _waiting(rows: RowReads, home: Partition) -> _Waiting:
    """Return the first lines of a journal."""
    found = await rows.get(LANE, [home])
    if not found:
        return _Waiting(home, 0, "", [])
    lines: list[_Line] = []
    for row in await rows.scan(JOURNAL, home, limit=_LINES):
        number, at, what, change, digest = row[3:]
        lines.append(_Line(max(at, lines[-1].at) if lines else at, home, number, what, change, digest))
    collected, before = found[0][5:]
    return _Waiting(home, collected, before, lines)


async def _appended(rows: RowChange, waiting: Sequence[_Waiting], sign: Sign | None) -> None:
    """Append what is not there yet to the audit and the outbox, and note how far each journal is there by now."""
    tenant = waiting[0].home.tenant
    known = {Partition(*row[:3]): row[3:] for row in await rows.get(COLLECTED, [each.home for each in waiting])}
    places: dict[Partition, _Place] = {}
    taken: list[tuple[_Line, bool]] = []
    for each in waiting:
        place = max((each.collected, each.before), known.get(each.home, (0, "")))
        for line in each.lines:
            if line.number > place[0]:
                taken.append((line, line.number == place[0] + 1 and follows(line.hash, place[1], line.change)))
                place = (line.number, line.hash)
        places[each.home] = place
    taken.sort(key=lambda one: one[0][:3])
    await _chained(rows, tenant, [(line.change, whole) for line, whole in taken if line.what == "event"], sign)
    for line, _ in taken:
        if line.what == "entry":
            level, owner, action, memory_id, version = load(line.change)
            scope = scope_named(tenant, level, owner)
            entry = OutboxEntry(scope=scope, action=action, memory_id=memory_id, version=version)
            await audit_and_outbox.enqueue(rows, entry)
    moved = {line.home for line, _ in taken}
    await rows.put(COLLECTED, [(*home, *places[home]) for home in sorted(moved)])


async def _emptied(rows: RowChange, waiting: _Waiting) -> bool:
    """Take lines out of a journal that are in the audit; True where none is left. It is written to in any case: who has
    announced a line and not committed it yet begins again, and announces it again.
    """
    found = await rows.get(LANE, [waiting.home])
    if not found:
        return False
    last, hashed, *place = found[0][3:]
    if waiting.lines and place[0] < waiting.lines[-1].number:
        await rows.remove(JOURNAL, [(*waiting.home, line.number) for line in waiting.lines])
        place = [waiting.lines[-1].number, waiting.lines[-1].hash]
    await rows.put(LANE, [(*waiting.home, last, hashed, *place)])
    return bool(last == place[0])


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
