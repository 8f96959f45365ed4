"""Audit log of a tenant: lines are committed to lanes and merged into one chain when the log is read.

Writers of one lane wait for each other's commits, those of different lanes do not. Each lane is a separate chain; the
tenant's audit chains the lines taken from the lanes, so that both can be verified.
"""

from __future__ import annotations

import zlib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from mnemic.stores.audit_chain import Sign, decode_event, encode_event, follows, link, next_line
from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.rows import LruMapping, columns
from mnemic.stores.postgres.statements import load
from mnemic.types import AuditEvent, OutboxEntry

Ask = Callable[..., Awaitable[list[Any]]]
"""The rows of a statement of `writing.sql`, by name."""

LANES = 256
"""Lanes of a tenant. Two of sixteen users who write at the same time rarely meet in one."""

_MOST = 50_000
"""Maximum cached ends; those of the lanes that were written longest ago are evicted first."""

_PAGE = 500
"""Maximum lines of a lane collected at a time."""

_LANES = load("lanes")


class TenantAppend(NamedTuple):
    """Audit lines and counters that a transaction adds to a tenant. `used`: memories and bytes by kind."""

    events: Sequence[AuditEvent]
    entries: Sequence[OutboxEntry]
    used: Mapping[str, tuple[int, int]]

    @property
    def lane(self) -> int:
        """Lane of the first scope named."""
        scopes = [*(event.scope for event in self.events), *(entry.scope for entry in self.entries)]
        named = next((scope for scope in scopes if scope is not None), None)
        return 0 if named is None else zlib.crc32(f"{named.level.value}\n{named.owner}".encode()) % LANES


class UsageChanges:
    """Changes of the stored amounts of tenants, in one transaction: memories and bytes, by kind."""

    def __init__(self) -> None:
        self.tenants: dict[str, dict[str, tuple[int, int]]] = {}

    def add(self, tenant: str, kind: str, memories: int, size: int) -> None:
        """Add to the stored amount of a kind of a tenant."""
        more = self.tenants.setdefault(tenant, {})
        before = more.get(str(kind), (0, 0))
        more[str(kind)] = (before[0] + memories, before[1] + size)


class AuditAppender:
    """Appends lines and caches the ends of the lanes. As long as no other process writes to the lane, this saves
    reading its end, and its lock is held for one statement instead of three.
    """

    def __init__(self) -> None:
        self._ends: LruMapping[tuple[str, int], tuple[int, str]] = LruMapping(_MOST)

    async def leave(self, ask: Ask, tenant: str, trail: TenantAppend, sign: Sign | None = None) -> None:
        """Write the audit lines, outbox entries and counters of a transaction."""
        if trail.events:
            await self._append(ask, tenant, trail, sign)
            return
        if trail.entries:
            await ask("enqueue", tenant, *entry_columns(trail.entries))
        if trail.used:
            await ask("count_used", tenant, trail.lane, *used_columns(trail.used))

    async def _append(self, ask: Ask, tenant: str, trail: TenantAppend, sign: Sign | None) -> None:
        """Append the lines of a transaction to their lane, with its counters."""
        lane = trail.lane
        known = self._ends.get((tenant, lane))
        # Optimistic: append at the cached end. The statement checks that it is still the end, and locks the lane only
        # while it runs.
        if known is not None and await self._append_at_end(ask, tenant, trail, known, sign):
            return
        end = await ask("lane_end", tenant, lane)
        if not end:
            await ask("make_lane", tenant, lane)
            end = await ask("lane_end", tenant, lane)
        await self._append_at_end(ask, tenant, trail, (end[0]["number"], end[0]["hash"]), sign)

    async def _append_at_end(
        self, ask: Ask, tenant: str, trail: TenantAppend, end: tuple[int, str], sign: Sign | None
    ) -> bool:
        """Append if `end` is still the end of the lane; otherwise write nothing and return False."""
        lane, (number, previous) = trail.lane, end
        lines = []
        for event in trail.events:
            text = encode_event(event)
            number, previous = number + 1, link(previous, text, sign)
            # The lane's own chain: a line that is changed while it waits here is detected before it reaches the
            # tenant's audit.
            lines.append((number, text, previous))
        given = (*columns(lines, 3), number, previous, *entry_columns(trail.entries), *end, *used_columns(trail.used))
        if not await ask("append_trail", tenant, lane, *given):
            return False
        # If the transaction fails after all, this end is wrong, and the next append detects it.
        self._ends.put((tenant, lane), (number, previous))
        return True


