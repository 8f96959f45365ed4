"""Record store on top of a `RowStore`: implements the port `RecordStore` by its ten verbs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from mnemic.errors import NotSupported, SpaceMismatch, StoreBusy, StoreUnavailable
from mnemic.ports import Capabilities, Keyring, Reseal, Snapshot, Transaction
from mnemic.ports.database_backend import RowChange, RowReads, RowStore
from mnemic.stores.codec import check_secret
from mnemic.stores.encryption import Sealer
from mnemic.stores.in_memory_reads import InMemorySnapshot, StoredMemories
from mnemic.stores.row_store_adapter import (
    audit_and_outbox,
    auxiliary_records,
    row_rewriting,
    tenant_scans,
)
from mnemic.stores.row_store_adapter.memories import RowCodec, ScopeCache
from mnemic.stores.row_store_adapter.tables import TENANT
from mnemic.stores.row_store_adapter.transaction import LayeredTransaction, present, usage
from mnemic.stores.store_verbs import Scan, SingleReads
from mnemic.types import (
    AuditEvent,
    Deadline,
    Kind,
    Memory,
    OutboxEntry,
    Scope,
    Scored,
    StoredAnswer,
    Usage,
    Vector,
    VectorSpace,
    Where,
)

if TYPE_CHECKING:
    from mnemic.ports.record_store import Damage

T = TypeVar("T")


class LayeredSnapshot(InMemorySnapshot):
    """The port's `Snapshot` of rows as of one moment."""

    def __init__(self, rows: RowReads, scopes: ScopeCache, space: VectorSpace) -> None:
        super().__init__(StoredMemories(), space=space)
        self._rows = rows
        self._scopes = scopes

    async def _memories_in(self, scopes: Sequence[Scope]) -> StoredMemories:
        return await self._scopes.join_scopes(self._rows, scopes)

    async def nearest(
        self, where: Where, vector: Vector, *, limit: int, space: VectorSpace | None = None
    ) -> list[Scored]:
        if await present(self._rows) != self._space:
            raise SpaceMismatch(hint="the vectors were made by another model; open the store with that one")
        return await super().nearest(where, vector, limit=limit, space=space)


