"""The record store on Cassandra: the layer over rows, with the trail of a change kept beside what it changed."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from mnemic.ports import Keyring
from mnemic.stores.audit_format import encode_event
from mnemic.stores.layered import LayeredStore
from mnemic.stores.layered.memories import Scopes, place_of
from mnemic.stores.layered.tables import AUDIT
from mnemic.stores.layered.transaction import LayeredTransaction
from mnemic.types import AuditEvent, Memory, OutboxEntry, Scope
from mnemic_cassandra import journal, removed_data
from mnemic_cassandra.address import Address
from mnemic_cassandra.routing import NAMES, Partition, of_audit, of_tenant
from mnemic_cassandra.rows import CassandraRows
from mnemic_cassandra.view import View
from mnemic_language.text.bm25 import Bm25

if TYPE_CHECKING:
    from mnemic.ports.row_store import RowChange


class CassandraTransaction(LayeredTransaction):
    """A transaction whose lines of the audit and entries of the outbox lie in the partition that it changes."""

    def __init__(self, rows: RowChange, scopes: Scopes) -> None:
        super().__init__(rows, scopes)
        assert isinstance(rows, View)
        self._view = rows

    async def insert(self, memory: Memory) -> None:
        self._lies(memory.memory_id, memory.scope)
        await super().insert(memory)

    async def replace(self, memory: Memory) -> None:
        self._lies(memory.memory_id, memory.scope)
        await super().replace(memory)

    async def remove(self, memory_id: str, *, scope: Scope) -> bool:
        self._lies(memory_id, scope)
        return await super().remove(memory_id, scope=scope)

    async def append_audit(self, event: AuditEvent) -> None:
        encode_event(event)
        await journal.note_event(self._rows, self._home(event.tenant, event.scope), event)

    async def enqueue(self, entry: OutboxEntry) -> None:
        await journal.note_entry(self._rows, self._home(entry.scope.tenant, entry.scope), entry)

    def _lies(self, memory_id: str, scope: Scope) -> None:
        """Cache the partition of a memory, so that later reads need not search every partition of the tenant."""
        self._view.homes[scope.tenant, memory_id] = Partition(*place_of(scope))

    def _home(self, tenant: str, scope: Scope | None) -> Partition:
        """Return a partition of the tenant that this changes anyway; else that of the scope, or of the tenant."""
        changed = [home for home, changes in self._view.changes.items() if changes and home.tenant == tenant]
        named = of_tenant(tenant) if scope is None else Partition(*place_of(scope))
        return named if named in changed or not changed else changed[0]


class CassandraStore(LayeredStore):
    """A `RecordStore` in the keyspace at `location` (`cassandra://host1,host2/keyspace`) for many processes.

    `open` makes keyspace and tables where they are missing. `durability` changes nothing: when a commit is on their
    disks is a setting of the nodes (`commitlog_sync`). With a `keyring` sealed memories are opened; where it `seals`
    too, what is written is sealed with the data key of its subject.
    """

    _transaction = CassandraTransaction

    def __init__(
        self,
        location: str,
        *,
        durability: Literal["durable", "fast"] = "durable",
        bm25: Bm25 | None = None,
        keyring: Keyring | None = None,
        seals: bool = False,
    ) -> None:
        self._database = CassandraRows(Address.of(location))
        super().__init__(self._database, bm25=bm25, keyring=keyring, seals=seals)

    async def traces(self, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]) -> dict[str, int]:
        await self._collect(tenant)
        return await super().traces(tenant, memory_ids, fingerprints)

    async def audit(
        self, tenant: str, *, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> list[AuditEvent]:
        await self._collect(tenant)
        return await super().audit(tenant, after=after, before=before, limit=limit)

    async def broken_audit(self, tenant: str) -> tuple[int, int | None, str]:
        await self._collect(tenant)
        found = await super().broken_audit(tenant)
        if found[1] is None:
            return found
        # While nodes join or leave, an answer may lack lines for a moment: every replica is asked before it counts.
        for bucket in {of_audit(tenant, found[1] - 1), of_audit(tenant, found[1])}:
            await self._database.partitions.repair(bucket, NAMES[AUDIT])
        return await super().broken_audit(tenant)

    async def pending(self, *, projection: str | None = None, limit: int = 100) -> list[OutboxEntry]:
        await self._collect(None)
        return await super().pending(projection=projection, limit=limit)

    async def unregister(self, projection: str) -> None:
        await self._collect(None)
        await super().unregister(projection)

    async def projections(self) -> dict[str, int]:
        await self._collect(None)
        return await super().projections()

    async def tidy(self, *, whole: bool = False) -> int:
        await self._collect(None)
        return await super().tidy(whole=whole)

    async def vacuum(self) -> datetime:
        """Return the time of a node. Nothing is asked of it: operators compact, once `gc_grace_seconds` are over."""
        return await removed_data.now(self._database.link)

    async def unvacuumed(self, since: datetime) -> int:
        return await removed_data.unvacuumed(self._database.link, since)

    async def _collect(self, tenant: str | None) -> None:
        await journal.collect(self._ready, self._database.partitions, tenant, self._sealer.sign)
