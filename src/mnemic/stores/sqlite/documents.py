"""Documents in the same SQLite file as the memories, in transactions of their own."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw

from mnemic.clock import SystemClock
from mnemic.errors import StoreUnavailable
from mnemic.forked import OneProcess
from mnemic.ports import Clock
from mnemic.stores.codec import dump, load, to_micros
from mnemic.stores.documents import check_batch, document_of, end_of, last_puts, namespace_of, path_of
from mnemic.stores.matching import accepts, best_first, cosines, keyword_scores, listed, texts_in
from mnemic.stores.sqlite.failures import immediate, typed_failures
from mnemic.stores.sqlite.file import BUSY_SECONDS, BusyHandler, connect, prepare
from mnemic.stores.sqlite.rows import fetch
from mnemic.stores.sqlite.threads import reading
from mnemic.types import (
    Document,
    DocumentAnswer,
    DocumentOperation,
    FindDocuments,
    GetDocument,
    ListNamespaces,
    Namespace,
    PutDocument,
    checked_identifier,
)

_COLUMNS = "row_id, path, key, value, created_at, updated_at, expires_at"
_LIVE = "(:hide IS NULL OR expires_at IS NULL OR expires_at > :hide)"
_GET = f"SELECT {_COLUMNS} FROM document WHERE tenant = :tenant AND path = :path AND key = :key AND {_LIVE}"  # noqa: S608
_UNDER = f"tenant = :tenant AND path >= :path AND path < :end AND {_LIVE}"
_FIND = f"SELECT {_COLUMNS} FROM document WHERE {_UNDER} ORDER BY updated_at DESC LIMIT :limit OFFSET :offset"  # noqa: S608
_PATHS = f"SELECT DISTINCT path FROM document WHERE tenant = :tenant AND {_LIVE}"  # noqa: S608
_VECTORS = "SELECT v.row_id, v.vector FROM document_vector v JOIN json_each(?) w ON w.value = v.row_id"
_PUT = """
    INSERT INTO document (tenant, path, key, value, created_at, updated_at, ttl, expires_at)
    VALUES (:tenant, :path, :key, :value, :now, :now, :ttl, :now + :ttl)
    ON CONFLICT (tenant, path, key) DO UPDATE SET
        value = excluded.value, updated_at = excluded.updated_at, ttl = excluded.ttl, expires_at = excluded.expires_at
    RETURNING row_id
"""
_REFRESH = """
    UPDATE document SET expires_at = :now + ttl
    WHERE ttl IS NOT NULL AND row_id IN (SELECT value FROM json_each(:rows))
