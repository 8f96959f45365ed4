"""Documents in the same SQLite file as the memories, in separate transactions."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import apsw

from mnemic.errors import StoreUnavailable
from mnemic.ports import Clock
from mnemic.runtime.clock import SystemClock
from mnemic.runtime.event_loop_thread import OneProcess
from mnemic.stores.codec import dump, to_micros
from mnemic.stores.relational.documents import (
    SCORE,
    DocumentReads,
    Page,
    best_first,
    check_batch,
    cosines,
    last_puts,
    path_of,
)
from mnemic.stores.relational.statements import load
from mnemic.stores.sqlite.database_file import BUSY_SECONDS, BusyHandler, connect, immediate, prepare, typed_failures
from mnemic.stores.sqlite.rows import asking, fetch
from mnemic.stores.sqlite.threads import reading
from mnemic.stores.store_verbs import run_through
from mnemic.types import DocumentAnswer, DocumentOperation, PutDocument, Vector, checked_identifier

_SQL = load("documents", "sqlite")
_VECTORS = "SELECT v.row_id, v.vector FROM document_vector v JOIN json_each(?) w ON w.value = v.row_id"
_PUT = """
    INSERT INTO document (tenant, path, key, value, created_at, updated_at, ttl, expires_at)
    VALUES (:tenant, :path, :key, :value, :now, :now, :ttl, :now + :ttl)
    ON CONFLICT (tenant, path, key) DO UPDATE SET
        value = excluded.value, updated_at = excluded.updated_at, ttl = excluded.ttl, expires_at = excluded.expires_at
    RETURNING row_id
"""
_SCRUB_SECONDS = 0.2

_Answers = tuple[list[DocumentAnswer], list[int]]
"""Answers of a batch, and the rows with a renewed time to live."""


class SqliteDocuments:
    """A `DocumentStore` in the file at `path`, which a `SqliteStore` and other processes may have open as well.

    May be called from any thread; `readers` of them read at once, one writes. The folder of `path` must exist.
    """

    def __init__(
        self, path: str | Path, *, durability: str = "durable", readers: int = 2, clock: Clock | None = None
    ) -> None:
        path = Path(path).absolute()
        self._clock = clock or SystemClock()
        self._busy = BusyHandler()
        self._lock = threading.Lock()
        self._process = OneProcess()
        self._closed = False
        self._reading: queue.LifoQueue[apsw.Connection] = queue.LifoQueue()
        self._reader_count = readers
        with typed_failures():
            self._writing = prepare(path, durability=durability, busy=self._busy)
            for _ in range(readers):
                self._reading.put(connect(path, durability=durability))

    def apply(
        self, tenant: str, operations: Sequence[DocumentOperation], *, hide_expired: bool = False
    ) -> list[DocumentAnswer]:
        check_batch(tenant, operations)
        self._process.check()
        now = _micros(self._clock)
        view = partial(_answers, tenant=tenant, hide=now if hide_expired else None, operations=operations)
        with typed_failures():
            if not any(isinstance(operation, PutDocument) for operation in operations):
                answers, refreshed = self._read(view)
                if refreshed:
                    with self._write() as connection:
                        connection.execute(_SQL["refresh"], (tenant, now, dump(refreshed)))
                return answers
            with self._write() as connection:
                answers, refreshed = view(connection)
                connection.execute(_SQL["refresh"], (tenant, now, dump(refreshed)))
                removed = _put_all(connection, tenant, operations, now)
            if removed:
                self._scrub()
            return answers

    def sweep(self, tenant: str) -> int:
        self._process.check()
        with typed_failures():
            with self._write() as connection:
                place = (checked_identifier(tenant, "tenant"), _micros(self._clock))
                removed = len(fetch(connection, _SQL["sweep"], place))
            if removed:
                self._scrub()
        return removed

    def close(self) -> None:
        if self._process.left:
            return
        with self._lock:
            if self._closed:
                return
            self._closed = True
            for _ in range(self._reader_count):
                self._reading.get().close()
            self._writing.close()

    def _read(self, view: Callable[[apsw.Connection], _Answers]) -> _Answers:
        if self._closed:
            raise StoreUnavailable("closed")
        connection = self._reading.get()
        try:
            with reading(connection):
                return view(connection)
        finally:
            self._reading.put(connection)

    @contextmanager
    def _write(self) -> Iterator[apsw.Connection]:
        with self._lock:
            if self._closed:
                raise StoreUnavailable("closed")
            self._busy.wait(BUSY_SECONDS)
            with immediate(self._writing):
                yield self._writing

    def _scrub(self) -> None:
        """Empty the log after a deletion, because its old pages still contain the deleted data. A reader may delay
        this.
        """
        with self._lock:
            self._busy.wait(_SCRUB_SECONDS)
            try:
                self._writing.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                return


def _answers(
    connection: apsw.Connection, tenant: str, hide: int | None, operations: Sequence[DocumentOperation]
) -> _Answers:
    reads = _Reads(asking(connection, _SQL), tenant, hide)
    reads.connection = connection
    return run_through(reads.answers, operations)


class _Reads(DocumentReads):
    connection: apsw.Connection

    async def _rows_near(self, vector: Vector, page: Page, within: tuple[Any, Any]) -> Sequence[Any]:
        rows = await self._ask("find_under", *self._place, None, 0, *within)
        vectors: dict[int, list[bytes]] = {}
        for row, stored in self.connection.execute(_VECTORS, (dump([row[0] for row in rows]),)):
            vectors.setdefault(row, []).append(stored)
        scores = cosines(vectors, vector)
        limit, offset = page
        end = None if limit is None else offset + limit
        return [(*row[:SCORE], scores.get(row[0])) for row in best_first(rows, scores)[offset:end]]


def _put_all(connection: apsw.Connection, tenant: str, operations: Iterable[DocumentOperation], now: int) -> bool:
    """Write the last put to each key; whether anything may have been deleted."""
    puts = last_puts(operations)
    ((last,),) = fetch(connection, _SQL["last_change"], (tenant,))
    for stamp, put in enumerate(puts, start=max(now, last + 1)):
        place: dict[str, Any] = {"tenant": tenant, "path": path_of(put.namespace), "key": put.key}
        if put.value is None:
            connection.execute("DELETE FROM document WHERE tenant = :tenant AND path = :path AND key = :key", place)
            continue
        ttl = None if put.ttl is None else put.ttl // timedelta(microseconds=1)
        ((row,),) = fetch(connection, _PUT, place | {"value": put.value, "now": stamp, "ttl": ttl})
        connection.execute("DELETE FROM document_vector WHERE row_id = ?", (row,))
        connection.executemany(
            "INSERT INTO document_vector VALUES (?, ?, ?)",
            [(row, number, vector) for number, vector in enumerate(put.vectors)],
        )
    return any(put.value is None for put in puts)


def _micros(clock: Clock) -> int:
    micros = to_micros(clock.now())
    assert micros is not None
    return micros
