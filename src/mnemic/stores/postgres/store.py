"""The record store in PostgreSQL."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeVar

from mnemic.errors import NotSupported, SpaceMismatch, StoreFailed, StoreUnavailable
from mnemic.ports import Capabilities, Keyring, Reseal, Snapshot, Transaction
from mnemic.ports.record_store import Damage
from mnemic.stores.codec import check_secret, checked_secret, text_check, with_fingerprint, with_id
from mnemic.stores.encryption import Sealer
from mnemic.stores.postgres import (
    damage,
    maintenance,
    row_rewriting,
)
from mnemic.stores.postgres.audit_chain import AuditAppender, collect
from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.database_access import DatabaseAccess, OpenDatabase
from mnemic.stores.postgres.group_commit import GroupCommit
from mnemic.stores.postgres.indexes import Indexes, Promotions
from mnemic.stores.postgres.loose_reads import LooseReads, TransactionNeeded
from mnemic.stores.postgres.maintenance import OwnerConnection
from mnemic.stores.postgres.rows import Bodies, HashedTerms, LruMapping, place_of, places_of, storable
from mnemic.stores.postgres.schema import reopen_with
from mnemic.stores.postgres.snapshot import PostgresSnapshot
from mnemic.stores.postgres.statements import inside, load
from mnemic.stores.postgres.transaction import GroupState, PostgresTransaction
from mnemic.stores.relational.maintenance import JobTables
from mnemic.stores.relational.statements import Ask
from mnemic.stores.relational.statements import load as load_shared
from mnemic.stores.store_verbs import Scan, SingleReads, drive
from mnemic.types import AuditEvent, Deadline, Memory, Scope, Vector, VectorSpace

T = TypeVar("T")

_SECRETS = 10_000
"""Maximum secrets of tenants cached in memory."""


@dataclass(slots=True)
class Resources:
    """Resources of an open store."""

    database: OpenDatabase
    bodies: Bodies
    promotions: Promotions
    indexes: Indexes
    terms: HashedTerms
    space: VectorSpace
    next_space: VectorSpace | None = None
    secrets: LruMapping[str, bytes] = field(default_factory=lambda: LruMapping(_SECRETS))
    trails: AuditAppender = field(default_factory=AuditAppender)
    groups: GroupCommit = field(init=False)
    loose: LooseReads | None = field(init=False)

    def __post_init__(self) -> None:
        self.groups = GroupCommit(self.connections, self.database.thread, self._transaction)
        # A replica says whether a whole read was overtaken.
        self.loose = LooseReads(self.connections) if self.database.replica is None else None

    def _transaction(self, session: Session, common: GroupState) -> PostgresTransaction:
        return PostgresTransaction(
            session,
            common,
            terms=self.terms,
            bodies=self.bodies,
            dimensions=self.dimensions,
            indexes=self.indexes,
            trails=self.trails,
        )

    @property
    def connections(self) -> Connections:
        return self.database.connections

    @property
    def dimensions(self) -> list[int]:
        """Dimensions of the present vectors and of those being filled."""
        return [space.dimension for space in (self.space, self.next_space) if space is not None]

    @property
    def failing(self) -> Iterator[str]:
        """Parts that do not answer: the replica, whose reads go to the primary."""
        if self.database.replica is not None and self.database.replica.failing:
            yield "replica"

    async def as_owner(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Return the result of `work` on the owner's connection, which sees every tenant. Raises StoreFailed."""
        result = await self.database.thread.run(self.database.owner.run(work))
        if self.database.replica is not None:
            await self.connections.write(self.database.replica.note)
        return result

    async def stop(self) -> None:
        """End the background tasks."""

        async def on_end() -> None:
            self.database.owner.close()
            await self.groups.stop()
            await self.promotions.moves.stop()
            await self.indexes.loads.stop()

        await self.database.thread.run(on_end())


