"""Upkeep of buckets: older values of the scope are moved into them, and values that no row names any more are removed.

Each step may be interrupted anywhere: a value that no row names yet does no harm, and a row names a value or has its
columns itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, cast

from mnemic.errors import StoreFailed, StoreUnavailable
from mnemic.ports.database_backend import Row, RowChange, RowReads, RowStore, Table
from mnemic.stores.cassandra.buckets import Buckets, ValueAddress, named_by
from mnemic.stores.cassandra.commit import Commits
from mnemic.stores.cassandra.connection import Connection, Found
from mnemic.stores.cassandra.routing import DROPPED, LARGE, NAMES, SPLIT, Partition
from mnemic.stores.row_store_adapter.tables import EARLIER, MEMORY, MemoryRow

if TYPE_CHECKING:
    from mnemic.stores.cassandra.transaction_view import View


_MOVED_AT_ONCE = 64
"""Rows that are moved in one transaction: they fit one batch."""

_REMOVED_AT_ONCE = 200


class Upkeep:
    """Upkeep of the buckets in a keyspace, through the transactions of `store`."""

    def __init__(self, store: RowStore, buckets: Buckets, commits: Commits) -> None:
        self._store = store
        self._buckets = buckets
        self._partitions = buckets.partitions
        self._commits = commits

    async def step(self, home: Partition) -> bool:
        """Remove dropped values, and move some rows; return True if no row is left to be moved."""
        await self.remove_dropped(home)
        return await self.move_some(home)

    async def tidy(self) -> None:
        """Finish all buckets: move every row, and remove every value that no row names."""
        for home in await self._partitions.split():
            while not await self.step(home):
                pass
            await self.sweep(home)

    async def remove_dropped(self, home: Partition) -> None:
        """Remove the values that committed changes have dropped."""
        while rows := await self._store.read(lambda reads: reads.scan(DROPPED, home, limit=_REMOVED_AT_ONCE)):
            await self._buckets.remove(home, [ValueAddress(bucket, name, size) for *_, name, bucket, size in rows])
            keys = [DROPPED.key_of(row) for row in rows]
            await self._store.transact(lambda change, keys=keys: change.remove(DROPPED, keys))  # type: ignore[misc]

    async def move_some(self, home: Partition) -> bool:
        """Move some rows that have their large columns themselves. Return True if there is nothing more to do now: all
        are moved, or a replica is away and it cannot be known.
        """
        split = await self._store.read(lambda rows: rows.get(SPLIT, [home]))
        if not split or split[0][3] is None:
            return True
        if not await self._store.transact(partial(_move_values, home=home)):
            return False
        # An answer may have lacked a row for a moment, while nodes join or leave: all replicas are asked at the end.
        for table in (MEMORY, EARLIER):
            rows = await self._partitions.every(home, NAMES[table])
            if rows is None:
                return True
            if any(named_by(stored) is None for _, stored in rows):
                await self._store.transact(partial(_note, home=home, moved=""))
                return False
        await self._store.transact(partial(_note, home=home, moved=None))
        return True

    async def sweep(self, home: Partition) -> list[str]:
        """Remove the values that no row names, left by processes that ended or lost a race; return the memories of
        those that had to stay, because a replica is away.

        A value listed before the partition's version is changed can only be named by an earlier commit.
        """
        listed = await self._buckets.values_in_buckets(home, await self._store.read(partial(_number, home=home)))
        if not listed:
            return []
        await self._commits.overtake(home)
        tables = [await self._partitions.every(home, NAMES[table]) for table in LARGE]
        whole = [rows for rows in tables if rows is not None]
        names = {named.name for rows in whole for _, stored in rows if (named := named_by(stored)) is not None}
        left = {named: memory for named, memory in listed.items() if named.name not in names}
        if len(whole) < len(tables):
            return list(left.values())
        await self._buckets.remove(home, left)
        return []


async def _number(rows: RowReads, home: Partition) -> int:
    """Return the number of buckets of a scope."""
    found = await rows.get(SPLIT, [home])
    return len(found[0][4].split(",")) if found and found[0][4] else 0


async def _note(rows: RowChange, home: Partition, moved: str | None) -> None:
    """Record how far a scope is moved."""
    for row in await rows.get(SPLIT, [home]):
        if row[3] != moved:
            await rows.put(SPLIT, [(*home, moved, row[4])])


async def _move_values(rows: RowChange, home: Partition) -> bool:
    """Rewrite some rows so that they name values; return True if there was none."""
    view = cast("View", rows)
    found = await rows.get(SPLIT, [home])
    if not found or found[0][3] is None:
        return True
    after, count = found[0][3], 0
    for row in await rows.scan(MEMORY, home, after=after or None, limit=_MOVED_AT_ONCE):
        memory = MemoryRow(*row)
        count += await _put(view, home, MEMORY, [row])
        if memory.version > 1:
            count += await _put(view, home, EARLIER, await rows.scan(EARLIER, (home.tenant, memory.memory_id)))
        after = memory.memory_id
        if count >= _MOVED_AT_ONCE:
            break
    if after == found[0][3]:
        return True
    await rows.put(SPLIT, [(*home, after, found[0][4])])
    return False


async def _put(view: View, home: Partition, table: Table, rows: Sequence[Row]) -> int:
    """Rewrite those of these rows that have their columns themselves; return their number."""
    here = [row for row in rows if not view.is_moved(home, table, table.key_of(row))]
    await view.put(table, here)
    return len(here)


_COLUMNS = "keyspace_name, columnfamily_name, compacted_at, bytes_in, compaction_properties"
_ABOUT_A_NODE = (
    f"SELECT {_COLUMNS} FROM system.compaction_history",  # noqa: S608 - a constant
    "SELECT keyspace_name, table_name, created_at FROM system_views.snapshots",
    "SELECT oldest FROM system_views.pending_hints",
    "SELECT keyspace_name, table_name, mebibytes FROM system_views.disk_usage",
)
_MAIN = "rows"
_MAJOR = "Major compaction"
_MIN_SPEED = 8 * 1024 * 1024
"""Minimum bytes per second that a compaction reads: a node records when one ended, not when it began, and rows that
were due only after its beginning remain.
"""


class _Files(NamedTuple):
    """The files of one node: the beginning of the last major compaction of each table, the oldest snapshot of each, the
    tables that have files, and whether it stores hints for other nodes.
    """

    compacted: Mapping[str, datetime]
    snapshots: Mapping[str, datetime]
    used: frozenset[str]
    hints: bool

    def may_be_left(self, table: str, due: datetime) -> bool:
        """Check whether rows of a table that were due to be dropped at `due` may be left."""
        began = self.compacted.get(table)
        clean = began is not None and began > due
        older = table in self.snapshots and (began is None or self.snapshots[table] < began)
        # Without files a table may still be in memory and the log, but the memories' own table always has some.
        return older or (not clean and (table == _MAIN or table in self.used))


async def now(link: Connection) -> datetime:
    """Return the time of a node."""
    return _aware((await link.ask("now", ()))[0][0])


async def count_unvacuumed(link: Connection, since: datetime) -> int:
    """Return the number of tables, over all nodes, with files that may still contain rows removed by `since`."""
    dues = {table: since + timedelta(seconds=grace) for table, grace in await link.ask("graces", (link.keyspace,))}
    try:
        nodes = [_files(link.keyspace, *found) for found in await link.of_each_node(_ABOUT_A_NODE)]
    except (StoreFailed, StoreUnavailable):  # a node is away, or no Cassandra answers: nothing is known
        return len(dues)
    return sum(node.hints + sum(node.may_be_left(table, due) for table, due in dues.items()) for node in nodes)


def _files(keyspace: str, compacted: Found, snapshots: Found, hints: Found, used: Found) -> _Files:
    began: dict[str, datetime] = {}
    for inside, table, ended, size, properties in compacted:
        if inside == keyspace and dict(properties or {}).get("compaction_type") == _MAJOR:
            at = _aware(ended) - timedelta(seconds=size / _MIN_SPEED)
            began[table] = max(at, began.get(table, at))
    oldest: dict[str, datetime] = {}
    for inside, table, created in snapshots:
        if inside == keyspace:
            oldest[table] = min(_aware(created), oldest.get(table, _aware(created)))
    return _Files(
        began, oldest, frozenset(table for inside, table, size in used if inside == keyspace and size), bool(hints)
    )


def _aware(moment: datetime) -> datetime:
    return moment.replace(tzinfo=UTC)
