"""The record store on Cassandra: the layer over rows, with the trail of a change stored beside the changed rows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast
from weakref import WeakValueDictionary

from mnemic.errors import CommitUnknown, MnemicError, StoreBusy, VersionConflict
from mnemic.ports import Keyring
from mnemic.ports.database_backend import RowChange, RowReads
from mnemic.stores.audit_chain import encode_event
from mnemic.stores.cassandra import journal, tenant_totals, upkeep
from mnemic.stores.cassandra.commit import Commits
from mnemic.stores.cassandra.connection import Address, Connection, pause
from mnemic.stores.cassandra.partitions import Partitions
from mnemic.stores.cassandra.routing import EVERYWHERE, NAMES, Partition, of_audit, of_tenant
from mnemic.stores.cassandra.transaction_view import PartitionChanged, UnansweredTransaction, View
from mnemic.stores.in_memory_reads import StoredMemories
from mnemic.stores.row_store_adapter import LayeredStore, auxiliary_records
from mnemic.stores.row_store_adapter.memories import ScopeCache, place_of
from mnemic.stores.row_store_adapter.store import LayeredSnapshot
from mnemic.stores.row_store_adapter.tables import AUDIT, PROJECTION
from mnemic.stores.row_store_adapter.transaction import LayeredTransaction
from mnemic.stores.store_verbs import Step, drive
from mnemic.types import (
    AuditEvent,
    Deadline,
    Kind,
    Memory,
    OutboxEntry,
    Scope,
    Scored,
    Usage,
    Vector,
    VectorSpace,
    Where,
)
from mnemic.types.store_reads import Capabilities

if TYPE_CHECKING:
    from mnemic.ports.database_backend import RowChange, RowReads


T = TypeVar("T")
U = TypeVar("U")

_LIMIT = 20.0
"""Seconds for which a transaction without a deadline is tried."""

_MAX_SECRETS = 10_000


class CassandraRows:
    """A `RowStore` in a keyspace. Transactions read without locks, and run again if the rows read have changed."""

    def __init__(self, address: Address) -> None:
        self.link = Connection(address)
        self.partitions = Partitions(self.link, address.prefix)
        self._commits = Commits(self.partitions)
        self._turns: WeakValueDictionary[tuple[int, Partition], asyncio.Lock] = WeakValueDictionary()

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(name="cassandra", durable=self.link.durable, shared=True, collects=True, reads_marks=True)

    async def open(self) -> None:
        await self.link.open()

    async def close(self) -> None:
        await self.link.close()

    async def transact(self, work: Callable[[RowChange], Awaitable[T]], *, deadline: Deadline | None = None) -> T:
        return await self._repeat_work(work, _LIMIT if deadline is None else deadline.remaining(), recalls=True)

    async def read(self, work: Callable[[RowReads], Awaitable[T]]) -> T:
        return await self._repeat_work(work, _LIMIT)

    async def know(self, home: Partition) -> None:
        """Read what every write to a scope begins with, unless this process knows it."""
        if not self.partitions.knows_marks(home):
            await self._commits.prepare_beside(home, await self._commits.prepare(home))

    def read_ahead(self, home: Partition) -> Awaitable[object]:
        """Read what the next write of this task begins with, beside another question."""
        return self._commits.read_ahead(home)

    async def read_before_write(
        self,
        of_scope: Callable[[RowReads], Awaitable[T]],
        beside: Callable[[RowReads], Awaitable[U]],
        home: Partition,
        path: str,
        request: str | None,
    ) -> tuple[T, U]:
        """Run a work on a scope, and one on what a write to it checks outside it: marks under this path, an idempotency
        key. The write itself checks all of it again, so nothing is confirmed here.
        """
        known = await self._commits.prepare(home, path, hasty=True)
        within, outside = View(self.partitions, serial=not known.head.confirmed), View(self.partitions)
        within.heads[home] = replace(known.head)
        try:
            found, known, _ = await asyncio.gather(
                drive(of_scope, within),
                self._commits.prepare_beside(home, known, path, request),
                self._commits.confirm(home, known),
            )
            self.partitions.bind(home, known.head.version, tenant=known.tenant, everywhere=known.everywhere)
            heads = {of_tenant(home.tenant): known.tenant, EVERYWHERE: known.everywhere}
            outside.heads |= {one: replace(head) for one, head in heads.items() if head is not None}
            result = found, await drive(beside, outside)
        except PartitionChanged:
            self.partitions.unlearn(home)
            return await self.read(of_scope), await self.read(beside)
        self.partitions.answers.keep(within.answers | outside.answers)
        return result

    async def tidy(self, *, whole: bool = False) -> int:
        """Remove leftovers of ended processes. The nodes' compactions drop the removed rows once `gc_grace_seconds` are
        over.
        """
        await self.partitions.sweep()
        return 0

    async def _repeat_work(self, work: Callable[[Any], Awaitable[T]], seconds: float, *, recalls: bool = False) -> T:
        until = time.monotonic() + seconds
        wanted: Collection[Partition] = ()
        unanswered: list[tuple[UnansweredTransaction, T]] = []
        tried = 0
        while True:
            view = View(self.partitions, recalls=recalls and tried == 0)
            async with self._in_turn(wanted):
                try:
                    if arrived := await self._late_results(unanswered):
                        return arrived[0]
                    result = await self._run_work(work, view)
                    if await self._commits.commit(view):
                        return result
                    if view.unanswered is not None:
                        unanswered.append((view.unanswered, result))
                except PartitionChanged:
                    pass
                except MnemicError:
                    # It may have met its own change, which arrived while it was running again.
                    if arrived := await self._late_results(unanswered):
                        return arrived[0]
                    raise
            for home in view.heads:
                self.partitions.unlearn(home)
            tried += 1
            wanted = [home for home, changes in view.changes.items() if changes and home != EVERYWHERE]
            if time.monotonic() > until:
                raise StoreBusy(hint="others have written to the same memories every time; try again")
            await pause(0.0, 0.005 * min(tried, 10))

    async def _late_results(self, unanswered: list[tuple[UnansweredTransaction, T]]) -> list[T]:
        """Return the results of attempts that were committed after all: one or none. Drops failed ones."""
        made = [(result, await self._commits.was_made(attempt)) for attempt, result in unanswered]
        unanswered[:] = [one for one, (_, known) in zip(unanswered, made, strict=True) if known is None]
        return [result for result, known in made if known]

    async def _run_work(self, work: Callable[[Any], Awaitable[T]], view: View) -> T:
        """Run `work`. Its error counts only if its reads are of one moment, and of now."""
        try:
            return await drive(work, view)
        except PartitionChanged:
            raise
        except Exception as error:
            if not (view.recalls or isinstance(error, MnemicError)):
                raise
            if not await self._commits.holds(view, list(view.heads)):
                raise PartitionChanged from None
            raise

    @asynccontextmanager
    async def _in_turn(self, wanted: Collection[Partition]) -> AsyncIterator[None]:
        """Retry transactions of this process that competed for a partition, one after the other."""
        async with AsyncExitStack() as turns:
            for home in sorted(wanted):
                key = (id(asyncio.get_running_loop()), home)
                lock = self._turns.get(key) or self._turns.setdefault(key, asyncio.Lock())
                await turns.enter_async_context(lock)
            yield


class CassandraTransaction(LayeredTransaction):
    """A transaction whose lines of the audit and entries of the outbox are in the partition that it changes."""

    def __init__(self, rows: RowChange, scopes: ScopeCache) -> None:
        super().__init__(rows, scopes)
        assert isinstance(rows, View)
        self._view = rows

    async def insert(self, memory: Memory) -> None:
        self._lies(memory.memory_id, memory.scope)
        await super().insert(memory)

    async def _is_taken(self, memory: Memory) -> bool:
        return (memory.scope.tenant, memory.memory_id) in (await self._current(memory.scope)).memories

    async def claim(self, memory: Memory) -> None:
        """Look for the identifier in every scope of the tenant, which `insert` does not do: a new one is in none."""
        home = Partition(*place_of(memory.scope))
        if not await Step(partial(self._view.claim, home, memory.memory_id)):
            raise VersionConflict(hint="another user's memory has this identifier")

    async def replace(self, memory: Memory) -> None:
        self._lies(memory.memory_id, memory.scope)
        await super().replace(memory)

    async def remove(self, memory_id: str, *, scope: Scope) -> bool:
        self._lies(memory_id, scope)
        return await super().remove(memory_id, scope=scope)

    async def append_audit(self, event: AuditEvent) -> None:
        encode_event(event)
        sign = self._scopes.rows.sealer.sign
        await journal.note_event(self._rows, self._home(event.tenant, event.scope), event, sign)

    async def enqueue(self, entry: OutboxEntry) -> None:
        await journal.note_entry(self._rows, self._home(entry.scope.tenant, entry.scope), entry)

    async def usage(
        self, tenant: str, *, since: datetime, scope: Scope | None = None, settled: bool = True
    ) -> Mapping[Kind, Usage]:
        """As the port says. Not settled, a tenant's users are read apart, so that writers do not wait for each other
        until the quota is near.
        """
        if scope is not None or settled:
            return await super().usage(tenant, since=since, scope=scope, settled=settled)
        return await self._view.read_apart(partial(tenant_totals.usage, tenant=tenant, since=since))

    def _lies(self, memory_id: str, scope: Scope) -> None:
        """Cache the partition of a memory, so that later reads need not search every partition of the tenant."""
        self._view.homes[scope.tenant, memory_id] = Partition(*place_of(scope))

    def _home(self, tenant: str, scope: Scope | None) -> Partition:
        """Return a partition of the tenant that this changes anyway; else that of the scope, or of the tenant."""
        changed = [home for home, changes in self._view.changes.items() if changes and home.tenant == tenant]
        named = of_tenant(tenant) if scope is None else Partition(*place_of(scope))
        return named if named in changed or not changed else changed[0]


class CassandraSnapshot(LayeredSnapshot):
    """A snapshot whose first question reads the heads of all its scopes."""

    async def speakers(self, where: Where) -> frozenset[str]:
        """Return the port's answer. A search asks it first: the heads that it needs are read at once."""
        assert isinstance(self._rows, View)
        await self._rows.ask_heads([Partition(*place_of(scope)) for scope in where.scopes])
        return await super().speakers(where)

    async def nearest(
        self, where: Where, vector: Vector, *, limit: int, space: VectorSpace | None = None
    ) -> list[Scored]:
        """Return the port's answer. The vector space is known beside the heads of the scopes, which are read first."""
        assert isinstance(self._rows, View)
        await self._rows.ask_heads([Partition(*place_of(scope)) for scope in where.scopes])
        return await super().nearest(where, vector, limit=limit, space=space)

    async def marks(
        self, tenant: str, prefix: str, *, after: str | None = None, limit: int | None = None
    ) -> dict[str, str]:
        """Return the port's `marks`."""
        return await auxiliary_records.marks(self._rows, tenant, prefix, after, limit)


