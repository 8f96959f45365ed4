"""Usage of a whole tenant: a total beside the end of its audit, updated by the collection of the journals.

Each scope has a record of its last count and the partition version of that count. A collection replaces it, and adds
the difference to the total: a scope that is counted twice, or by two collectors at once, is in the total once. Scopes
whose journals have lines that are not collected yet are counted on top of it as they are. Each commit that changes the
usage of a scope has a line in its journal, which finds every change missing in the total.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from mnemic.ports.database_backend import RowChange, RowReads, RowStore
from mnemic.stores.audit_chain import link
from mnemic.stores.cassandra.connection import some_at_once
from mnemic.stores.cassandra.encoding import pack_row, unpack_row
from mnemic.stores.cassandra.partitions import Partitions
from mnemic.stores.cassandra.routing import COUNTED, COUNTING, JOURNAL, LANE, LATEST, TOTAL, Partition, of_tenant
from mnemic.stores.cassandra.transaction_view import PartitionChanged
from mnemic.stores.codec import moment_of
from mnemic.stores.row_store_adapter import transaction
from mnemic.stores.row_store_adapter.tables import PLACE, USAGE, PlaceRow
from mnemic.types import Kind, Usage
from mnemic.types.scope import first_id

if TYPE_CHECKING:
    from mnemic.stores.cassandra.transaction_view import View

MAX_UNCOLLECTED = 16
"""Maximum number of scopes counted on top of a total; beyond it, a query for the usage collects first."""

MAX_COLLECTED = 64
"""Scopes that it collects then. Further ones are counted on top for a while, so that no caller waits for all."""

MAX_COUNTED = 256
"""Maximum scopes of a tenant without a total that a usage query counts; larger tenants wait for `mnemic maintain`."""

_RECENT = timedelta(minutes=2)
"""The time for which new memories are listed with their scope: a minute, which quotas ask for, and one for clocks."""

_MAX_LISTED = 100
"""Maximum new memories listed with a scope; if there are more, its partition is queried."""

_AT_ONCE = 16


class ScopeTotals(NamedTuple):
    """A scope as of a version of its partition: usage by kind, newest identifier, and new memories (those behind
    `floor`); None if they are too many.
    """

    home: Partition
    version: int
    usage: bytes
    newest: str | None
    floor: str
    recent: bytes | None

    @property
    def place(self) -> str | None:
        """Return the key of its row among the newest of the tenant, sorted by identifier."""
        return None if self.newest is None else f"{self.newest} {self.home.level} {self.home.owner}"


def with_lines(view: View) -> None:
    """Add a journal line to each scope without one, if a view changes its usage."""
    for home, changes in view.changes.items():
        tables = {table for table, _ in changes}
        lines = any(table == JOURNAL and row is not None for (table, _), row in changes.items())
        if tables & {USAGE, PLACE} and not lines:
            found = view.small(LANE, home)
            last, previous, *collected = found[3:] if found is not None else (0, "", 0, "")
            hashed = link(previous, "")
            changes[JOURNAL, (*home, last + 1)] = (*home, last + 1, time.time_ns() // 1000, "usage", "", hashed)
            changes[LANE, home] = (*home, last + 1, hashed, *collected)


async def scope_totals(rows: RowReads, home: Partition) -> ScopeTotals | None:
    """Return the present state of a scope; None if nothing was ever written there."""
    view = cast("View", rows)
    used = await view.scan_at([home], USAGE)
    version = view.heads[home].version
    if not home.level or version is None:
        return None
    floor = first_id(datetime.now(UTC) - _RECENT)
    newest = [PlaceRow(*row) for row in await view.scan_at([home], PLACE, limit=_MAX_LISTED + 1, reverse=True)]
    recent = [place for place in newest if place.memory_id > floor]
    return ScopeTotals(
        home,
        version,
        pack_row(tuple(value for *_, kind, memories, size in used for value in (kind, memories, size))),
        newest[0].memory_id if newest else None,
        floor,
        pack_row(tuple(value for one in recent for value in (one.memory_id, one.kind, one.created_at)))
        if len(recent) <= _MAX_LISTED
        else None,
    )


async def count(rows: RowChange, tenant: str, counts: Iterable[ScopeTotals | None]) -> None:
    """Update the total of a tenant by scopes as they were read."""
    wanted = [one for one in counts if one is not None]
    if not wanted:
        return
    begun = await rows.get(COUNTING, [(tenant,)])
    known = await _known_totals(rows, tenant, [one.home for one in wanted], begun=bool(begun))
    newer = [one for one in wanted if one.version > known.get(one.home, (0,))[0]]
    if not newer:
        return
    total = await _total(rows, tenant)
    for one in newer:
        if one.home in known:
            _add(total, known[one.home][2], -1)
        _add(total, one.usage, 1)
    old = (known[one.home][1] for one in newer if one.home in known)
    await rows.remove(LATEST, [(tenant, place) for place in old if place is not None])
    latest = [(tenant, one.place, *one.home[1:], one.floor, one.recent) for one in newer if one.place is not None]
    await rows.put(LATEST, latest)
    await rows.put(COUNTED, [(*one.home, one.version, one.place, one.usage) for one in newer])
    await rows.put(TOTAL, [(tenant, kind, *counts) for kind, counts in total.items()])
    if not begun:
        await rows.put(COUNTED, [(*of_tenant(tenant), 0, None, b"")])
        await rows.put(COUNTING, [(tenant, 0)])


async def begin(store: RowStore, partitions: Partitions, tenant: str, *, most: int | None = None) -> None:
    """Count all scopes of a tenant that has no total yet, unless they are more than `most`. After an interruption the
    next call starts again: counting a scope twice adds nothing.
    """
    if await store.read(partial(_is_whole, tenant=tenant)):
        return
    # Later writes have a line in their journal, and are counted from there.
    homes = [home for home in await partitions.partitions_of_tenant(tenant) if home.level]
    if most is not None and len(homes) > most:
        return
    for first in range(0, len(homes), _AT_ONCE):
        asks = [partial(store.read, partial(scope_totals, home=home)) for home in homes[first : first + _AT_ONCE]]
        counts = await some_at_once(asks, most=_AT_ONCE)
        await store.transact(partial(count, tenant=tenant, counts=counts))
    await store.transact(partial(_note_whole, tenant=tenant))


async def usage(rows: RowReads, tenant: str, since: datetime) -> dict[Kind, Usage]:
    """Return the port's `usage` of a whole tenant, by its total if it has one."""
    view = cast("View", rows)
    # Journals first: lines that leave them after this are in the total that is read then.
    on_top = await view.uncounted_scopes(tenant)
    if not await _is_whole(rows, tenant):
        return await transaction.usage(rows, tenant, since, None)
    total = await _total(rows, tenant)
    for _, _, before in (await _known_totals(rows, tenant, on_top, begun=True)).values():
        _add(total, before, -1)
    used = await view.scan_at(on_top, USAGE)
    _add(total, pack_row(tuple(value for *_, kind, memories, size in used for value in (kind, memories, size))), 1)
    recent = await _recent(view, tenant, since, on_top)
    return {Kind(kind): Usage(memories, size, recent[kind]) for kind, (memories, size) in total.items() if memories}


