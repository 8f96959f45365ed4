"""Partitions of rows. Everything that a write touches is in the partition of its scope."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import NamedTuple

from mnemic.ports.database_backend import Row, Table
from mnemic.stores.row_store_adapter.tables import (
    AUDIT,
    COUNTER,
    EARLIER,
    MARK,
    MEMORY,
    NEXT_VECTOR,
    OUTBOX,
    PLACE,
    PROJECTION,
    REQUEST,
    SCOPE,
    SPACE,
    TENANT,
    USAGE,
)


class Partition(NamedTuple):
    """The key of a partition: a scope, or with an empty level the tenant's rows outside its scopes."""

    tenant: str
    level: str
    owner: str


EVERYWHERE = Partition("", "", "")
"""The partition of rows that belong to no tenant."""

JOURNAL = Table("journal", ("tenant", "level", "owner", "number"), ("at", "what", "told", "hash"))
"""Lines of the audit and entries of the outbox as they were committed, until they are collected: see `what`."""

LANE = Table("lane", ("tenant", "level", "owner"), ("last", "hash", "collected", "collected_hash"))
"""The end of the journal of a partition, and how far it has been collected."""

AUDIT_END = Table("audit_end", ("tenant",), ("last", "hash"))
"""The end of a tenant's audit."""

COLLECTED = Table("collected", ("tenant", "level", "owner"), ("number", "hash"))
"""The place up to which the journal of a partition is in the tenant's audit. It is stored next to the end of that audit
log, so that collecting a journal changes no partition that others write to before the lines are in the audit log.
"""

COUNTED = Table("counted", ("tenant", "level", "owner"), ("version", "place", "usage"))
"""The usage of a scope as counted in the total of its tenant, the partition version of that count, and its place among
the newest. A tenant that was ever counted has a row without level and owner, too.
"""

COUNTING = Table("counting", ("tenant",), ("whole",))
"""State of the total of a tenant: it includes all scopes (1), or is incomplete (0)."""

LATEST = Table("latest", ("tenant", "place"), ("level", "owner", "floor", "recent"))
"""The scopes of a tenant by their newest memories, and those memories of each that were new when it was counted."""

TOTAL = Table("total", ("tenant", "kind"), ("memories", "bytes"))
"""The usage of a tenant as far as it is counted."""

CHANGED = Table("changed", ("tenant", "level", "owner"), ("floor", "recent"))
"""The memories changed last in a scope: change count and identifier of each, as far back as the change count `floor`,
which is left out. A process that knows the scope as it was then reads these alone.
"""

PASSING = Table("passing", ("tenant",), ("change",))
"""The last change of a tenant's marks. Until the announced scopes have got other versions, writers may miss it."""

MARKED = Table("marked", ("tenant",), ("bits",))
"""A set of the paths under which a tenant ever had a mark: a bit of each (`bit_of_path`). Most users have none, and who
knows that asks for none.
"""

_BITS = 1024

AUDIT_BUCKET = 4096
"""Lines of an audit in one partition."""

NAMES = {
    CHANGED: "a.changed",
    COUNTER: "a.counter",
    COUNTING: "a.counting",
    AUDIT_END: "a.end",
    LANE: "a.lane",
    MARKED: "a.marked",
    PASSING: "a.passing",
    PROJECTION: "a.projection",
    SCOPE: "a.scope",
    SPACE: "a.space",
    TENANT: "a.tenant",
    TOTAL: "a.total",
    USAGE: "a.usage",
    AUDIT: "audit",
    COLLECTED: "collected",
    COUNTED: "counted",
    EARLIER: "earlier",
    JOURNAL: "journal",
    LATEST: "latest",
    MARK: "mark",
    MEMORY: "memory",
    NEXT_VECTOR: "next",
    OUTBOX: "outbox",
    PLACE: "place",
    REQUEST: "request",
}
"""The name of each table in a partition. The small ones begin with `a.`: they are read with the version."""

SMALL = frozenset(table for table, name in NAMES.items() if name.startswith("a."))

_OF_SCOPE = frozenset({CHANGED, MEMORY, SCOPE, USAGE, JOURNAL, LANE})
_OF_TENANT = frozenset({MARK, MARKED, PASSING, TENANT})
_OF_AUDIT_END = frozenset({AUDIT_END, COLLECTED, COUNTED, COUNTING, LATEST, TOTAL})
_OF_NOBODY = frozenset({COUNTER, OUTBOX, PROJECTION, SPACE})
OF_MEMORY = frozenset({EARLIER, NEXT_VECTOR, PLACE})
"""Tables whose keys name a memory and not its scope. Their rows are in the partition of the memory."""


def bit_of_path(name: str) -> int:
    """Return the bit of the path of a mark: its first two parts (`subject/ana`)."""
    path = "/".join(name.split("/", 2)[:2])
    return 1 << zlib.crc32(path.encode("utf-8", "surrogatepass")) % _BITS


def with_paths(bits: bytes, names: Iterable[str]) -> bytes:
    """Return a set of paths with those of these marks."""
    value = int.from_bytes(bits, "big")
    for name in names:
        value |= bit_of_path(name)
    return value.to_bytes(_BITS // 8, "big")


def of_tenant(tenant: str) -> Partition:
    """Return the partition of a tenant's rows outside its scopes."""
    return Partition(tenant, "", "")


def of_audit(tenant: str, sequence: int) -> Partition:
    """Return the partition of a line of the audit."""
    return Partition(tenant, "audit", f"{sequence // AUDIT_BUCKET}")


def partition_of(table: Table, key: Row) -> Partition | None:
    """Return the partition of the rows with keys that begin with `key`; None if the key does not determine it."""
    if table in _OF_NOBODY:
        return EVERYWHERE
    if not key:
        return None
    if table in _OF_TENANT:
        return of_tenant(key[0])
    if table in _OF_AUDIT_END:
        return Partition(key[0], "audit", "end")
    if table in _OF_SCOPE and len(key) >= 3:
        return Partition(*key[:3])
    if table == REQUEST and len(key) == 2:
        # A user's idempotency key is `owner:key`: the receipt is committed in the partition of the user's memories.
        owner = key[1].rpartition(":")[0]
        return Partition(key[0], "user", owner) if owner else of_tenant(key[0])
    if table == AUDIT and len(key) == 2:
        return of_audit(*key)
    return None


_KEPT_BY_PARTITION = dict.fromkeys(_OF_SCOPE, 3) | dict.fromkeys(_OF_NOBODY, 0)


def width_of(table: Table) -> int:
    """Return the number of key columns that the partition determines, so that no row repeats them."""
    return _KEPT_BY_PARTITION.get(table, 1)