class CassandraStore(LayeredStore):
    """A `RecordStore` in the keyspace at `location` (`cassandra://host1,host2/keyspace`) for many processes.

    `open` creates missing keyspace and tables. `durability` changes nothing: when a commit reaches the disks is a
    setting of the nodes (`commitlog_sync`). With a `keyring` sealed memories are opened; if it `seals` too, new
    memories are sealed with the data key of their subject.
    """

    _transaction = CassandraTransaction
    _snapshot = CassandraSnapshot

    def __init__(
        self,
        location: str,
        *,
        durability: Literal["durable", "fast"] = "durable",
        keyring: Keyring | None = None,
        seals: bool = False,
    ) -> None:
        self._database = CassandraRows(Address.from_url(location))
        super().__init__(self._database, keyring=keyring, seals=seals)
        self._secrets: dict[str, bytes] = {}
        self._collecting: set[str] = set()
        """The tenants with journals that a query for their usage is collecting."""

    async def traces(self, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]) -> dict[str, int]:
        await self._collect(tenant)
        return await super().traces(tenant, memory_ids, fingerprints)

    async def audit(
        self, tenant: str, *, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> list[AuditEvent]:
        await self._collect(tenant)
        return await super().audit(tenant, after=after, before=before, limit=limit)

    async def broken_audit(self, tenant: str) -> tuple[int, int | None, str]:
        """Return the port's answer. A journal that lacks lines counts as the line after the last."""
        await self._collect(tenant)
        found = await super().broken_audit(tenant)
        if found[1] is None:
            lacking = await journal.lacks_lines(self._ready, self._database.partitions, tenant)
            return (found[0], found[0] + 1, found[2]) if lacking else found
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
        if not await self._ready.read(lambda rows: rows.scan(PROJECTION, ())):
            return {}
        await self._collect(None)
        return await super().projections()

    async def secret(self, tenant: str) -> bytes:
        """Return the port's answer, which never changes."""
        secret = self._secrets.get(tenant)
        if secret is None:
            secret = self._secrets[tenant] = await super().secret(tenant)
            if len(self._secrets) > _MAX_SECRETS:
                del self._secrets[next(iter(self._secrets))]
        return secret

    async def secret_before_write(self, scope: Scope) -> bytes:
        secret, _ = await asyncio.gather(
            self.secret(scope.tenant), self._opened_database.read_ahead(Partition(*place_of(scope)))
        )
        return secret

    async def _prepare_scope(self, scope: Scope) -> None:
        await self._opened_database.know(Partition(*place_of(scope)))

    async def marks_and_duplicate(
        self, tenant: str, prefix: str, scope: Scope, fingerprint: str, *, request: str | None
    ) -> tuple[dict[str, str], Memory | None]:
        """Return the port's answers. The transaction that writes then needs no further question about them, nor about
        `request`.
        """
        same, marks = await self._before_write(
            scope, prefix, request, lambda state: state.find_fingerprint(scope, fingerprint)
        )
        return marks, same

    async def get_before_change(self, memory_id: str, *, scope: Scope, prefix: str) -> Memory | None:
        found, _ = await self._before_write(scope, prefix, None, lambda state: state.get(memory_id, [scope]))
        return found

    async def _before_write(
        self, scope: Scope, prefix: str, request: str | None, find: Callable[[StoredMemories], Memory | None]
    ) -> tuple[Memory | None, dict[str, str]]:
        """Return what `find` finds in a scope, and the marks of its tenant with a prefix."""

        async def read_memory(rows: RowReads) -> Memory | None:
            state = (await self._scopes.state(rows, scope))[1]
            return state.whole(find(state))

        async def read_marks(rows: RowReads) -> dict[str, str]:
            return await auxiliary_records.marks(rows, scope.tenant, prefix, None, None)

        home = Partition(*place_of(scope))
        return await self._opened_database.read_before_write(read_memory, read_marks, home, prefix, request)

    async def usage(self, tenant: str, *, since: datetime, scope: Scope | None = None) -> Mapping[Kind, Usage]:
        if scope is not None:
            return await super().usage(tenant, since=since, scope=scope)
        await self._bring_forward(tenant)
        counted = partial(tenant_totals.usage, tenant=tenant, since=since)
        return await self._ready.read(lambda rows: cast("View", rows).read_apart(counted))

    @property
    def _opened_database(self) -> CassandraRows:
        return cast("CassandraRows", self._ready)

    async def _bring_forward(self, tenant: str) -> None:
        """Collect the journals of a tenant if many of them have lines; one task of a process at a time."""
        database = self._database
        if (
            tenant in self._collecting
            or len(await database.partitions.partitions_to_collect(tenant)) <= tenant_totals.MAX_UNCOLLECTED
        ):
            return
        self._collecting.add(tenant)
        try:
            # Uncollected lines are counted on top: a failure here makes the answer slower, not wrong.
            with suppress(StoreBusy, CommitUnknown):
                await self._collect(tenant, most=tenant_totals.MAX_COLLECTED)
                await tenant_totals.begin(self._ready, database.partitions, tenant, most=tenant_totals.MAX_COUNTED)
        finally:
            self._collecting.discard(tenant)

    async def tidy(self, *, whole: bool = False) -> int:
        written = {home.tenant for home in await self._database.partitions.partitions_to_collect(None)}
        await self._collect(None)
        for tenant in sorted(written):
            await tenant_totals.begin(self._ready, self._database.partitions, tenant)
        return await super().tidy(whole=whole)

    async def vacuum(self) -> datetime:
        """Return the time of a node. No compaction is requested: operators compact once `gc_grace_seconds` are over."""
        return await upkeep.now(self._database.link)

    async def count_unvacuumed(self, since: datetime) -> int:
        return await upkeep.count_unvacuumed(self._database.link, since)

    async def _collect(self, tenant: str | None, *, most: int | None = None) -> None:
        database = self._database
        await journal.collect(self._ready, database.partitions, tenant, self._sealer.sign, most=most)
