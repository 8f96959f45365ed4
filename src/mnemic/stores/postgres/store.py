"""The record store in PostgreSQL."""

from __future__ import annotations

import heapq
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from mnemic.errors import InvalidConfig, SpaceMismatch, StoreUnavailable
from mnemic.ports import Capabilities, Transaction
from mnemic.stores.codec import CUES, checked_vector, decode_event, decode_memory, from_micros
from mnemic.stores.postgres.connections import Connections, Session, connect, open_pool
from mnemic.stores.postgres.promotion import Promotions
from mnemic.stores.postgres.rows import Terms, filter_of, memory_of, pack, places_of, storable
from mnemic.stores.postgres.schema import LONGEST_INDEXED, prepare, reopen_with
from mnemic.stores.postgres.statements import load
from mnemic.stores.postgres.transaction import PostgresTransaction
from mnemic.stores.steps import drive
from mnemic.text.analyse import parse_query
from mnemic.text.bm25 import Bm25
from mnemic.types import (
    AuditEvent,
    Cues,
    Deadline,
    Level,
    Memory,
    OutboxEntry,
    Scope,
    Scored,
    Signals,
    Vector,
    VectorSpace,
    Where,
)

T = TypeVar("T")

_SESSION = load("session")
_READING = load("reading")
_SEARCHING = load("searching")


