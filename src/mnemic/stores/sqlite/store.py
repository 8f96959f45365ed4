"""The record store in one SQLite file."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import apsw

from mnemic.errors import InvalidConfig, NotSupported, StoreUnavailable
from mnemic.runtime.event_loop_thread import OneProcess
from mnemic.stores.codec import EXACT_UP_TO, check_secret
from mnemic.stores.encryption import Sealer
from mnemic.stores.relational.maintenance import JobTables
from mnemic.stores.relational.statements import in_json
from mnemic.stores.sqlite import maintenance, row_rewriting
from mnemic.stores.sqlite.damage import find_damage
from mnemic.stores.sqlite.database_file import BUSY_SECONDS, ReservedSpace, claim_space, immediate, typed_failures
from mnemic.stores.sqlite.maintenance import OUTBOX
from mnemic.stores.sqlite.open_file import OpenFile
from mnemic.stores.sqlite.rows import BY_FINGERPRINT, fetch, find_place, marks
from mnemic.stores.sqlite.snapshot import SqliteSnapshot
from mnemic.stores.store_verbs import Scan, SingleReads, run_through
from mnemic.types import Deadline, Memory, Scope, Vector, VectorSpace
from mnemic.types.store_reads import Capabilities

if TYPE_CHECKING:
    from mnemic.ports import Keyring, Reseal, Snapshot, Transaction
    from mnemic.ports.record_store import Damage
    from mnemic.stores.relational.statements import Ask

T = TypeVar("T")

_TENANTS = "SELECT tenant FROM tenant ORDER BY tenant"


class SqliteStore(JobTables, SingleReads):
    """A `RecordStore` in the file at `path`, which many processes may open.

    `durability="durable"` syncs every commit to the disk; `"fast"` leaves that to the operating system and may lose the
    last moments at a power cut, but never damages the file. `index_bytes` bounds the memory for search indexes,
    `readers` the threads that search; `vfs` names a registered file system of SQLite's. The folder of `path` must
    exist.

    `reserved_bytes` are reserved in a file next to it and released when an erasure meets a full disk: SQLite must write
    in order to delete.

    A `keyring` decrypts sealed memories; if it `seals` too, new content is encrypted with the data key of its subject
    (`mnemic.stores.encryption`). No search is lost by that: indexes are made from decrypted rows, and a quoted phrase
    decrypts the rows that have all its words.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        durability: Literal["durable", "fast"] = "durable",
        index_bytes: int = 256 * 1024 * 1024,
        readers: int = 2,
        vfs: str | None = None,
        reserved_bytes: int = 0,
        keyring: Keyring | None = None,
        seals: bool = False,
    ) -> None:
        if durability not in ("durable", "fast"):
            raise InvalidConfig("durability", hint="durable or fast")
        self._path = Path(path).absolute()
        self._durability: str = durability
        self._index_bytes = index_bytes
        self._reader_count = readers
        self._vfs = vfs
        self._reserved_bytes = reserved_bytes
        self._sealer = Sealer(keyring, seals=seals, compact=True)
        self._opened: OpenFile | None = None
        self._process = OneProcess()
        self._spent: list[OpenFile] = []

    @cached_property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            name="sqlite",
            durable=self._durability == "durable",
            shared=True,
            phrase=True,
            exact_up_to=EXACT_UP_TO,
            sealed=frozenset({"content", "vectors", "words"} if self._sealer.seals else ()),
            grouped=True,
            reads_marks=True,
        )

    async def open(self, space: VectorSpace | None) -> None:
        # The process identity is taken at opening: a fork inherits the object, but neither its threads nor its locks.
        if self._opened is None:
            self._process = OneProcess()
            self._opened = await asyncio.to_thread(self._open, space)
        else:
            await self._write(lambda opened: claim_space(opened.writing, space))

    def _open(self, space: VectorSpace | None) -> OpenFile:
        with typed_failures():
            return OpenFile(
                self._path,
                space,
                durability=self._durability,
                index_bytes=self._index_bytes,
                readers=self._reader_count,
                vfs=self._vfs,
                reserved=ReservedSpace(self._path, self._reserved_bytes),
                sealer=self._sealer,
            )

    async def close(self) -> None:
        opened, self._opened = self._opened, None
        if self._process.left:
            return  # its threads are in the parent, and closing the file here would drop the locks it has there
        await self._close_spent()
        if opened is not None:
            await asyncio.to_thread(opened.close)

    async def transact(
        self,
        work: Callable[[Transaction], Awaitable[T]],
        *,
        deadline: Deadline | None = None,
        scope: Scope | None = None,
    ) -> T:
        result: T = await self._ready.groups.submit(work, deadline).result()
        return result

    async def transact_each(
        self, works: Sequence[Callable[[Transaction], Awaitable[T]]], *, deadline: Deadline | None = None, **_: Any
    ) -> list[T | BaseException]:
        return await self._ready.groups.submit_all(works, deadline).all()

    async def secret(self, tenant: str) -> bytes:
        return await self._write(lambda opened: opened.secret(tenant))

    async def tenants(self) -> list[str]:
        return await self._read(lambda connection: [name for (name,) in fetch(connection, _TENANTS)])

    async def adopt(self, tenant: str, secret: bytes) -> None:
        check_secret(await self._write(lambda opened: opened.secret(tenant, secret)), secret)

    async def read(self, work: Callable[[Snapshot], Awaitable[T]]) -> T:
        opened = self._ready

        def run(connection: apsw.Connection) -> T:
            snapshot = SqliteSnapshot(connection, indexes=opened.indexes, rows=opened.rows, space=opened.space)
            return run_through(work, snapshot)

        return await self._read(run)

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        rows = self._ready.rows
        return await self._read(lambda connection: rows.find_memory(connection, memory_id, scopes))

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        rows = self._ready.rows
        return await self._read(partial(rows.same, sql=BY_FINGERPRINT, scope=scope, fingerprint=fingerprint))

    async def expect(self, scope: Scope, vectors: Sequence[Vector], *, at_least: float) -> None:
        opened = self._ready
        # A vector of another model has another length; comparing it is an error of `transact`, not of a prefetch.
        fitting = [vector for vector in vectors if len(vector) == 4 * opened.space.dimension]

        def run(connection: apsw.Connection) -> None:
            place = find_place(connection, scope)
            if place is not None:
                with opened.indexes().use(connection, place) as index:
                    index.expect(fitting, at_least)

        if fitting:
            await self._read(run)

    async def find_damage(self, tenant: str) -> list[Damage]:
        return list(await self._read(partial(find_damage, tenant=tenant)))

    async def _scan(self, wanted: Scan) -> list[Memory]:
        rows = self._ready.rows
        return await self._read(lambda connection: maintenance.scan(connection, rows, wanted))

    async def marks_and_duplicate(
        self, tenant: str, prefix: str, scope: Scope, fingerprint: str, *, request: str | None
    ) -> tuple[dict[str, str], Memory | None]:
        rows = self._ready.rows

        def run(connection: apsw.Connection) -> tuple[dict[str, str], Memory | None]:
            same = rows.same(connection, BY_FINGERPRINT, scope, fingerprint)
            return marks(connection, tenant, prefix, after=None, limit=None), same

        return await self._read(run)

    async def marks(
        self, tenant: str, prefix: str, *, after: str | None = None, limit: int | None = None
    ) -> dict[str, str]:
        return await self._read(partial(marks, tenant=tenant, prefix=prefix, after=after, limit=limit))

    async def tidy(self, *, whole: bool = False) -> int:
        return await self._write(lambda opened: opened.tidy(whole=whole))

    async def seal(self, tenant: str) -> int:
        if not self._sealer.seals:
            raise NotSupported("seal", hint="this store does not seal: set MNEMIC_SEAL")
        sealed = await row_rewriting.seal_rows(self._write, tenant)
        if sealed:
            await self.tidy(whole=True)
        return sealed

    async def reseal(self, tenant: str, anew: Reseal) -> int:
        return await row_rewriting.reseal_rows(self._write, tenant, anew)

    async def traces(self, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]) -> dict[str, int]:
        # The bytes of the file are searched too: a row that is gone may still be readable in a free page or the log.
        found = await super().traces(tenant, memory_ids, fingerprints)
        return found | {"bytes": await asyncio.to_thread(maintenance.bytes_found, self._path, memory_ids, fingerprints)}

    async def begin_space(self, space: VectorSpace) -> None:
        if await self._write(lambda opened: row_rewriting.given_up(opened.writing, space)):
            await row_rewriting.remove_vectors(self._write)
            await self._write(lambda opened: row_rewriting.begin(opened.writing, space))

    async def memories_without_vector(self, *, limit: int) -> list[Memory]:
        rows = self._ready.rows
        return await self._read(lambda connection: row_rewriting.memories_without_vector(connection, rows, limit))

    async def fill(self, filled: Sequence[tuple[Memory, Vector]]) -> int:
        return await self._write(lambda opened: row_rewriting.fill(opened.writing, opened.rows, filled))

    async def switch_space(self) -> bool:
        def change(opened: OpenFile) -> OpenFile | None:
            space = row_rewriting.switch(opened.writing)
            if space is None:
                return None
            # In the writer's own turn: the next writer meets the new space, and indexes without old vectors.
            self._opened = self._open(space)
            return opened

        before = await self._write(change)
        if before is not None:
            # Readers may still use the old connections, so they are closed later.
            self._spent.append(before)
        return before is not None

    async def clear_space(self) -> None:
        await self._close_spent()
        if not await self._read(row_rewriting.is_filling):
            await row_rewriting.remove_vectors(self._write)

    async def _close_spent(self) -> None:
        while self._spent:
            await asyncio.to_thread(self._spent.pop().close)

    async def broken_audit(self, tenant: str) -> tuple[int, int | None, str]:
        return await self._read(lambda connection: maintenance.broken_audit(connection, tenant, self._sealer.sign))

    @property
    def _ready(self) -> OpenFile:
        self._process.check()
        if self._opened is None:
            raise StoreUnavailable("closed")
        return self._opened

    async def _jobs(self, tenant: str, work: Callable[[Ask], Awaitable[T]]) -> T:
        return await self._read(lambda connection: maintenance.jobs(connection, work))

    async def _read_outbox(self, name: str, *values: Any) -> list[Any]:
        return await self._read(lambda connection: fetch(connection, OUTBOX[name], values))

    async def _change_outbox(self, *steps: tuple[Any, ...]) -> None:
        def change(opened: OpenFile) -> None:
            with immediate(opened.writing):
                for name, *values in steps:
                    fetch(opened.writing, OUTBOX[name], in_json(values))

        await self._write(change)

    async def _take_entries(self, sequences: list[int], projection: str) -> None:
        await self._change_outbox(*((name, sequences, projection) for name in ("remove_taken", "take")))

    async def _read(self, work: Callable[[apsw.Connection], T]) -> T:
        return await self._ready.readers.run(work)

    async def _write(self, work: Callable[[OpenFile], T]) -> T:
        opened = self._ready

        def run() -> T:
            opened.busy.wait(BUSY_SECONDS)
            with typed_failures(opened.writing):
                return work(opened)

        return await opened.writer.run(run)
