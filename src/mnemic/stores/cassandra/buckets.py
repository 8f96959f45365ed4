"""Buckets of large scopes: the large columns of their rows, stored outside the partition that contains the rows.

A value is written plainly, once, under a name that is never used again, before a row of the scope's partition names it.
So a commit stays one lightweight transaction on one partition, and a reader of a row finds its value or knows that it
was removed. Values that no row names any more are removed later (`mnemic.stores.cassandra.upkeep`).
"""

from __future__ import annotations

import secrets
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from mnemic.errors import MnemicError, StoreBusy, StoreFailed, StoreUnavailable
from mnemic.ports.database_backend import Row, Table
from mnemic.stores.cassandra.connection import some_at_once
from mnemic.stores.cassandra.encoding import pack_row, sortable_key, unpack_row
from mnemic.stores.cassandra.partitions import Partitions, Written, beyond_clocks
from mnemic.stores.cassandra.routing import DROPPED, LARGE, NAMES, SPLIT, Partition, width_of
from mnemic.stores.cassandra.schema import VECTOR_STATEMENTS, VECTORS
from mnemic.stores.codec import load
from mnemic.stores.row_store_adapter.tables import MEMORY, USAGE

if TYPE_CHECKING:
    from mnemic.stores.cassandra.transaction_view import View

_NAMED = b"@"
"""The first byte of a row that names a value; the rows of `packed` begin with a letter."""

_TOGETHER = 64
"""Values that are read by one question."""

_AT_ONCE = 8

_ABSENT = {"body": "", "vector": None}
"""Columns of a row that has lost its value: its checksums show the damage."""

MAX_NOMINATED = 1000
"""Maximum number of nearest vectors that a server returns."""

Place = tuple[str, bytes]
"""The name of a table in a partition, and a key."""


class ValueAddress(NamedTuple):
    """The place of a value: its bucket, its name, and the dimension of its vector, which is 0 if it has none."""

    bucket: int
    name: str
    dimension: int


class Value(NamedTuple):
    """A value to be written."""

    home: Partition
    named: ValueAddress
    memory: str
    data: bytes
    vector: bytes


class BucketPlan(NamedTuple):
    """The rows that a commit writes in a partition, the values that it writes first, and two flags: the commit gives
    the scope its buckets, the commit drops values.
    """

    rows: list[Written]
    values: list[Value]
    begins: bool = False
    drops: bool = False


def named_by(stored: bytes) -> ValueAddress | None:
    """Return the place of the value that a stored row names; None if it has its columns itself."""
    return ValueAddress(*unpack_row(stored[1:])[:3]) if stored.startswith(_NAMED) else None


def memories_in(view: View, home: Partition) -> int:
    """Return the number of memories of a scope, with the changes of a view."""
    counted = {
        key: unpack_row(value)[1] for (name, key), value in view.heads[home].small.items() if name == NAMES[USAGE]
    }
    for (table, key), row in view.changes[home].items():
        if table == USAGE and row is not None:
            counted[sortable_key(key[width_of(USAGE) :])] = row[4]
    return sum(counted.values())


