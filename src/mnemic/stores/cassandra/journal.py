"""Audit lines and outbox entries of a change, journalled in the partition that it changes, and collected from there.

An audit line and an outbox entry are committed with the change itself, in the journal of one partition. Each line of a
journal is chained to the one before. A reader of the audit log or the outbox collects first: one transaction appends
the journals' lines, in the order of their times, to the tenant's hash chain and to the outbox, and records the position
reached in each journal; only then are the lines removed from the journals. So no writer waits for the audit log.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections.abc import Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from mnemic.ports.database_backend import Row, RowChange, RowReads, RowStore
from mnemic.stores.audit_chain import Sign, decode_event, encode_event, follows, link, next_line
from mnemic.stores.cassandra import tenant_totals
from mnemic.stores.cassandra.connection import pause
from mnemic.stores.cassandra.partitions import Partitions
from mnemic.stores.cassandra.routing import AUDIT_END, COLLECTED, JOURNAL, LANE, NAMES, Partition
from mnemic.stores.cassandra.tenant_totals import ScopeTotals
from mnemic.stores.codec import dump, load
from mnemic.stores.row_store_adapter import audit_and_outbox
from mnemic.stores.row_store_adapter.tables import AUDIT
from mnemic.types import AuditEvent, OutboxEntry
from mnemic.types.scope import scope_named

_AT_ONCE = 16
"""Maximum number of partitions collected in one transaction."""

_LINES = 200
"""Maximum number of lines of each partition collected in one transaction."""

_LOOKS = 5
"""Number of reads of a journal with a gap: while nodes join or leave, an answer may lack a row for a moment."""

_ROUNDS = 100
"""Maximum number of rounds for a journal with further entries."""


class _Line(NamedTuple):
    """A line of a journal. `at` never decreases within one journal."""

    at: int
    home: Partition
    number: int
    what: str
    change: str
    hash: str


_Place = tuple[int, str]
"""Number and hash of a line of a journal."""


class _Waiting(NamedTuple):
    """Lines of a journal, and the position up to which it was collected by its own record."""

    home: Partition
    collected: int
    before: str
    lines: list[_Line]
    counted: ScopeTotals | None = None
    """The scope as of the same moment."""

    end: _Place = (0, "")
    """The last line, by the journal's own record."""

    @property
    def whole(self) -> bool:
        """True if no line is missing between the others or at the end."""
        if len(self.before_gap.lines) < len(self.lines):
            return False
        last = (self.lines[-1].number, self.lines[-1].hash) if self.lines else (self.collected, self.before)
        return len(self.lines) == _LINES or last == self.end

    @property
    def before_gap(self) -> _Waiting:
        """The same journal with only the lines before the first missing one."""
        numbered = enumerate(self.lines, self.collected + 1)
        present = takewhile(lambda one: one[0] == one[1].number, numbered)
        return self._replace(lines=[line for _, line in present])


