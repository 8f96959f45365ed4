"""The record store in one SQLite file."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

import apsw

from mnemic.errors import InvalidConfig, StoreBusy, StoreUnavailable
from mnemic.ports import Capabilities, Transaction
from mnemic.stores.codec import checked_vector, decode_event, decode_memory, dump
from mnemic.stores.sqlite.failures import immediate, typed_failures
from mnemic.stores.sqlite.file import BUSY_SECONDS, claim_space
from mnemic.stores.sqlite.indexes import find_scope
from mnemic.stores.sqlite.opened import OpenFile
from mnemic.stores.sqlite.rows import (
    ACCEPTED,
    GET_MANY,
    MEMORY,
    SOURCES,
    fetch,
    filter_of,
    memory_of,
    phrase_query,
    wanted_memories,
)
from mnemic.stores.sqlite.threads import finished
from mnemic.text.analyse import parse_query
from mnemic.text.bm25 import Bm25
from mnemic.types import (
    AuditEvent,
    Deadline,
    Memory,
    OutboxEntry,
    Scope,
    Scored,
    Signals,
    Vector,
    VectorSpace,
    Where,
)

if TYPE_CHECKING:
    from mnemic.stores.scope_index import ScopeIndex

T = TypeVar("T")

_VERSIONS = "SELECT body FROM memory_version WHERE tenant = ? AND memory_id = ? ORDER BY version"
_NEWEST = (
    f"SELECT {MEMORY} FROM {SOURCES} WHERE {ACCEPTED} "  # noqa: S608
    "AND (:before IS NULL OR m.memory_id < :before) ORDER BY m.memory_id DESC LIMIT :limit"
)
_COUNT = f"SELECT count(*) FROM memory m WHERE {ACCEPTED}"  # noqa: S608
_AUDIT = "SELECT event, hash FROM audit WHERE tenant = ? AND sequence > ? ORDER BY sequence LIMIT ?"
_PENDING = "SELECT sequence, tenant, action, memory_id, version FROM outbox ORDER BY sequence LIMIT ?"


_FindPhrases = Callable[[list[list[int]]], set[int]]


class SqliteStore:
    """A `RecordStore` in the file at `path`, which many processes may open.

    `durability="durable"` syncs every commit to the disk; `"fast"` leaves that to the operating system and may lose
    the last moments at a power cut, never the file. `index_bytes` bounds the memory for search indexes, `readers` the
    threads that search; `vfs` names a registered file system of SQLite's. The folder of `path` must exist.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        durability: Literal["durable", "fast"] = "durable",
        bm25: Bm25 | None = None,
        index_bytes: int = 256 * 1024 * 1024,
        readers: int = 2,
        vfs: str | None = None,
    ) -> None:
        if durability not in ("durable", "fast"):
            raise InvalidConfig("durability", hint="durable or fast")
        self._path = Path(path).absolute()
        self._durability: str = durability
        self._bm25 = bm25 or Bm25()
        self._index_bytes = index_bytes
        self._reader_count = readers
        self._vfs = vfs
        self._opened: OpenFile | None = None

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(name="sqlite", durable=self._durability == "durable", shared=True, phrase=True)

    async def open(self, space: VectorSpace) -> None:
        if self._opened is None:
            self._opened = await asyncio.to_thread(self._open, space)
        else:
            await self._write(lambda opened: claim_space(opened.writing, space))

    def _open(self, space: VectorSpace) -> OpenFile:
        with typed_failures():
            return OpenFile(
                self._path,
                space,
                durability=self._durability,
                bm25=self._bm25,
                index_bytes=self._index_bytes,
                readers=self._reader_count,
                vfs=self._vfs,
            )

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await asyncio.to_thread(opened.close)

    async def transact(self, work: Callable[[Transaction], Awaitable[T]], *, deadline: Deadline | None = None) -> T:
        return await self._write(lambda opened: opened.transact(work), deadline)

    async def secret(self, tenant: str) -> bytes:
        return await self._write(lambda opened: opened.secret(tenant))

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        return (await self.get_many([memory_id], scopes=scopes)).get(memory_id)

    async def get_many(self, memory_ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        wanted = wanted_memories(memory_ids, scopes)
        rows = await self._read(lambda connection: fetch(connection, GET_MANY, wanted))
        found = {memory.memory_id: memory for memory in map(memory_of, rows)}
        return {memory_id: found[memory_id] for memory_id in memory_ids if memory_id in found}

    async def versions(self, memory_id: str, *, scopes: Sequence[Scope]) -> list[Memory]:
        def read(connection: apsw.Connection) -> list[Memory]:
            rows = fetch(connection, GET_MANY, wanted_memories([memory_id], scopes))
            if not rows:
                return []
            current = memory_of(rows[0])
            old = fetch(connection, _VERSIONS, (current.scope.tenant, memory_id))
            return [*(decode_memory(body, current.scope, None) for (body,) in old), current]

        return await self._read(read)

    async def newest(self, where: Where, *, limit: int, before: str | None = None) -> list[Memory]:
        wanted = filter_of(where) | {"before": before, "limit": max(0, limit)}

        def read(connection: apsw.Connection) -> list[Memory]:
            rows = [
                connection.execute(_NEWEST, wanted | {"scope_id": number}) for number in _numbers(connection, where)
            ]
            pages = [[memory_of(row) for row in page] for page in rows]
            merged = heapq.merge(*pages, key=lambda memory: memory.memory_id, reverse=True)
            return list(merged)[:limit]

        return await self._read(read)

    async def count(self, where: Where) -> int:
        wanted = filter_of(where)

        def read(connection: apsw.Connection) -> int:
            counts = (
                connection.execute(_COUNT, wanted | {"scope_id": number}) for number in _numbers(connection, where)
            )
            return sum(count for ((count,),) in counts)

        return await self._read(read)

    async def nearest(self, where: Where, vector: Vector, *, limit: int) -> list[Scored]:
        checked_vector(vector, self._ready.space.dimension)
        return await self._ranked(where, limit, lambda index, _: index.nearest(where, vector, limit=limit))

    async def match(self, where: Where, query: str, *, limit: int) -> list[Scored]:
        words, phrases = parse_query(query)
        number = self._ready.terms.number
        wanted = [number(word) for word in words]
        quoted = [[number(word) for word in phrase] for phrase in phrases]

        def search(index: ScopeIndex, find: _FindPhrases) -> list[Scored]:
            return index.match(where, wanted, limit=limit, rows=find(quoted) if quoted else None)

        return await self._ranked(where, limit, search)

    async def recent(self, where: Where, *, limit: int) -> list[Scored]:
        return await self._ranked(where, limit, lambda index, _: index.recent(where, limit=limit))

    async def signals(self, where: Where, memory_ids: Sequence[str]) -> dict[str, Signals]:
        def collect(indexes: Iterable[ScopeIndex]) -> dict[str, Signals]:
            return {memory_id: signals for index in indexes for memory_id, signals in index.signals(memory_ids).items()}

        return await self._through_indexes(where, collect)

    async def speakers(self, where: Where) -> frozenset[str]:
        return await self._through_indexes(
            where, lambda indexes: frozenset(name for index in indexes for name in index.speakers())
        )

    async def audit(self, tenant: str, *, after: int = 0, limit: int = 1000) -> list[AuditEvent]:
        wanted = (tenant, after, max(0, limit))
        rows = await self._read(lambda connection: fetch(connection, _AUDIT, wanted))
        return [decode_event(event, digest) for event, digest in rows]

    async def pending(self, *, limit: int = 100) -> list[OutboxEntry]:
        rows = await self._read(lambda connection: fetch(connection, _PENDING, (max(0, limit),)))
        names = ("sequence", "tenant", "action", "memory_id", "version")
        return [OutboxEntry(**dict(zip(names, row, strict=True))) for row in rows]

    async def acknowledge(self, sequences: Sequence[int]) -> None:
        taken = dump(list(sequences))

        def write(opened: OpenFile) -> None:
            with immediate(opened.writing):
                sql = "DELETE FROM outbox WHERE sequence IN (SELECT value FROM json_each(?))"
                opened.writing.execute(sql, (taken,))

        await self._write(write)

    @property
    def _ready(self) -> OpenFile:
        if self._opened is None:
            raise StoreUnavailable("closed")
        return self._opened

    async def _read(self, work: Callable[[apsw.Connection], T]) -> T:
        def run(connection: apsw.Connection) -> T:
            with typed_failures():
                return work(connection)

        return await self._ready.readers.run(run)

    async def _write(self, work: Callable[[OpenFile], T], deadline: Deadline | None = None) -> T:
        opened = self._ready

        def run() -> T:
            seconds = BUSY_SECONDS if deadline is None else deadline.remaining()
            if seconds <= 0:
                raise StoreBusy
            opened.patience.wait(seconds)
            with typed_failures():
                return work(opened)

        return await finished(opened.writer.submit(run))

    async def _ranked(
        self, where: Where, limit: int, search: Callable[[ScopeIndex, _FindPhrases], list[Scored]]
    ) -> list[Scored]:
        """The best of every scope's own list."""
        indexes = self._ready.indexes

        def read(connection: apsw.Connection) -> list[Scored]:
            found: list[Scored] = []
            for scope_id in _numbers(connection, where):
                with indexes.use(connection, scope_id) as index:
                    found += search(index, partial(_with_phrases, connection, scope_id))
            return heapq.nlargest(limit, found, key=lambda entry: (entry.score, entry.memory_id))

        return await self._read(read)

    async def _through_indexes(self, where: Where, collect: Callable[[Iterable[ScopeIndex]], T]) -> T:
        """What `collect` makes of the index of each scope, one after the other."""
        indexes = self._ready.indexes

        def read(connection: apsw.Connection) -> T:
            def each() -> Iterator[ScopeIndex]:
                for scope_id in _numbers(connection, where):
                    with indexes.use(connection, scope_id) as index:
                        yield index

            return collect(each())

        return await self._read(read)


def _numbers(connection: apsw.Connection, where: Where) -> list[int]:
    found = (find_scope(connection, scope) for scope in dict.fromkeys(where.scopes))
    return [number for number in found if number is not None]


def _with_phrases(connection: apsw.Connection, scope_id: int, phrases: list[list[int]]) -> set[int]:
    query = phrase_query(scope_id, phrases)
    return {row_id for (row_id,) in connection.execute("SELECT rowid FROM phrase WHERE phrase MATCH ?", (query,))}