def entry_columns(entries: Sequence[OutboxEntry]) -> tuple[Any, ...]:
    """Return the columns of entries of the outbox."""
    rows = [
        (entry.scope.level.value, entry.scope.owner, entry.action, entry.memory_id, entry.version) for entry in entries
    ]
    return tuple(columns(rows, 5))


def used_columns(used: Mapping[str, tuple[int, int]]) -> tuple[Any, ...]:
    """Return the columns of a tenant's counters, in the order in which every transaction locks them."""
    # Sorted, so that two transactions never wait for each other's rows in opposite order.
    return tuple(columns([(kind, *counts) for kind, counts in sorted(used.items())], 3))


async def collect(session: Session, tenant: str, sign: Sign | None) -> None:
    """Merge the lines of the lanes into the tenant's audit, in the order of their times, and delete them from the
    lanes.
    """
    await session.enter(tenant)
    if not await session.fetch(_LANES["journaled"], tenant):
        return
    # Locks the end of the tenant's audit. Writers do not take this lock, so collecting never delays them.
    head = await session.fetch(_LANES["audit_head"], tenant)
    if not head:
        await session.fetch(_LANES["make_audit_head"], tenant)
        head = await session.fetch(_LANES["audit_head"], tenant)
    sequence, previous = head[0]["sequence"], head[0]["hash"]
    more = True
    while more:
        taken, more = _in_order(_by_lane(await session.fetch(_LANES["lines"], tenant, _PAGE), sign))
        lines = []
        for line in taken:
            event = decode_event(line.event, "")
            # A line that was not signed in its lane is not signed here either.
            signs = sign if ":" in line.hash else None
            sequence, text, previous = next_line(event, sequence, previous, signs)
            # A line that was changed in its lane breaks the chain here.
            previous = previous if line.whole else "broken"
            lines.append((sequence, text, previous))
        ends = {line.lane: (line.lane, line.number, line.hash) for line in taken}
        given = (*columns(lines, 3), sequence, previous, *columns([ends[lane] for lane in sorted(ends)], 3))
        await session.fetch(_LANES["take"], tenant, *given)
        await session.fetch(_LANES["drop_taken"], tenant)


async def is_shortened(session: Session, tenant: str, last: tuple[int, str]) -> bool:
    """Check whether lines after the `last` one of the audit are missing: its end is recorded apart from them."""
    ends = await session.fetch(_LANES["audit_end"], tenant)
    return tuple(ends[0] if ends else (0, "")) != last


async def broken_lane(session: Session, tenant: str, sign: Sign | None) -> bool:
    """Check whether a line that waits in a lane does not follow from the one before, or is missing."""
    for lane in await session.fetch(_LANES["ends"], tenant):
        number, previous = lane["collected"], lane["previous"]
        while rows := await session.fetch(_LANES["of_lane"], tenant, lane["lane"], number, _PAGE):
            for row in rows:
                if row["number"] != number + 1 or not follows(row["hash"], previous, row["event"], sign):
                    return True
                number, previous = row["number"], row["hash"]
        if (number, previous) != (lane["number"], lane["hash"]):
            return True
    return False


class _Line(NamedTuple):
    """Line of a lane. `at` never decreases within one; `whole`: it follows from its predecessor."""

    at: int
    lane: int
    number: int
    event: str
    hash: str
    whole: bool


def _by_lane(rows: Sequence[Any], sign: Sign | None) -> Iterator[list[_Line]]:
    for _, page in groupby(rows, key=lambda row: row["lane"]):
        lines: list[_Line] = []
        for row in page:
            number, previous = (lines[-1].number, lines[-1].hash) if lines else (row["collected"], row["previous"])
            # The server's clock may be set back; within a lane the order of numbers is the truth.
            at = max(row["at"], lines[-1].at) if lines else row["at"]
            whole = row["number"] == number + 1 and follows(row["hash"], previous, row["event"], sign)
            lines.append(_Line(at, row["lane"], row["number"], row["event"], row["hash"], whole))
        yield lines


def _in_order(lanes: Iterator[list[_Line]]) -> tuple[list[_Line], bool]:
    """Return the lines in order, and True if there are more: then only the lines before the first unread one."""
    pages = list(lanes)
    # A full page may be continued: lines later than its last one could still be preceded by lines not read yet.
    full = [page[-1].at for page in pages if len(page) == _PAGE]
    lines = sorted((line for page in pages for line in page), key=lambda line: line[:3])
    return [line for line in lines if not full or line.at <= min(full)], bool(full)
