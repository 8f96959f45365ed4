"""Documents in PostgreSQL, next to the memories, in separate transactions."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, Literal, TypeVar

from mnemic.errors import StoreUnavailable
from mnemic.ports import Clock
from mnemic.runtime.clock import SystemClock
from mnemic.stores.codec import to_micros
from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.database_access import DatabaseAccess, OpenDatabase
from mnemic.stores.postgres.row_rewriting import spelt
from mnemic.stores.postgres.rows import columns, raw, vector_parameter
from mnemic.stores.postgres.statements import asking, load
from mnemic.stores.relational.documents import DocumentReads, Page, check_batch, last_puts, path_of
from mnemic.stores.relational.statements import load as shared
from mnemic.types import DocumentAnswer, DocumentOperation, Namespace, PutDocument, Vector, checked_identifier

T = TypeVar("T")

_DOCUMENTS = load("documents")
_SHARED = shared("documents", "postgres")


class PostgresDocuments:
    """A `DocumentStore` in the database at `dsn`, with or without memories in it; see `PostgresStore` for the options.

    May be called from any thread. The database is reached, and brought up to date, at the first call.
    """

    def __init__(
        self,
        dsn: str,
        *,
        owner_dsn: str | None = None,
        pool_size: int = 4,
        statement_timeout: float = 10.0,
        durability: Literal["durable", "fast"] = "durable",
        clock: Clock | None = None,
    ) -> None:
        self._access = DatabaseAccess.from_settings(dsn, owner_dsn, pool_size, statement_timeout, durability)
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._opened: OpenDatabase | None = None
        self._closed = False

    def apply(
        self, tenant: str, operations: Sequence[DocumentOperation], *, hide_expired: bool = False
    ) -> list[DocumentAnswer]:
        check_batch(tenant, operations)
        now = self._now()
        batch = _Batch(tenant, operations, now, now if hide_expired else None)
        return self._run(batch.apply)

    def sweep(self, tenant: str) -> int:
        checked_identifier(tenant, "tenant")
        return self._run(partial(_sweep, tenant=tenant, now=self._now()))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close_and_wait()

    def _now(self) -> int:
        micros = to_micros(self._clock.now())
        assert micros is not None
        return micros

    def _run(self, work: Callable[[Connections], Coroutine[Any, Any, T]]) -> T:
        with self._lock:
            if self._closed:
                raise StoreUnavailable("closed")
            if self._opened is None:
                self._opened = self._access.open_and_wait()
            opened = self._opened
        return opened.thread.call(work(opened.connections))


@dataclass(slots=True)
class _Batch:
    """A batch of one tenant. `hide`: documents that have expired by this time are hidden."""

    tenant: str
    operations: Sequence[DocumentOperation]
    now: int
    hide: int | None

    async def apply(self, connections: Connections) -> list[DocumentAnswer]:
        """Return the reads of one moment; with puts, reads and puts are one transaction that has the tenant's lock."""
        puts = last_puts(self.operations)
        if puts:
            return await connections.write(partial(self._read_and_put, puts))
        answers, refreshed = await connections.read(self._read)
        # Reading is read-only; only a document that restarts its time to live costs a write.
        if refreshed:
            await connections.write(partial(self._refresh, refreshed))
        return answers

    async def _read_and_put(self, puts: Sequence[PutDocument], session: Session) -> list[DocumentAnswer]:
        await session.enter(self.tenant, _lock_of(self.tenant))
        answers, refreshed = await self._read(session)
        if refreshed:
            await self._refresh(refreshed, session)
        await _put(session, self.tenant, puts, self.now)
        return answers

    async def _refresh(self, rows: Sequence[int], session: Session) -> None:
        await session.enter(self.tenant)
        await session.fetch(_SHARED["refresh"], self.tenant, self.now, sorted(rows))

    async def _read(self, session: Session) -> tuple[list[DocumentAnswer], list[int]]:
        """Return the answers, and the rows that restart their time to live."""
        await session.enter(self.tenant)
        reads = _Reads(asking(session.fetch, _SHARED | _DOCUMENTS), self.tenant, self.hide)
        return await reads.answers(self.operations)


class _Reads(DocumentReads):
    beyond = b"\xff"

    @staticmethod
    def _text(text: str) -> Any:
        return raw(text)

    async def _rows_near(self, vector: Vector, page: Page, within: tuple[Any, Any]) -> Sequence[Any]:
        return await self._ask("find_near", *self._place, *page, *within, vector_parameter(vector))


async def _put(session: Session, tenant: str, puts: Sequence[PutDocument], now: int) -> None:
    """Write the last put to each key. The tenant's lock is taken."""
    gone = [(_path(put.namespace), raw(put.key)) for put in puts if put.value is None]
    if gone:
        await session.fetch(_DOCUMENTS["delete"], tenant, *columns(gone, 2))
    kept = [put for put in puts if put.value is not None]
    if not kept:
        return
    last = (await session.fetch(_SHARED["last_change"], tenant))[0][0]
    # The port promises that no two changes of a tenant have the same time, even if the clock stops or goes back.
    given = [_columns_of(put, at) for at, put in enumerate(kept, start=max(now, last + 1))]
    rows = await session.fetch(_DOCUMENTS["put"], tenant, *columns(given, 5))
    numbers = {(row["path"], row["key"]): row["row_id"] for row in rows}
    await session.fetch(_DOCUMENTS["clear_vectors"], tenant, sorted(numbers.values()))
    vectors = [
        (numbers[path, key], place, spelt(vector))
        for (path, key, *_), put in zip(given, kept, strict=True)
        for place, vector in enumerate(put.vectors)
    ]
    if vectors:
        await session.fetch(_DOCUMENTS["put_vectors"], tenant, *columns(vectors, 3))


async def _sweep(connections: Connections, *, tenant: str, now: int) -> int:
    async def work(session: Session) -> int:
        await session.enter(tenant)
        return len(await session.fetch(_SHARED["sweep"], tenant, now))

    return await connections.write(work)


def _columns_of(put: PutDocument, at: int) -> tuple[Any, ...]:
    raw(put.value)
    ttl = None if put.ttl is None else put.ttl // timedelta(microseconds=1)
    return _path(put.namespace), raw(put.key), put.value, at, ttl


def _path(namespace: Namespace) -> bytes:
    path = raw(path_of(namespace))
    assert path is not None
    return path


def _lock_of(tenant: str) -> int:
    """Return the advisory lock for writers of documents of the tenant: 64 bits."""
    name = hashlib.blake2b(tenant.encode(), digest_size=8, person=b"mnemic.document")
    return int.from_bytes(name.digest(), "big", signed=True)
