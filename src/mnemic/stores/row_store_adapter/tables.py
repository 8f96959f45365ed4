"""The tables of a record store over rows, and the rows of the larger ones."""

from __future__ import annotations

from typing import NamedTuple

from mnemic.ports.database_backend import Table


class MemoryRow(NamedTuple):
    """The current version of a memory. `turn` numbers the messages of a session."""

    tenant: str
    level: str
    owner: str
    memory_id: str
    version: int
    kind: str
    status: str
    key: str | None
    fingerprint: str
    body: str
    checksum: int
    vector: bytes | None
    vector_check: int | None
    turn: int | None


class EarlierRow(NamedTuple):
    """A version that was replaced."""

    tenant: str
    memory_id: str
    version: int
    fingerprint: str
    body: str
    checksum: int


class PlaceRow(NamedTuple):
    """The scope of a memory. Those of a tenant sort by creation, as identifiers do."""

    tenant: str
    memory_id: str
    level: str
    owner: str
    kind: str
    status: str
    created_at: int


class OutboxRow(NamedTuple):
    """An entry of the outbox. `taken`: the projections that have taken it, as JSON."""

    sequence: int
    tenant: str
    level: str
    owner: str
    action: str
    memory_id: str
    version: int
    taken: str


MEMORY = Table("memory", MemoryRow._fields[:4], MemoryRow._fields[4:])
EARLIER = Table("memory_version", EarlierRow._fields[:3], EarlierRow._fields[3:])
PLACE = Table("place", PlaceRow._fields[:2], PlaceRow._fields[2:])
OUTBOX = Table("outbox", OutboxRow._fields[:1], OutboxRow._fields[1:])

SCOPE = Table("scope", ("tenant", "level", "owner"), ("changes",))
"""The number of transactions that have changed a scope."""

USAGE = Table("usage", ("tenant", "level", "owner", "kind"), ("memories", "bytes"))
TENANT = Table("tenant", ("tenant",), ("secret", "checksum"))
MARK = Table("mark", ("tenant", "name"), ("value", "checksum"))
REQUEST = Table("request", ("tenant", "idempotency_key"), ("digest", "receipt", "at", "checksum"))
AUDIT = Table("audit", ("tenant", "sequence"), ("event", "hash"))
PROJECTION = Table("projection", ("name",), ())
COUNTER = Table("counter", ("name",), ("last",))
SPACE = Table("space", ("use",), ("model", "dimension"))
"""The vector space in use (`present`), and the one that is being filled (`next`)."""

NEXT_VECTOR = Table("next_vector", ("tenant", "memory_id", "version"), ("vector",))
"""Vectors in the space that is being filled."""