"""
_SCRUB_SECONDS = 0.2

_VALUE = 3  # the place of `value` in _COLUMNS

_Row = tuple[Any, ...]
_Rows = list[tuple[int, Document]]


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
        view = _View(tenant, now if hide_expired else None)
        with typed_failures():
            if not any(isinstance(operation, PutDocument) for operation in operations):
                answers, refreshed = self._read(view, operations)
                if refreshed:
                    with self._write() as connection:
                        connection.execute(_REFRESH, {"now": now, "rows": dump(refreshed)})
                return answers
            with self._write() as connection:
                answers, refreshed = view.answers(connection, operations)
                connection.execute(_REFRESH, {"now": now, "rows": dump(refreshed)})
                removed = _put_all(connection, tenant, operations, now)
            if removed:
                self._scrub()
            return answers

    def sweep(self, tenant: str) -> int:
        self._process.check()
        sql = "DELETE FROM document WHERE tenant = ? AND expires_at <= ?"
        with typed_failures():
            with self._write() as connection:
                connection.execute(sql, (checked_identifier(tenant, "tenant"), _micros(self._clock)))
                removed = connection.changes()
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

    def _read(self, view: _View, operations: Sequence[DocumentOperation]) -> tuple[list[DocumentAnswer], list[int]]:
        if self._closed:
            raise StoreUnavailable("closed")
        connection = self._reading.get()
        try:
            with reading(connection):
                return view.answers(connection, operations)
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
        """After a deletion, empty the log, whose old pages still show what was deleted. A reader may delay that."""
        with self._lock:
            self._busy.wait(_SCRUB_SECONDS)
            try:
                self._writing.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                return


class _View:
    """View that one tenant has at one moment."""

    def __init__(self, tenant: str, hide: int | None) -> None:
        self._wanted: dict[str, Any] = {"tenant": tenant, "hide": hide}

    def answers(
        self, connection: apsw.Connection, operations: Sequence[DocumentOperation]
    ) -> tuple[list[DocumentAnswer], list[int]]:
        """Return the answers, and the rows whose time to live starts again."""
        answers: list[DocumentAnswer] = []
        refreshed: list[int] = []
        for operation in operations:
            rows: _Rows = []
            if isinstance(operation, GetDocument):
                rows = self._get(connection, operation)
                answers.append(rows[0][1] if rows else None)
            elif isinstance(operation, FindDocuments):
                rows = self._find(connection, operation)
                answers.append([document for _, document in rows])
            else:
                answers.append(self._listed(connection, operation) if isinstance(operation, ListNamespaces) else None)
            if isinstance(operation, GetDocument | FindDocuments) and operation.refresh:
                refreshed += [row for row, document in rows if document.expires_at is not None]
        return answers, refreshed

    def _get(self, connection: apsw.Connection, wanted: GetDocument) -> _Rows:
        parameters = self._wanted | {"path": path_of(wanted.namespace), "key": wanted.key}
        return [_document(row) for row in fetch(connection, _GET, parameters)]

    def _find(self, connection: apsw.Connection, wanted: FindDocuments) -> _Rows:
        start = path_of(wanted.prefix)
        end = end_of(start) if start else "\U0010ffff"
        parameters = self._wanted | {"path": start, "end": end, "limit": -1, "offset": 0}
        if wanted.vector is None and not wanted.query and not wanted.conditions:
            parameters |= {"limit": wanted.limit, "offset": wanted.offset}
            return [_document(row) for row in fetch(connection, _FIND, parameters)]
        rows = fetch(connection, _FIND, parameters)
        if wanted.conditions:
            rows = [row for row in rows if accepts(load(row[_VALUE]), wanted.conditions)]
        scores = _scores(connection, rows, wanted)
        page = best_first(rows, scores)[wanted.offset : wanted.offset + wanted.limit]
        return [_document(row, scores.get(row[0])) for row in page]

    def _listed(self, connection: apsw.Connection, wanted: ListNamespaces) -> list[Namespace]:
        return listed([namespace_of(path) for (path,) in connection.execute(_PATHS, self._wanted)], wanted)


def _scores(connection: apsw.Connection, rows: Sequence[_Row], wanted: FindDocuments) -> Mapping[int, float]:
    if wanted.vector is None:
        texts = {row[0]: "\n".join(texts_in(load(row[_VALUE]))) for row in rows} if wanted.query else {}
        return keyword_scores(texts, wanted.query or "")
    vectors: dict[int, list[bytes]] = {}
    for row, vector in connection.execute(_VECTORS, (dump([row[0] for row in rows]),)):
        vectors.setdefault(row, []).append(vector)
    return cosines(vectors, wanted.vector)


def _put_all(connection: apsw.Connection, tenant: str, operations: Iterable[DocumentOperation], now: int) -> bool:
    """Write the last put to each key; whether anything may have been deleted."""
    puts = last_puts(operations)
    ((last,),) = fetch(connection, "SELECT coalesce(max(updated_at), 0) FROM document WHERE tenant = ?", (tenant,))
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


def _document(row: _Row, score: float | None = None) -> tuple[int, Document]:
    row_id, path, key, value, *times = row
    return row_id, document_of(path, key, value, times=(times[0], times[1], times[2]), score=score)


def _micros(clock: Clock) -> int:
    micros = to_micros(clock.now())
    assert micros is not None
    return micros