class LayeredStore(SingleReads):
    """A `RecordStore` on `rows`. With a `keyring` sealed memories are decrypted; if it `seals` too, new content is
    encrypted with the data key of its subject (`mnemic.stores.encryption`).

    A search reads the memories of its scopes, which are cached in this process until they change: suitable for scopes
    of some thousand memories. A database with its own search implements `RecordStore`.
    """

    _transaction: type[LayeredTransaction] = LayeredTransaction
    """Transaction of a store with some rows elsewhere."""

    _snapshot: type[LayeredSnapshot] = LayeredSnapshot
    """The snapshot class of a store with an additional index."""

    def __init__(self, rows: RowStore, *, keyring: Keyring | None = None, seals: bool = False) -> None:
        self._rows = rows
        self._sealer = Sealer(keyring, seals=seals)
        self._scopes = ScopeCache(RowCodec(self._sealer))
        self._space: VectorSpace | None = None

    @property
    def capabilities(self) -> Capabilities:
        sealed = frozenset({"content", "vectors", "words"} if self._sealer.seals else ())
        return replace(self._rows.capabilities, phrase=True, exact_up_to=None, sealed=sealed)

    async def open(self, space: VectorSpace | None) -> None:
        await self._rows.open()
        self._space = await self._rows.transact(lambda rows: row_rewriting.claim(rows, space))

    async def close(self) -> None:
        self._space = None
        self._scopes.clear()
        await self._rows.close()

    async def transact(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        deadline: Deadline | None = None,
        scope: Scope | None = None,
    ) -> T:
        if deadline is not None and deadline.expired:
            raise StoreBusy
        if scope is not None:
            await self._prepare_scope(scope)

        # The work may run again after a lost race, and the committed run need not be the last one: where a server's
        # answer was lost, an earlier one may have been. So each run returns its transaction beside its result.
        async def run(rows: RowChange) -> tuple[T, LayeredTransaction]:
            transaction = self._transaction(rows, self._scopes)
            try:
                return await work(transaction), transaction
            finally:
                transaction.end()

        result, committed = await self._ready.transact(run, deadline=deadline)
        # After the commit only: a transaction that failed must leave nothing in the cache.
        committed.publish()
        return result

    async def _prepare_scope(self, scope: Scope) -> None:
        """Read at once what a write to a scope reads first, on a store where each question is a journey."""

    async def read(self, work: Callable[[Snapshot], Awaitable[T]]) -> T:
        space = self._opened
        return await self._ready.read(lambda rows: work(self._snapshot(rows, self._scopes, space)))

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        async def read_one(rows: RowReads) -> Memory | None:
            stored = await self._scopes.join_scopes(rows, scopes)
            return stored.whole(stored.get(memory_id, scopes))

        return await self._ready.read(read_one)

    async def begin_space(self, space: VectorSpace) -> None:
        await self._ready.transact(lambda rows: row_rewriting.begin(rows, space))

    async def memories_without_vector(self, *, limit: int) -> list[Memory]:
        return await self._ready.read(
            lambda rows: row_rewriting.memories_without_vector(rows, self._scopes.rows, limit)
        )

    async def fill(self, filled: Sequence[tuple[Memory, Vector]]) -> int:
        return await self._ready.transact(lambda rows: row_rewriting.fill(rows, self._sealer, filled))

    async def switch_space(self) -> bool:
        space = await self._ready.transact(row_rewriting.switch)
        if space is None:
            return False
        self._space = space
        self._scopes.clear()
        return True

    async def clear_space(self) -> None:
        """Do nothing: the switch itself has removed the previous space."""

    async def secret(self, tenant: str) -> bytes:
        return await self._ready.transact(lambda rows: auxiliary_records.secret(rows, tenant))

    async def tenants(self) -> list[str]:
        return [row[0] for row in await self._ready.read(lambda rows: rows.scan(TENANT, ()))]

    async def adopt(self, tenant: str, secret: bytes) -> None:
        check_secret(await self._ready.transact(lambda rows: auxiliary_records.secret(rows, tenant, secret)), secret)

    async def _scan(self, wanted: Scan) -> list[Memory]:
        return await self._ready.read(lambda rows: tenant_scans.scan(rows, self._scopes.rows, wanted))

    async def usage(self, tenant: str, *, since: datetime, scope: Scope | None = None) -> Mapping[Kind, Usage]:
        return await self._ready.read(lambda rows: usage(rows, tenant, since, scope))

    async def waiting(self, tenant: str) -> int:
        return await self._ready.read(lambda rows: tenant_scans.waiting(rows, tenant))

    async def marks(
        self, tenant: str, prefix: str, *, after: str | None = None, limit: int | None = None
    ) -> dict[str, str]:
        return await self._ready.read(lambda rows: auxiliary_records.marks(rows, tenant, prefix, after, limit))

    async def requests(self, tenant: str, *, after: str | None = None, limit: int = 500) -> list[StoredAnswer]:
        return await self._ready.read(lambda rows: auxiliary_records.requests(rows, tenant, after, limit))

    async def tidy(self, *, whole: bool = False) -> int:
        return await self._ready.tidy(whole=whole)

    async def find_damage(self, tenant: str) -> list[Damage]:
        return await self._ready.read(lambda rows: tenant_scans.damaged_rows(rows, self._scopes.rows, tenant))

    async def seal(self, tenant: str) -> int:
        if not self._sealer.seals:
            raise NotSupported("seal", hint="this store does not seal: set MNEMIC_SEAL")
        sealed = await self._ready.transact(lambda rows: row_rewriting.seal(rows, self._sealer, tenant))
        if sealed:
            # The plain text of encrypted rows must not stay readable in free pages.
            await self.tidy(whole=True)
        return sealed

    async def reseal(self, tenant: str, anew: Reseal) -> int:
        return await self._ready.transact(lambda rows: row_rewriting.reseal(rows, tenant, anew))

    async def traces(self, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]) -> dict[str, int]:
        asked = partial(tenant_scans.traces, tenant=tenant, memory_ids=memory_ids, fingerprints=fingerprints)
        return await self._ready.read(asked)

    async def audit(
        self, tenant: str, *, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> list[AuditEvent]:
        return await self._ready.read(lambda rows: audit_and_outbox.audit(rows, tenant, after, before, limit))

    async def broken_audit(self, tenant: str) -> tuple[int, int | None, str]:
        return await self._ready.read(lambda rows: audit_and_outbox.broken_audit(rows, tenant, self._sealer.sign))

    async def pending(self, *, projection: str | None = None, limit: int = 100) -> list[OutboxEntry]:
        return await self._ready.read(lambda rows: audit_and_outbox.pending(rows, projection, limit))

    async def acknowledge(self, sequences: Sequence[int], *, projection: str | None = None) -> None:
        await self._ready.transact(lambda rows: audit_and_outbox.acknowledge(rows, sequences, projection))

    async def register(self, projection: str) -> None:
        await self._ready.transact(lambda rows: audit_and_outbox.register(rows, projection))

    async def unregister(self, projection: str) -> None:
        await self._ready.transact(lambda rows: audit_and_outbox.unregister(rows, projection))

    async def projections(self) -> dict[str, int]:
        return await self._ready.read(audit_and_outbox.projections)

    @property
    def _ready(self) -> RowStore:
        if self._space is None:
            raise StoreUnavailable("closed")
        return self._rows

    @property
    def _opened(self) -> VectorSpace:
        if self._space is None:
            raise StoreUnavailable("closed")
        return self._space