_READING = load("reading")
_SESSION = load("session")
_OUTBOX = load_shared("outbox", "postgres")
_EXAMINING = 3600.0
"""Maximum seconds for reading every row of a tenant."""


class PostgresStore(JobTables, SingleReads):
    """A `RecordStore` in the database at `dsn` (a `postgresql://` URL), which many processes may open.

    Needs PostgreSQL 16 or newer with pgvector. Everything is in the schema `mnemic`; the store works as the role
    `mnemic_app`, which row-level security binds. `open` creates and migrates both with the rights of `owner_dsn`, or of
    `dsn` if that is not given. `pool_size` bounds the connections, `statement_timeout` (seconds) every call, from the
    wait for a connection to the commit. `durability="fast"` lets the server acknowledge commits before they are on its
    disk. `index_bytes` bounds the memory for the search indexes of scopes in use; 0 leaves every search to the
    database. At `replica_dsn` a replica answers searches and lists, once it has replayed the commits of this store;
    commits of others may be missing for as long as it lags. `exact_up_to` is the number of active memories beyond which
    a scope that does not fit in memory moves into the approximate vector index.

    With a `keyring` sealed memories are opened; if it `seals` too, their content is sealed with the data key of their
    subject (`mnemic.stores.encryption`). The server searches too, so it must see vectors, hashed words and speakers.
    """

    def __init__(
        self,
        dsn: str,
        *,
        owner_dsn: str | None = None,
        replica_dsn: str | None = None,
        pool_size: int = 10,
        statement_timeout: float = 10.0,
        durability: Literal["durable", "fast"] = "durable",
        index_bytes: int = 256 * 1024 * 1024,
        exact_up_to: int = 5_000,
        keyring: Keyring | None = None,
        seals: bool = False,
    ) -> None:
        self._access = DatabaseAccess.from_settings(
            dsn, owner_dsn, pool_size, statement_timeout, durability, replica_dsn
        )
        self._index_bytes = index_bytes
        self._exact_up_to = exact_up_to
        self._sealer = Sealer(keyring, seals=seals, vectors=False)
        self._bodies = Bodies(self._sealer)
        self._opened: Resources | None = None

    @property
    def capabilities(self) -> Capabilities:
        durable = not self._access.fast and (self._opened is None or self._opened.database.ready.durable)
        return Capabilities(
            name="postgres",
            durable=durable,
            shared=True,
            phrase=True,
            grouped=True,
            exact_up_to=self._exact_up_to,
            sealed=frozenset({"content"} if self._sealer.seals else ()),
            degraded=frozenset(() if self._opened is None else self._opened.failing),
        )

    async def open(self, space: VectorSpace | None) -> None:
        if self._opened is None:
            self._opened = await self._open(space or await self._find_space())
        elif space not in (None, self._opened.space):
            raise SpaceMismatch(hint=reopen_with(self._opened.space.model, self._opened.space.dimension))

    async def _open(self, space: VectorSpace) -> Resources:
        return self._searching(await self._access.open(space), space)

    def _searching(self, database: OpenDatabase, space: VectorSpace) -> Resources:
        promotions = Promotions(database.connections)
        terms = HashedTerms(database.ready.salt)
        indexes = Indexes(
            database.connections,
            bodies=self._bodies,
            terms=terms,
            dimension=space.dimension,
            budget=self._index_bytes,
        )
        return Resources(database, self._bodies, promotions, indexes, terms, space)

    async def _find_space(self) -> VectorSpace:
        owner = OwnerConnection(self._access.owner_dsn, self._access.seconds, "mnemic")
        try:
            found = await owner.run(row_rewriting.present)
        finally:
            owner.close()
        if found is None:
            raise StoreUnavailable("empty", hint="nothing was ever stored here, so it has no vector space")
        return found

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.stop()
            await opened.database.close()

    async def wait_until_moved(self) -> None:
        """Return once no scope is being moved into memory or into the approximate index."""
        opened = self._ready
        await opened.database.thread.run(opened.indexes.loads.wait_until_done())
        await opened.database.thread.run(opened.promotions.moves.wait_until_done())

    async def transact(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        deadline: Deadline | None = None,
        scope: Scope | None = None,
    ) -> T:
        groups = self._ready.groups
        return await (groups.run_alone(work, deadline) if scope is None else groups.run(work, deadline, scope))

    async def transact_each(
        self,
        works: Sequence[Callable[[Transaction], Awaitable[T]]],
        *,
        deadline: Deadline | None = None,
        scopes: Sequence[Scope] | None = None,
    ) -> list[T | BaseException]:
        groups = self._ready.groups
        if scopes is not None:
            return await groups.run_each(works, deadline, scopes)
        return await asyncio.gather(*(groups.run_alone(work, deadline) for work in works), return_exceptions=True)

    async def secret(self, tenant: str) -> bytes:
        opened = self._ready
        known = opened.secrets.get(tenant)
        if known is None:
            found = await opened.connections.write(lambda session: _secret(session, tenant))
            known = opened.secrets.put(tenant, found)
        return known

    async def tenants(self) -> list[str]:
        """Return none: row-level security shows a login only the tenant that it names."""
        return []

    async def adopt(self, tenant: str, secret: bytes) -> None:
        check_secret(await self._ready.connections.write(lambda session: _secret(session, tenant, secret)), secret)

    async def read(self, work: Callable[[Snapshot], Awaitable[T]]) -> T:
        opened = self._ready

        async def run(session: Session) -> T:
            snapshot = PostgresSnapshot(
                session,
                terms=opened.terms,
                bodies=self._bodies,
                space=opened.space,
                indexes=opened.indexes,
            )
            result = await drive(work, snapshot)
            for scope, place in snapshot.scanned.items():
                if place.active > self._exact_up_to and not opened.indexes.fits(place):
                    opened.promotions.start(scope)
            return result

        if opened.loose is not None:
            with suppress(TransactionNeeded):
                return await opened.loose.read(work, run)
        return await opened.database.read(run)

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        for tenant in dict.fromkeys(scope.tenant for scope in scopes):
            given = (*places_of(tenant, scopes), storable([memory_id]))
            rows = await self._ready.connections.ask(_READING["held_as"], *given)
            if rows:
                return with_id(memory_id, self._bodies.memory(rows[0]))
        return None

    async def get_many(self, memory_ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        found: dict[str, Memory] = {}
        for tenant in dict.fromkeys(scope.tenant for scope in scopes):
            given = (*places_of(tenant, scopes), storable(memory_ids))
            rows = await self._ready.connections.ask(_READING["held_as"], *given)
            found = {memory.memory_id: memory for memory in self._bodies.whole(rows)} | found
        return {memory_id: found[memory_id] for memory_id in memory_ids if memory_id in found}

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        rows = await self._ready.connections.ask(_READING["held_under"], *place_of(scope), fingerprint)
        return with_fingerprint(fingerprint, self._bodies.memory(rows[0])) if rows else None

    async def _scan(self, wanted: Scan) -> list[Memory]:
        return await self._ready.connections.read(partial(maintenance.scan, bodies=self._bodies, wanted=wanted))

    async def marks(
        self, tenant: str, prefix: str, *, after: str | None = None, limit: int | None = None
    ) -> dict[str, str]:
        return await maintenance.marks(self._ready.connections, tenant, prefix, after, limit)

    async def tidy(self, *, whole: bool = False) -> int:
        """Return 0: the server's vacuum frees space, and its checkpoints truncate the log."""
        return 0

    async def find_damage(self, tenant: str) -> list[Damage]:
        opened = self._ready
        rows = await opened.connections.read(lambda session: damage.find_damage(session, tenant), seconds=_EXAMINING)
        with suppress(StoreFailed):  # without the owner's rights only rows are checked
            rows += await opened.as_owner(maintenance.find_index_damage)
        return rows

    async def vacuum(self) -> datetime:
        moment = await self._ready.connections.read(maintenance.now)
        with suppress(StoreFailed):  # without the owner's rights the server's own vacuum must do
            await self._ready.as_owner(maintenance.vacuum)
        return moment

    async def count_unvacuumed(self, since: datetime) -> int:
        return await self._ready.connections.read(partial(maintenance.count_unvacuumed, since=since))

    async def seal(self, tenant: str) -> int:
        if not self._sealer.seals:
            raise NotSupported("seal", hint="this store does not seal: set MNEMIC_SEAL")
        return await self._ready.as_owner(partial(row_rewriting.seal, sealer=self._sealer, tenant=tenant))

    async def reseal(self, tenant: str, anew: Reseal) -> int:
        return await self._ready.as_owner(partial(row_rewriting.reseal, tenant=tenant, anew=anew))

    async def begin_space(self, space: VectorSpace) -> None:
        await self._ready.as_owner(partial(row_rewriting.begin, space=space))
        self._ready.next_space = space

    async def memories_without_vector(self, *, limit: int) -> list[Memory]:
        return await self._ready.as_owner(
            partial(row_rewriting.memories_without_vector, bodies=self._bodies, limit=limit)
        )

    async def fill(self, filled: Sequence[tuple[Memory, Vector]]) -> int:
        return await self._ready.as_owner(partial(row_rewriting.fill, filled=filled))

    async def switch_space(self) -> bool:
        before = self._ready
        space = await before.as_owner(row_rewriting.switch)
        if space is None:
            return False
        self._opened = self._searching(before.database, space)
        await before.stop()
        return True

    async def clear_space(self) -> None:
        """Do nothing: the switch itself has dropped the old column."""

    async def audit(
        self, tenant: str, *, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> list[AuditEvent]:
        await self._collect(tenant)
        return await super().audit(tenant, after=after, before=before, limit=limit)

    async def broken_audit(self, tenant: str) -> tuple[int, int | None, str]:
        await self._collect(tenant)
        return await self._ready.connections.read(
            lambda session: maintenance.broken_audit(session, tenant, self._sealer.sign)
        )

    async def _collect(self, tenant: str) -> None:
        """Merge the lanes of the audit."""
        await self._ready.connections.write(lambda session: collect(session, tenant, self._sealer.sign))

    async def _jobs(self, tenant: str, work: Callable[[Ask], Awaitable[T]]) -> T:
        return await self._ready.connections.read(inside(tenant, maintenance.JOBS, work))

    async def _read_outbox(self, name: str, *values: Any) -> list[Any]:
        if name == "pending":
            return await self._ready.connections.ask(_OUTBOX[name], *values)

        async def read(session: Session) -> list[Any]:
            await session.enter_drain()
            return await session.fetch(_OUTBOX[name], *values)

        return await self._ready.connections.read(read)

    async def _change_outbox(self, *steps: tuple[Any, ...]) -> None:
        async def change(session: Session) -> None:
            await session.enter_drain()
            for name, *values in steps:
                await session.fetch(_OUTBOX[name], *values)

        await self._ready.connections.write(change)

    async def _take_entries(self, sequences: list[int], projection: str) -> None:
        await self._ready.connections.ask(_OUTBOX["take"], sequences, projection)

    @property
    def _ready(self) -> Resources:
        if self._opened is None:
            raise StoreUnavailable("closed")
        return self._opened


async def _secret(session: Session, tenant: str, given: bytes | None = None) -> bytes:
    await session.enter(tenant)
    known = await session.fetch(_SESSION["secret"], tenant)
    if not known:
        made = given or secrets.token_bytes(32)
        await session.fetch(_SESSION["make_secret"], tenant, made, text_check(tenant, made))
        known = await session.fetch(_SESSION["secret"], tenant)
    return checked_secret(tenant, *known[0])
