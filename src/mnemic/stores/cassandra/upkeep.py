"""Removed rows in the files of the nodes: whether compactions have dropped them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from mnemic.errors import StoreFailed, StoreUnavailable
from mnemic.stores.cassandra.connection import Connection, Found

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