class PostgresStore:
    """A `RecordStore` in the database at `dsn` (a `postgresql://` URL), which many processes may open.

    Needs PostgreSQL 16 or newer with pgvector. Everything lies in the schema `mnemic`; the store works as the role
    `mnemic_app`, which row-level security binds. `open` creates and migrates both with the rights of `owner_dsn`, or of
    `dsn` where none is given. `pool_size` bounds the connections, `statement_timeout` (seconds) every call, from the
    wait for a connection to the commit. `durability="fast"` lets the server acknowledge commits before they are on its
    disk. `exact_up_to` is the number of active memories beyond which a scope moves into the approximate vector index.
    """

    def __init__(
        self,
        dsn: str,
        *,
        owner_dsn: str | None = None,
        pool_size: int = 10,
        statement_timeout: float = 10.0,
        durability: Literal["durable", "fast"] = "durable",
        exact_up_to: int = 10_000,
        bm25: Bm25 | None = None,
    ) -> None:
        if durability not in ("durable", "fast"):
            raise InvalidConfig("durability", hint="durable or fast")
        if pool_size < 1 or not 0 < statement_timeout <= 3600:
            raise InvalidConfig("postgres", hint="pool_size is at least 1, statement_timeout above 0 and at most 3600")
        self._dsn = dsn
        self._owner_dsn = owner_dsn or dsn
        self._pool_size = pool_size
        self._seconds = statement_timeout
        self._fast = durability == "fast"
        self._exact_up_to = exact_up_to
        self._bm25 = bm25 or Bm25()
        self._opened: _Opened | None = None

    @property
    def capabilities(self) -> Capabilities:
        durable = not self._fast and (self._opened is None or self._opened.durable)
        return Capabilities(name="postgres", durable=durable, shared=True, phrase=True, exact_up_to=self._exact_up_to)

    async def open(self, space: VectorSpace) -> None:
        if self._opened is None:
            self._opened = await self._open(space)
        elif self._opened.space != space:
            raise SpaceMismatch(hint=reopen_with(self._opened.space.model, self._opened.space.dimension))

    async def _open(self, space: VectorSpace) -> _Opened:
        owner = await connect(self._owner_dsn, self._seconds, {"application_name": "mnemic"})
        try:
            ready = await prepare(owner, space)
        finally:
            owner.terminate()
        settings = {"application_name": "mnemic", "search_path": ready.search_path}
        if self._fast:
            settings["synchronous_commit"] = "off"
        elif ready.synchronous == "off":
            settings["synchronous_commit"] = "on"
        pool = await open_pool(
            self._dsn,
            size=self._pool_size,
            seconds=self._seconds,
            settings=settings,
            vector_schema=ready.vector_schema,
        )
        connections = Connections(pool, seconds=self._seconds)
        promotions = Promotions(connections, possible=space.dimension <= LONGEST_INDEXED)
        return _Opened(connections, promotions, Terms(ready.salt), space, ready.durable)

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.promotions.stop()
            await opened.connections.close()

    async def transact(self, work: Callable[[Transaction], Awaitable[T]], *, deadline: Deadline | None = None) -> T:
        opened = self._ready

        async def whole(transaction: PostgresTransaction) -> T:
            result = await work(transaction)
            await transaction.finish()
            return result

        async def run(session: Session) -> T:
            transaction = PostgresTransaction(session, terms=opened.terms, dimension=opened.space.dimension)
            try:
                return await drive(whole, transaction)
            finally:
                transaction.end()

        return await opened.connections.write(run, deadline)

    async def secret(self, tenant: str) -> bytes:
        known = self._ready.secrets
        if tenant not in known:
            known[tenant] = await self._ready.connections.write(lambda session: _secret(session, tenant))
        return known[tenant]

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        return (await self.get_many([memory_id], scopes=scopes)).get(memory_id)

    async def get_many(self, memory_ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        wanted = storable(memory_ids)

        async def read(session: Session) -> dict[str, Memory]:
            found: dict[str, Memory] = {}
            for tenant in dict.fromkeys(scope.tenant for scope in scopes):
                await session.enter(tenant)
                rows = await session.fetch(_READING["get_many"], *places_of(tenant, scopes), wanted)
                found = {memory.memory_id: memory for memory in map(memory_of, rows)} | found
            return {memory_id: found[memory_id] for memory_id in memory_ids if memory_id in found}

        return await self._ready.connections.read(read)

    async def versions(self, memory_id: str, *, scopes: Sequence[Scope]) -> list[Memory]:
        current = await self.get(memory_id, scopes=scopes)
        if current is None:
            return []
        scope = current.scope
        rows = await self._read(scope.tenant, _READING["versions"], scope.tenant, memory_id, current.version)
        return [*(decode_memory(row["body"], scope, None) for row in rows), current]

    async def newest(self, where: Where, *, limit: int, before: str | None = None) -> list[Memory]:
        rows = await self._filtered(where, _READING["newest"], before, max(0, limit))
        return [memory_of(row) for row in rows]

    async def count(self, where: Where) -> int:
        rows = await self._filtered(where, _READING["count"])
        return int(rows[0][0])

    async def nearest(self, where: Where, vector: Vector, *, limit: int) -> list[Scored]:
        opened = self._ready
        checked_vector(vector, opened.space.dimension)
        if limit <= 0:
            return []
        found, grown = await opened.connections.read(lambda session: self._nearest(session, where, vector, limit))
        for scope in grown:
            opened.promotions.start(scope)
        return heapq.nlargest(limit, found, key=lambda entry: (entry.score, entry.memory_id))

    async def _nearest(
        self, session: Session, where: Where, vector: Vector, limit: int
    ) -> tuple[list[Scored], list[Scope]]:
        """The nearest of each scope, and the scopes that have outgrown the exact search."""
        await session.enter(where.tenant)
        sizes = await session.fetch(_SEARCHING["sizes"], *places_of(where.tenant, where.scopes))
        places = {
            Scope(tenant=where.tenant, level=Level(row["level"]), owner=row["owner"]): (row["active"], row["large"])
            for row in sizes
        }
        exact = [scope for scope, (_, large) in places.items() if not large]
        found: list[Scored] = []
        for scope in places.keys() - set(exact):
            await session.approximate(True)
            given = (*filter_of(replace(where, scopes=(scope,))), vector, limit)
            some = _scored(await session.fetch(_SEARCHING["approximate"], *given))
            if len(some) < limit:
                exact.append(scope)  # the index gave up early, or there are no more: never fewer than there are
            else:
                found += some
        if exact:
            await session.approximate(False)
            given = (*filter_of(replace(where, scopes=tuple(exact))), vector, limit)
            found += _scored(await session.fetch(_SEARCHING["nearest"], *given))
        grown = [scope for scope, (active, large) in places.items() if not large and active > self._exact_up_to]
        return found, grown

    async def match(self, where: Where, query: str, *, limit: int) -> list[Scored]:
        words, phrases = parse_query(query)
        number, bm25 = self._ready.terms.number, self._bm25
        wanted = list(dict.fromkeys(map(number, words)))
        quoted = [pack(map(number, phrase)) for phrase in phrases]
        parameters = (bm25.k1, bm25.b, bm25.content_weight, bm25.context_weight)
        return _scored(await self._filtered(where, _SEARCHING["match"], wanted, *parameters, quoted, max(0, limit)))

    async def recent(self, where: Where, *, limit: int) -> list[Scored]:
        rows = await self._filtered(where, _SEARCHING["recent"], max(0, limit))
        return [Scored(memory_id=memory_id, score=happened_at / 1e6) for memory_id, happened_at in rows]

    async def signals(self, where: Where, memory_ids: Sequence[str]) -> dict[str, Signals]:
        given = (*places_of(where.tenant, where.scopes), storable(memory_ids))
        rows = await self._read(where.tenant, _READING["signals"], *given)
        return {signals.memory_id: signals for signals in map(_signals_of, rows)}

    async def speakers(self, where: Where) -> frozenset[str]:
        given = places_of(where.tenant, where.scopes)
        rows = await self._read(where.tenant, _READING["speakers"], *given)
        return frozenset(row["speaker"].decode() for row in rows)

    async def audit(self, tenant: str, *, after: int = 0, limit: int = 1000) -> list[AuditEvent]:
        rows = await self._read(tenant, _READING["audit"], tenant, after, max(0, limit))
        return [decode_event(row["event"], row["hash"]) for row in rows]

    async def pending(self, *, limit: int = 100) -> list[OutboxEntry]:
        async def read(session: Session) -> list[Any]:
            await session.enter_drain()
            return await session.fetch(_READING["pending"], max(0, limit))

        return [OutboxEntry(**row) for row in await self._ready.connections.read(read)]

    async def acknowledge(self, sequences: Sequence[int]) -> None:
        async def write(session: Session) -> None:
            await session.enter_drain()
            await session.fetch(_READING["acknowledge"], list(sequences))

        await self._ready.connections.write(write)

    @property
    def _ready(self) -> _Opened:
        if self._opened is None:
            raise StoreUnavailable("closed")
        return self._opened

    async def _filtered(self, where: Where, statement: str, *values: Any) -> list[Any]:
        """The rows of a statement with the parameters of `where`, then `values`."""
        return await self._read(where.tenant, statement, *filter_of(where), *values)

    async def _read(self, tenant: str, statement: str, *values: Any) -> list[Any]:
        async def read(session: Session) -> list[Any]:
            await session.enter(tenant)
            return await session.fetch(statement, *values)

        return await self._ready.connections.read(read)


@dataclass(slots=True)
class _Opened:
    """What an open store holds."""

    connections: Connections
    promotions: Promotions
    terms: Terms
    space: VectorSpace
    durable: bool
    secrets: dict[str, bytes] = field(default_factory=dict)


async def _secret(session: Session, tenant: str) -> bytes:
    await session.enter(tenant)
    known = await session.fetch(_SESSION["secret"], tenant)
    if not known:
        await session.fetch(_SESSION["make_secret"], tenant, secrets.token_bytes(32))
        known = await session.fetch(_SESSION["secret"], tenant)
    return bytes(known[0]["secret"])


def _scored(rows: Sequence[Any]) -> list[Scored]:
    return [Scored(memory_id=memory_id, score=score) for memory_id, score in rows]


def _signals_of(row: Any) -> Signals:
    words, asking, oneself, timed = CUES.unpack(row["cues"])
    happened_at = from_micros(row["happened_at"])
    assert happened_at is not None
    return Signals(
        memory_id=row["memory_id"],
        happened_at=happened_at,
        session=_text(row["session"]),
        turn=-1 if row["turn"] is None else row["turn"],
        speaker=_text(row["speaker"]),
        cues=Cues(words=words, asking=asking, oneself=oneself, timed=timed),
    )


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()