class _Now:
    """Microseconds since 1970, never the same twice in this process."""

    def __init__(self) -> None:
        self._last = 0
        self._lock = threading.Lock()

    def __call__(self) -> int:
        with self._lock:
            # A clock that is set back must not reorder the lines of this process, and two lines of one microsecond need
            # an order.
            self._last = max(self._last + 1, time.time_ns() // 1000)
            return self._last


_now = _Now()


async def note_event(rows: RowChange, home: Partition, event: AuditEvent, sign: Sign | None) -> None:
    """Append an audit line to the journal of a partition, signed there already if a key signs the audit."""
    await _append(rows, home, "event", encode_event(event), sign)


async def note_entry(rows: RowChange, home: Partition, entry: OutboxEntry) -> None:
    """Append an outbox entry to the journal of a partition."""
    scope = entry.scope
    record = [scope.level.value, scope.owner, entry.action, entry.memory_id, entry.version]
    await _append(rows, home, "entry", dump(record))


async def _append(rows: RowChange, home: Partition, what: str, text: str, sign: Sign | None = None) -> None:
    found = await rows.get(LANE, [home])
    last, previous, collected, before = found[0][3:] if found else (0, "", 0, "")
    hashed = link(previous, text, sign)
    await rows.put(JOURNAL, [(*home, last + 1, _now(), what, text, hashed)])
    await rows.put(LANE, [(*home, last + 1, hashed, collected, before)])


async def collect(
    store: RowStore,
    partitions: Partitions,
    tenant: str | None,
    sign: Sign | None,
    *,
    most: int | None = None,
) -> None:
    """Collect the journals of a tenant, or of all tenants, or any `most` of them: lines committed before the call, not
    those committed meanwhile.
    """
    notes = await partitions.partitions_to_collect(tenant)
    if most is not None and len(notes) > most:
        # Any, so that constantly growing journals do not block the others.
        notes = {home: notes[home] for home in random.sample(sorted(notes), most)}
    for homes in _groups(notes):
        left = set(homes)
        for _ in range(_ROUNDS):
            waiting = await asyncio.gather(*(_look_into_journal(store, partitions, home) for home in sorted(left)))
            await store.transact(partial(_append_lines, waiting=waiting, sign=sign))
            empty = await asyncio.gather(*(store.transact(partial(_empty_journal, waiting=each)) for each in waiting))
            for each, nothing_left in zip(waiting, empty, strict=True):
                if nothing_left:
                    await partitions.unnote(each.home, notes[each.home])
                # A full page means that more lines may follow, even ones committed since.
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


async def lacks_lines(store: RowStore, partitions: Partitions, tenant: str) -> bool:
    """Check whether lines of a journal are missing on every replica. A replica that is away may have them."""
    for home in sorted(await partitions.partitions_to_collect(tenant)):
        read = partial(store.read, partial(_waiting, home=home))
        # Every replica is asked before it counts: an answer may lack a row for a moment.
        if not (await read()).whole and await partitions.repair(home, NAMES[JOURNAL]) and not (await read()).whole:
            return True
    return False


async def _look_into_journal(store: RowStore, partitions: Partitions, home: Partition) -> _Waiting:
    """Return the first lines of a journal. One with a gap is read again, at last from every replica: a gap appended to
    the audit stays there, and the missing lines would never follow. If a replica is away, only the lines before the gap
    are returned, and the rest waits.
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
    counted = await tenant_totals.scope_totals(rows, home)
    if not found:
        return _Waiting(home, 0, "", [], counted)
    lines: list[_Line] = []
    # Start at the first line that may exist: removed lines before it stay as tombstones for days, and a server that
    # meets too many of them refuses the read.
    for row in await rows.scan(JOURNAL, home, after=found[0][5], limit=_LINES):
        number, at, what, change, digest = row[3:]
        # Writers have different clocks. The number is the order within a journal, so a time before its predecessor's is
        # raised.
        lines.append(_Line(max(at, lines[-1].at) if lines else at, home, number, what, change, digest))
    last, hashed, collected, before = found[0][3:]
    return _Waiting(home, collected, before, lines, counted, (last, hashed))


async def _append_lines(rows: RowChange, waiting: Sequence[_Waiting], sign: Sign | None) -> None:
    """Append uncollected lines to the audit log and the outbox, and record the position reached in each journal."""
    tenant = waiting[0].home.tenant
    known = {Partition(*row[:3]): row[3:] for row in await rows.get(COLLECTED, [each.home for each in waiting])}
    places: dict[Partition, _Place] = {}
    taken: list[tuple[_Line, bool]] = []
    for each in waiting:
        # Two records of the position: the journal's, written after the lines were removed, and the audit log's, written
        # with the lines. After a crash between the two the later one counts, so that no line is appended twice.
        place = max((each.collected, each.before), known.get(each.home, (0, "")))
        for line in each.lines:
            if line.number > place[0]:
                whole = line.number == place[0] + 1 and follows(line.hash, place[1], line.change, sign)
                taken.append((line, whole))
                place = (line.number, line.hash)
        places[each.home] = place
    # By time, then partition, then number: two collectors of the same lines append them in the same order.
    taken.sort(key=lambda one: one[0][:3])
    await _chain_lines(rows, tenant, [one for one in taken if one[0].what == "event"], sign)
    for line, _ in taken:
        if line.what == "entry":
            level, owner, action, memory_id, version = load(line.change)
            scope = scope_named(tenant, level, owner)
            entry = OutboxEntry(scope=scope, action=action, memory_id=memory_id, version=version)
            await audit_and_outbox.enqueue(rows, entry)
    moved = {line.home for line, _ in taken}
    await rows.put(COLLECTED, [(*home, *places[home]) for home in sorted(moved)])
    await tenant_totals.count(rows, tenant, [each.counted for each in waiting])


async def _empty_journal(rows: RowChange, waiting: _Waiting) -> bool:
    """Remove collected lines from a journal; return True if none is left. The lane row is written in any case, so that
    a writer that has announced a line but not committed it loses the race, starts again and announces it again.
    """
    found = await rows.get(LANE, [waiting.home])
    last, hashed, *place = found[0][3:] if found else (0, "", 0, "")
    if waiting.lines and place[0] < waiting.lines[-1].number:
        await rows.remove(JOURNAL, [(*waiting.home, line.number) for line in waiting.lines])
        place = [waiting.lines[-1].number, waiting.lines[-1].hash]
    await rows.put(LANE, [(*waiting.home, last, hashed, *place)])
    return bool(last == place[0])


async def _chain_lines(rows: RowChange, tenant: str, lines: Sequence[tuple[_Line, bool]], sign: Sign | None) -> None:
    """Append these lines to the tenant's audit log. A line that was altered in its journal breaks the chain at that
    line.
    """
    if not lines:
        return
    end = await rows.get(AUDIT_END, [(tenant,)])
    sequence, previous = end[0][1:] if end else (0, "")
    appended: list[Row] = []
    for taken, whole in lines:
        # A line that was not signed in its journal is not signed here either.
        signs = sign if ":" in taken.hash else None
        sequence, line, hashed = next_line(decode_event(taken.change, ""), sequence, previous, signs)
        # Not repaired: the next line refers to a hash that no line has, so that every later check reports this place.
        previous = hashed if whole else "broken"
        appended.append((tenant, sequence, line, previous))
    await rows.put(AUDIT, appended)
    await rows.put(AUDIT_END, [(tenant, sequence, previous)])