async def _recent(view: View, tenant: str, since: datetime, on_top: Sequence[Partition]) -> Counter[str]:
    """Return the numbers of memories since a moment, by kind."""
    first, asked, recent = first_id(since), list(on_top), Counter[str]()

    def add(memory_id: str, kind: str, created_at: int) -> None:
        if memory_id > first and moment_of(created_at) >= since:
            recent[kind] += 1

    for _, _, level, owner, floor, listed in await view.scan(LATEST, (tenant,), after=first):
        if (home := Partition(tenant, level, owner)) in on_top:
            continue
        if listed is None or first < floor:
            asked.append(home)
        else:
            _each(listed, add)
    for row in await view.scan_at(asked, PLACE, after=first):
        place = PlaceRow(*row)
        add(place.memory_id, place.kind, place.created_at)
    return recent


async def _known_totals(
    rows: RowReads, tenant: str, homes: Sequence[Partition], *, begun: bool
) -> dict[Partition, tuple[int, str | None, bytes]]:
    """Return the last counts of these scopes: version, place among the newest, usage. Raises PartitionChanged if an
    answer lacks the row that always exists: while nodes join or leave, an answer may lack rows for a moment, and a
    scope that seems uncounted would be in the total twice.
    """
    found = {Partition(*row[:3]): row[3:] for row in await rows.get(COUNTED, [of_tenant(tenant), *homes])}
    if begun and found.pop(of_tenant(tenant), None) is None:
        raise PartitionChanged
    return cast("dict[Partition, tuple[int, str | None, bytes]]", found)


async def _total(rows: RowReads, tenant: str) -> dict[str, tuple[int, int]]:
    return {kind: (memories, size) for _, kind, memories, size in await rows.scan(TOTAL, (tenant,))}


async def _is_whole(rows: RowReads, tenant: str) -> bool:
    found = await rows.get(COUNTING, [(tenant,)])
    return bool(found and found[0][1])


async def _note_whole(rows: RowChange, tenant: str) -> None:
    await rows.put(COUNTED, [(*of_tenant(tenant), 0, None, b"")])
    await rows.put(COUNTING, [(tenant, 1)])


def _add(total: dict[str, tuple[int, int]], used: bytes, by: int) -> None:
    def add(kind: str, memories: int, size: int) -> None:
        before = total.get(kind, (0, 0))
        total[kind] = before[0] + by * memories, before[1] + by * size

    _each(used, add)


def _each(listed: bytes, take: Callable[..., None]) -> None:
    """Call `take` with every three values of a packed list."""
    values: Iterator[object] = iter(unpack_row(listed))
    for three in zip(values, values, values, strict=True):
        take(*three)