class Buckets:
    """Buckets of the scopes of more than `above` memories, each of about `size` values."""

    def __init__(self, partitions: Partitions, *, above: int, size: int) -> None:
        self.partitions = partitions
        self._link = partitions.link
        self._above, self._size = above, size

    async def plan(self, view: View, home: Partition) -> BucketPlan:
        """Return the plan of a commit for a partition."""
        changes = view.changes[home]
        split = view.small(SPLIT, home)
        begins = split is None and home.level not in ("", "audit") and memories_in(view, home) > self._above
        if split is None and not begins:
            return BucketPlan([_written_row(table, key, row) for (table, key), row in changes.items()], [])
        moved, filled = split[3:] if split is not None else ("", "")
        old = await view.names_of(home, [each for each in changes if each[0] in LARGE])
        dropped = [named for named in old.values() if named is not None]
        counts = [int(count) for count in filled.split(",") if count]
        for named in dropped:
            counts[named.bucket] -= 1
        rows, values = [], []
        for (table, key), row in changes.items():
            if row is not None and table in LARGE:
                values.append(self._value(home, table, row, counts))
                rows.append(_naming(table, key, row, values[-1].named))
            elif table != SPLIT:
                rows.append(_written_row(table, key, row))
        for bucket, name, dimension in dropped:
            rows.append(_written_row(DROPPED, (*home, name), (*home, name, bucket, dimension)))
        rows.append(_written_row(SPLIT, home, (*home, moved, ",".join(map(str, counts)))))
        return BucketPlan(rows, values, begins, bool(dropped))

    def _value(self, home: Partition, table: Table, row: Row, counts: list[int]) -> Value:
        """Return the value of a row, in the bucket with the most room."""
        if not counts or min(counts) >= self._size:
            counts.append(0)
        bucket = counts.index(min(counts))
        counts[bucket] += 1
        large = [row[at] for at in _large_columns(table)]
        vector = large[1] if table == MEMORY and large[1] and not _is_sealed(large[0]) else b""
        named = ValueAddress(bucket, secrets.token_hex(12), len(vector) // 4)
        return Value(home, named, row[table.key.index("memory_id")], pack_row(tuple(large)), vector)

    async def store(self, plans: Mapping[Partition, BucketPlan]) -> None:
        """Write the values of these plans, and list the scopes that get their buckets."""
        begun = [home for home, plan in plans.items() if plan.begins]
        await self._link.write(
            [("split", (*self.partitions.shard(home.tenant), home.level, home.owner)) for home in begun]
        )
        for dimension in {value.named.dimension for plan in plans.values() for value in plan.values} - {0}:
            await self.searches(dimension)
        puts = (partial(self._put, value) for plan in plans.values() for value in plan.values)
        await some_at_once(puts, most=_AT_ONCE)

    async def _put(self, value: Value) -> None:
        # The value is written before its vector and removed after it: so every vector has a listed value.
        place, (bucket, name, dimension) = self.partitions.key(value.home), value.named
        await self._link.ask("value_put", (*place, bucket, name, value.memory, dimension, value.data))
        if dimension and await self.searches(dimension):
            vector = array("f", value.vector).tolist()
            await self._link.ask(f"vector_put_{dimension}", (*place, bucket, name, value.memory, vector))

    async def remove(self, home: Partition, names: Iterable[ValueAddress]) -> None:
        """Remove values."""
        await some_at_once((partial(self._remove, home, named) for named in names), most=_AT_ONCE)

    async def _remove(self, home: Partition, named: ValueAddress) -> None:
        bucket, name, dimension = named
        place = (beyond_clocks(), *self.partitions.key(home), bucket, name)
        if dimension and await self.searches(dimension):
            await self._link.ask(f"vector_remove_{dimension}", place)
        await self._link.ask("value_remove", place)

    async def values(
        self, home: Partition, names: Collection[ValueAddress], *, of_all: bool = False
    ) -> dict[str, bytes]:
        """Return the given values that exist, by name."""
        asked: defaultdict[int, list[str]] = defaultdict(list)
        for bucket, name, _ in names:
            asked[bucket].append(name)
        asks = (
            partial(self._link.ask, "values", (*self.partitions.key(home), bucket, some), of_all=of_all)
            for bucket, wanted in asked.items()
            for some in (wanted[first : first + _TOGETHER] for first in range(0, len(wanted), _TOGETHER))
        )
        return dict(chain.from_iterable(await some_at_once(asks, most=_AT_ONCE)))

    async def values_in_buckets(self, home: Partition, buckets: int) -> dict[ValueAddress, str]:
        """Return the values in the buckets of a scope, with their memories. A writer that lost a race may have left
        some in buckets behind the last.
        """
        found: dict[ValueAddress, str] = {}
        for bucket in range(2**31):
            rows = await self._link.ask("value_names", (*self.partitions.key(home), bucket))
            if not rows and bucket >= buckets:
                break
            found |= {ValueAddress(bucket, name, dimension): memory for name, memory, dimension in rows}
        return found

    async def nearest_in_buckets(self, home: Partition, buckets: int, vector: bytes, limit: int) -> set[str] | None:
        """Return the memories with the nearest vectors in each bucket; None if the cluster has no vector index."""
        dimension = len(vector) // 4
        wanted = array("f", vector).tolist()
        try:
            if not await self.searches(dimension):
                return None
            # A server answers such a query from one replica; vectors missing there are not nominated.
            statement, place = f"nearest_{dimension}", self.partitions.key(home)
            asks = (
                partial(self._link.ask, statement, (*place, bucket, wanted, limit), of_one=True)
                for bucket in range(buckets)
            )
            found = await some_at_once(asks, most=_AT_ONCE)
        except (StoreBusy, StoreFailed, StoreUnavailable):
            return None
        return {row[0] for rows in found for row in rows}

    async def searches(self, dimension: int) -> bool:
        """Check whether the cluster indexes vectors of this dimension, and create the table if it is missing."""
        texts = [text.format(keyspace=self._link.keyspace, dimension=dimension) for text in VECTORS]
        statements = {
            name.format(dimension=dimension): text.format(dimension=dimension)
            for name, text in VECTOR_STATEMENTS.items()
        }
        return await self._link.extend(f"vectors_{dimension}", texts, statements)


def complete_row(table: Table, stored: bytes, values: Mapping[str, bytes]) -> Row:
    """Return a row without the columns of its partition, with its large columns from its value."""
    named = named_by(stored)
    if named is None:
        return unpack_row(stored)
    row = list(unpack_row(stored[1:])[3:])
    value = values.get(named.name)
    large = [_ABSENT[column] for column in LARGE[table]] if value is None else unpack_row(value)
    for at, column in zip(_large_columns(table), large, strict=True):
        row[at - width_of(table)] = column
    return tuple(row)


def _written_row(table: Table, key: Row, row: Row | None) -> Written:
    width = width_of(table)
    return NAMES[table], sortable_key(key[width:]), None if row is None else pack_row(row[width:])


def _naming(table: Table, key: Row, row: Row, named: ValueAddress) -> Written:
    """Return a row that names the value of its large columns."""
    small = list(row)
    for at in _large_columns(table):
        small[at] = None
    width = width_of(table)
    return NAMES[table], sortable_key(key[width:]), _NAMED + pack_row((*named, *small[width:]))


def _large_columns(table: Table) -> list[int]:
    """Return the numbers of the large columns."""
    columns = table.key + table.columns
    return [columns.index(name) for name in LARGE[table]]


def _is_sealed(body: str) -> bool:
    try:
        return "sealed" in load(body)
    except (MnemicError, TypeError, ValueError):
        return True
