"""One write transaction. Its methods are coroutines that never suspend: a few statements each, on one thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import apsw

from mnemic.errors import IdempotencyConflict, VersionConflict
from mnemic.stores.audit_chain import next_line
from mnemic.stores.codec import (
    DAMAGED,
    checked_marks,
    checked_request,
    checked_vector,
    cosines,
    damage_error,
    dump,
    is_message,
    text_check,
    to_micros,
    with_id,
    with_key,
)
from mnemic.stores.relational import graph
from mnemic.stores.relational.statements import Ask, load
from mnemic.stores.sqlite.database_file import BUSY_SECONDS, BusyHandler, connect, immediate, prepare, typed_failures
from mnemic.stores.sqlite.index_files import drop
from mnemic.stores.sqlite.maintenance import usage
from mnemic.stores.sqlite.rows import (
    ACTIVE,
    BY_FINGERPRINT,
    GET_MANY,
    PENDING_BY_FINGERPRINT,
    Rows,
    WrittenRow,
    asking,
    fetch,
    find_place,
    mark_facets,
    place,
    present,
    wanted_memories,
)
from mnemic.stores.sqlite.threads import Readers, Threads
from mnemic.stores.store_verbs import run_through
from mnemic.types import AuditEvent, Kind, Memory, OutboxEntry, Scope, Status, Usage, Vector, VectorSpace
from mnemic.types.memory import holds_graph

if TYPE_CHECKING:
    from mnemic.ports import MarkLock


T = TypeVar("T")

_GRAPH = load("graph", "sqlite")


class _Opened:
    """An open file: one connection and thread that write, a few that read."""

    def __init__(self, path: Path, readers: int) -> None:
        with typed_failures():
            self.busy = BusyHandler()
            self.writing = prepare(path, durability="fast", busy=self.busy)
            self.readers = Readers(lambda: connect(path, durability="fast"), threads=readers)
        self.writer = Threads("mnemic-graph")

    def close(self) -> None:
        """Finish the running work, then release the file."""
        self.writer.close()
        self.readers.close()
        self.writing.close()


class SqliteGraph(graph.RelationalGraph[_Opened]):
    """A `GraphStore` in the file at `path`, which a `SqliteStore` and other processes may have open as well.

    `readers` of its calls read at once, one writes. The folder of `path` must exist.
    """

    def __init__(self, path: str | Path, *, readers: int = 2) -> None:
        super().__init__()
        self._path = Path(path).absolute()
        self._reader_count = readers

    async def _open_database(self) -> _Opened:
        return await asyncio.to_thread(_Opened, self._path, self._reader_count)

    async def _close_database(self, opened: _Opened) -> None:
        await asyncio.to_thread(opened.close)

    async def _read(self, tenant: str, work: Callable[[Ask], Awaitable[T]]) -> T:
        def run(connection: apsw.Connection) -> T:
            with typed_failures():
                return run_through(work, asking(connection, _GRAPH))

        return await (await self._ready()).readers.run(run)

    async def _write(self, tenant: str, work: Callable[[Ask], Awaitable[None]]) -> None:
        opened = await self._ready()

        def run() -> None:
            opened.busy.wait(BUSY_SECONDS)
            with typed_failures(), immediate(opened.writing):
                run_through(work, asking(opened.writing, _GRAPH))

        await opened.writer.run(run)


def relate(connection: apsw.Connection, memory: Memory) -> None:
    """Replace the graph of `memory` by its current content, in the transaction that writes the memory."""
    run_through(lambda ask: graph.relate(ask, memory, known=True), asking(connection, _GRAPH))


Nearest = Callable[[Scope, Vector, int, float], list[tuple[Memory, float]]]

# The plus prevents SQLite from sorting by the index: by age it would walk the whole scope.
_BY_KEY = ACTIVE + "AND m.key = :key AND m.key IS NOT NULL ORDER BY +m.memory_id"
_STORED = """
    SELECT m.row_id, m.scope_id, m.version, CAST(m.body AS BLOB), m.checksum
    FROM memory m JOIN scope c ON c.scope_id = m.scope_id JOIN memory_search s ON s.row_id = m.row_id
    WHERE m.tenant = ? AND m.memory_id = ? AND c.level = ? AND c.owner = ?
"""
_FORGET_REQUESTS = """
    DELETE FROM request WHERE tenant = :tenant AND (
        (substr(idempotency_key, 1, length(:prefix)) = :prefix
            AND NOT instr(substr(idempotency_key, length(:prefix) + 1), ':'))
        OR EXISTS (
            SELECT 1 FROM json_tree(receipt) said
            WHERE said.type = 'text' AND said.atom IN (SELECT value FROM json_each(:memory_ids))
        )
    ) RETURNING 1
"""
_LAST_LINE = "SELECT sequence, hash FROM audit WHERE tenant = ? ORDER BY sequence DESC LIMIT 1"
_ENQUEUE = "INSERT INTO outbox (tenant, level, owner, action, memory_id, version) VALUES (?, ?, ?, ?, ?, ?)"
_ENTER = "INSERT INTO scope (tenant, level, owner, changes) VALUES (?, ?, ?, 0) RETURNING scope_id, changes"
_COUNT = "UPDATE scope SET changes = ? WHERE scope_id = ?"
_INSERT = """
    INSERT INTO memory VALUES (
        :row_id, :tenant, :scope_id, :memory_id, :version, :changed, :kind, :status, :key, :category, :fingerprint,
        :happened_at, :began_at, :ended_at, :expires_at, :session, :turn, :body, :checksum
    )
"""
_INSERT_SEARCH = """
    INSERT INTO memory_search (row_id, vector, content, context, speaker, cues, vector_check, words_check)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
"""
_UPDATE_SEARCH = """
    UPDATE memory_search SET vector = ?, content = ?, context = ?, speaker = ?, cues = ?, vector_check = ?,
        words_check = ?, next_vector = NULL, next_vector_check = NULL
    WHERE row_id = ?
"""
_UPDATE = """
    UPDATE memory SET version = :version, changed = :changed, kind = :kind, status = :status, key = :key,
        category = :category, fingerprint = :fingerprint, happened_at = :happened_at, began_at = :began_at,
        ended_at = :ended_at, expires_at = :expires_at, session = :session, body = :body, checksum = :checksum
    WHERE tenant = :tenant AND memory_id = :memory_id AND row_id = :row_id
"""


Changed = dict[tuple[str, str], Memory | None]
"""Memories by tenant and memory_id; None if the row was removed."""


class Siblings:
    """Active memories of one scope that are written and not committed, in the order of their writing."""

    def __init__(self) -> None:
        self._memories: list[Memory] = []
        self._vectors: list[Vector] = []

    def append(self, memory: Memory) -> None:
        """Add a memory with a vector."""
        assert memory.vector is not None
        self._memories.append(memory)
        self._vectors.append(memory.vector)

    def find_near(self, vector: Vector, at_least: float) -> list[tuple[Memory, float]]:
        """Return those with at least this cosine."""
        scores = cosines(self._vectors, vector)
        return [pair for pair in zip(self._memories, scores, strict=True) if pair[1] >= at_least]


@dataclass(slots=True)
class Pending:
    """Rows of finished members of a group that are not in the file yet: every statement runs once for all of them."""

    memories: list[dict[str, Any]] = field(default_factory=list)
    searched: list[tuple[Any, ...]] = field(default_factory=list)
    lines: list[tuple[Any, ...]] = field(default_factory=list)
    entries: list[tuple[Any, ...]] = field(default_factory=list)
    requests: list[tuple[Any, ...]] = field(default_factory=list)
    places: dict[Scope, tuple[int, int]] = field(default_factory=dict)
    """Numbers of the scopes, and the changes that they have now."""

    def write(self, connection: apsw.Connection) -> None:
        """Write all of it. Raises VersionConflict if an identifier, or a fingerprint of an active memory, is taken,
        IdempotencyConflict if a request has been answered.
        """
        if self.places:
            connection.executemany(_COUNT, [(changes, scope_id) for scope_id, changes in self.places.values()])
        if self.memories:
            try:
                connection.executemany(_INSERT, self.memories)
            except apsw.ConstraintError as error:
                raise _conflict(error) from error
            connection.executemany(_INSERT_SEARCH, self.searched)
        if self.lines:
            connection.executemany("INSERT INTO audit VALUES (?, ?, ?, ?)", self.lines)
        if self.entries:
            connection.executemany(_ENQUEUE, self.entries)
        if self.requests:
            try:
                connection.executemany("INSERT INTO request VALUES (?, ?, ?, ?, ?, ?)", self.requests)
            except apsw.ConstraintError as error:
                raise IdempotencyConflict from error
        self.clear()

    def __bool__(self) -> bool:
        return bool(self.memories or self.lines or self.entries or self.requests or self.places)

    def clear(self) -> None:
        """Forget all of it."""
        for rows in (self.memories, self.searched, self.lines, self.entries, self.requests, self.places):
            rows.clear()

    def take(self, other: Pending) -> None:
        """Add the rows of another, which has none any more."""
        self.memories += other.memories
        self.searched += other.searched
        self.lines += other.lines
        self.entries += other.entries
        self.requests += other.requests
        self.places |= other.places
        other.clear()


class WriteFailed(Exception):
    """Rows of earlier members of a group could not be written: its cause is none of the member that met it."""


@dataclass(slots=True)
class GroupState:
    """State left by the earlier members of a group.

    `changed` are memories, `siblings` the active ones among them by scope (None: to be collected again), `fingerprints`
    those of rows that are `pending`, not in the file yet; `lines` have sequence and hash of the last line of the audit,
    by tenant; `answered` are requests, by tenant and key; `places` numbers and changes of scopes, `turns` the next of a
    session, `marks` those that were read with a lock, `written` the rows; `space` is None until it is read.
    """

    changed: Changed = field(default_factory=dict)
    siblings: dict[Scope, Siblings] | None = field(default_factory=dict)
    fingerprints: dict[tuple[Scope, str], Memory] = field(default_factory=dict)
    lines: dict[str, tuple[int, str]] = field(default_factory=dict)
    answered: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    places: dict[Scope, tuple[int, int]] = field(default_factory=dict)
    marks: dict[tuple[str, str], str | None] = field(default_factory=dict)
    turns: dict[tuple[int, str | None], int] = field(default_factory=dict)
    written: list[WrittenRow] = field(default_factory=list)
    pending: Pending = field(default_factory=Pending)
    space: VectorSpace | None = None

    def near(self, scope: Scope, vector: Vector, at_least: float) -> list[tuple[Memory, float]]:
        """Return the uncommitted active memories of a scope with at least this cosine."""
        if self.siblings is None:
            self.siblings = {}
            for memory in self.changed.values():
                self._add_sibling(memory)
        found = self.siblings.get(scope)
        return found.find_near(vector, at_least) if found is not None else []

    def _add_sibling(self, memory: Memory | None) -> None:
        if memory is not None and memory.status is Status.ACTIVE and memory.vector and self.siblings is not None:
            self.siblings.setdefault(memory.scope, Siblings()).append(memory)

    def note_changed(self, changed: Changed) -> None:
        """Take the memories that a member has written."""
        for name, memory in changed.items():
            if memory is None or memory.version > 1 or name in self.changed:
                self.siblings = None  # made again if anybody asks
            else:
                self._add_sibling(memory)
        self.changed.update(changed)


class _Over:
    """Connection of a transaction that has ended."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("the transaction is over")


_OVER = _Over()


class SqliteTransaction:
    """The port's `Transaction` on a connection that has the write lock.

    `removed` is True if data was erased, so that the owner scrubs the log after the commit. `fresh`: what the members
    of its group before it have left. Rows that are only inserted wait in `pending` and are written with those of the
    whole group, by one statement a table; whatever could see them writes them first (`_settled`). A member of a group
    that writes anything else is undone to a savepoint if it fails (`saved`).
    """

    def __init__(
        self, connection: apsw.Connection, *, rows: Rows, dimension: int, nearest: Nearest, fresh: GroupState
    ) -> None:
        self._open = connection
        self._fresh = fresh
        self._kept = rows
        self._dimension = dimension
        self._nearest = nearest
        self.removed = False
        self.saved = False
        self._changed: Changed = {}
        self._lines: dict[str, tuple[int, str]] = {}
        self._places: dict[Scope, tuple[int, int]] = {}
        self._fingerprints: dict[tuple[Scope, str], Memory] = {}
        self._answered: dict[tuple[str, str], tuple[str, str]] = {}
        self._turns: dict[tuple[int, str | None], int] = {}
        self._written: list[WrittenRow] = []
        self._pending = Pending()
        self._checked: Vector | None = None

    def end(self) -> None:
        """Refuse every further call: the transaction is over."""
        self._open = cast("apsw.Connection", _OVER)

    def pass_on(self) -> None:
        """Leave what it has written to the next member of its group."""
        fresh = self._fresh
        fresh.note_changed(self._changed)
        fresh.lines |= self._lines
        fresh.places |= self._places
        fresh.fingerprints |= self._fingerprints
        fresh.answered |= self._answered
        fresh.turns |= self._turns
        fresh.written += self._written
        fresh.pending.take(self._pending)
        if self.saved:
            self._open.execute("RELEASE member")

    def undo(self) -> None:
        """Undo what it has written, and nothing of the members before it."""
        if self.saved:
            self._open.execute("ROLLBACK TO member")
            self._open.execute("RELEASE member")
            self._fresh.marks.clear()  # one may have been read as it was changed here

    def _visible(self) -> apsw.Connection:
        """Return the connection for a statement that reads rows of memories."""
        return self._settled() if self._pending or self._fresh.pending else self._open

    def _settled(self) -> apsw.Connection:
        """Return the connection with all rows written, for a statement that writes."""
        if not self.saved:
            try:
                self._fresh.pending.write(self._open)
            except Exception as error:
                raise WriteFailed from error
            # From here on its rows are in the file. A member that fails is undone alone; the others commit.
            self._open.execute("SAVEPOINT member")
            self.saved = True
            self._fresh.fingerprints.clear()  # they are found in the file now, where they may be replaced
        self._pending.write(self._open)
        self._fingerprints.clear()
        return self._open

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        rows = fetch(self._visible(), GET_MANY, wanted_memories([memory_id], scopes))
        return with_id(memory_id, self._kept.read_fields(self._open, rows[0])) if rows else None

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        waiting = self._fingerprints.get((scope, fingerprint)) or self._fresh.fingerprints.get((scope, fingerprint))
        if waiting is not None:
            return waiting
        return self._kept.same(self._open, BY_FINGERPRINT, scope, fingerprint)

    async def find_pending(self, scope: Scope, fingerprint: str) -> Memory | None:
        return self._kept.same(self._visible(), PENDING_BY_FINGERPRINT, scope, fingerprint)

    async def find_key(self, scope: Scope, key: str) -> list[Memory]:
        rows = fetch(self._visible(), _BY_KEY, place(scope) | {"key": key})
        return [with_key(key, self._kept.read_fields(self._open, row)) for row in rows]

    async def nearest(self, scope: Scope, vector: Vector, *, limit: int, at_least: float) -> list[tuple[Memory, float]]:
        self._check(vector)
        return self._nearest(scope, vector, limit, at_least)

    async def insert(self, memory: Memory) -> None:
        self._check(memory.vector)
        if memory.version != 1:
            raise VersionConflict
        scope_id, changed = self._enter(memory.scope)
        row_id = scope_id << 32 | changed
        # The position of a message in its session is assigned under the write lock, so concurrent writers cannot take
        # the same one.
        turn = self._next_turn(scope_id, memory.source.session) if is_message(memory) else None
        columns = self._kept.columns(memory)
        searched, *checks = self._kept.search_columns(memory)
        given = {"row_id": row_id, "scope_id": scope_id, "changed": changed, "turn": turn}
        self._pending.memories.append(columns | given)
        self._pending.searched.append((row_id, *searched, *checks))
        self._written.append(WrittenRow(scope_id, changed, row_id, turn, memory, columns, searched))
        self._changed[memory.scope.tenant, memory.memory_id] = memory
        if memory.status is Status.ACTIVE and memory.fingerprint:
            self._fingerprints[memory.scope, memory.fingerprint] = memory
        if memory.kind is Kind.STRUCTURED:
            mark_facets(self._settled(), self._kept, scope_id, row_id, memory)
        if holds_graph(memory):
            relate(self._settled(), memory)

    async def replace(self, memory: Memory) -> None:
        self._check(memory.vector)
        stored = self._find_row(memory.memory_id, memory.scope)
        if stored is None or stored[2] != memory.version - 1:
            raise VersionConflict
        # Damaged content reads as a placeholder; writing it back would replace content that can still be restored from
        # a backup.
        if memory.content == DAMAGED and memory.status is Status.ACTIVE:
            raise damage_error("memory")
        row_id, scope_id, version, body, checksum = stored
        _, changed = self._enter(memory.scope)
        columns = self._kept.columns(memory)
        try:
            fetch(self._settled(), _UPDATE, columns | {"row_id": row_id, "changed": changed})
        except apsw.ConstraintError as error:
            raise _conflict(error) from error
        # Unchanged, with its checksum: damaged content must not be made to look intact.
        old = (memory.scope.tenant, memory.memory_id, version, body, checksum)
        fetch(self._open, "INSERT INTO memory_version VALUES (?, ?, ?, CAST(? AS TEXT), ?)", old)
        searched, *checks = self._kept.search_columns(memory)
        fetch(self._open, _UPDATE_SEARCH, (*searched, *checks, row_id))
        known = None if is_message(memory) else searched  # the turn of a message is in its row
        self._written.append(WrittenRow(scope_id, changed, row_id, None, memory, columns, known))
        if memory.kind is Kind.STRUCTURED:
            mark_facets(self._open, self._kept, scope_id, row_id, memory)
        if holds_graph(memory):
            relate(self._open, memory)
        self._changed[memory.scope.tenant, memory.memory_id] = memory

    async def remove(self, memory_id: str, *, scope: Scope) -> bool:
        stored = self._find_row(memory_id, scope)
        if stored is None:
            return False
        self.removed = True
        self._changed[scope.tenant, memory_id] = None
        row_id, scope_id, *_ = stored
        self._settled()
        self._turns.clear()
        self._fresh.turns.clear()
        drop(self._open, scope_id)
        fetch(self._open, "DELETE FROM memory WHERE tenant = ? AND row_id = ?", (scope.tenant, row_id))
        self._enter(scope)
        fetch(
            self._settled(),
            "UPDATE scope SET removed_at = changes WHERE tenant = ? AND scope_id = ?",
            (scope.tenant, scope_id),
        )
        return True

    async def append_audit(self, event: AuditEvent) -> None:
        # The write lock serialises this: between reading the last line and appending the next one nobody else can
        # append, so the members of a group read it once.
        last = self._lines.get(event.tenant) or self._fresh.lines.get(event.tenant)
        if last is None:
            rows = fetch(self._open, _LAST_LINE, (event.tenant,))
            last = (rows[0][0], rows[0][1]) if rows else (0, "")
        sequence, text, digest = next_line(event, *last, self._kept.sealer.sign)
        self._pending.lines.append((event.tenant, sequence, text, digest))
        self._lines[event.tenant] = sequence, digest

    async def enqueue(self, entry: OutboxEntry) -> None:
        where = (entry.scope.tenant, entry.scope.level, entry.scope.owner)
        self._pending.entries.append((*where, entry.action, entry.memory_id, entry.version))

    async def find_request(self, tenant: str, idempotency_key: str) -> tuple[str, str] | None:
        waiting = self._answered.get((tenant, idempotency_key)) or self._fresh.answered.get((tenant, idempotency_key))
        if waiting is not None:
            return waiting
        sql = "SELECT digest, receipt, checksum FROM request WHERE tenant = ? AND idempotency_key = ?"
        rows = fetch(self._open, sql, (tenant, idempotency_key))
        if not rows:
            return None
        return checked_request(*rows[0])

    async def remember_request(
        self, tenant: str, idempotency_key: str, digest: str, receipt: str, at: datetime
    ) -> None:
        values = (tenant, idempotency_key, digest, receipt, to_micros(at), text_check(digest, receipt))
        if (tenant, idempotency_key) in self._answered or (tenant, idempotency_key) in self._fresh.answered:
            raise IdempotencyConflict
        self._pending.requests.append(values)
        self._answered[tenant, idempotency_key] = digest, receipt

    async def remove_requests(self, tenant: str, memory_ids: Collection[str], *, owner: str | None = None) -> int:
        self.removed = True
        named = {"tenant": tenant, "memory_ids": dump(sorted(memory_ids)), "prefix": owner and f"{owner}:"}
        gone = len(fetch(self._settled(), _FORGET_REQUESTS, named))
        self._answered.clear()
        self._fresh.answered.clear()
        return gone

    async def usage(
        self, tenant: str, *, since: datetime, scope: Scope | None = None, settled: bool = True
    ) -> Mapping[Kind, Usage]:
        return await usage(self._visible(), tenant, since, scope)

    async def space(self) -> VectorSpace:
        if self._fresh.space is None:
            self._fresh.space = present(self._open)
            assert self._fresh.space is not None
        return self._fresh.space

    async def find_mark(self, tenant: str, name: str, *, lock: MarkLock | None = None) -> str | None:
        # There is one writer at a time, so every lock is held already; a mark that was read stays as it is.
        if lock is not None and (tenant, name) in self._fresh.marks:
            return self._fresh.marks[tenant, name]
        rows = fetch(self._open, "SELECT name, value, checksum FROM mark WHERE tenant = ? AND name = ?", (tenant, name))
        value = checked_marks(rows).get(name)
        if lock is not None:
            self._fresh.marks[tenant, name] = value
        return value

    async def put_mark(self, tenant: str, name: str, value: str | None) -> None:
        connection = self._settled()
        self._fresh.marks.pop((tenant, name), None)
        if value is None:
            fetch(connection, "DELETE FROM mark WHERE tenant = ? AND name = ?", (tenant, name))
        else:
            fetch(
                connection,
                "INSERT OR REPLACE INTO mark VALUES (?, ?, ?, ?)",
                (tenant, name, value, text_check(name, value)),
            )

    def _check(self, vector: Vector | None) -> None:
        """Raise InvalidInput for a vector that does not fit. The one that neighbours were looked for with is stored."""
        if vector is not self._checked:
            self._checked = checked_vector(vector, self._dimension)

    def _enter(self, scope: Scope) -> tuple[int, int]:
        """Count one more change of `scope`; return its number and the new count."""
        known = self._places.get(scope) or self._fresh.places.get(scope)
        if known is None:
            found = find_place(self._open, scope)
            known = found[:2] if found else fetch(self._settled(), _ENTER, (scope.tenant, scope.level, scope.owner))[0]
        entered = self._places[scope] = self._pending.places[scope] = known[0], known[1] + 1
        return entered

    def _next_turn(self, scope_id: int, session: str | None) -> int:
        """Return the number of a further message of the session."""
        # `IS`, not `=`: a message outside a session has a NULL session, and those share one sequence.
        sql = "SELECT coalesce(max(turn) + 1, 0) FROM memory WHERE scope_id = ? AND session IS ? AND turn IS NOT NULL"
        known = self._turns.get((scope_id, session), self._fresh.turns.get((scope_id, session)))
        if known is None:
            ((known,),) = fetch(self._open, sql, (scope_id, session))
        self._turns[scope_id, session] = int(known) + 1
        return int(known)

    def _find_row(self, memory_id: str, scope: Scope) -> tuple[Any, ...] | None:
        rows = fetch(self._visible(), _STORED, (scope.tenant, memory_id, scope.level, scope.owner))
        return rows[0] if rows else None


def _conflict(error: apsw.ConstraintError) -> Exception:
    """Return the error of a unique index that refuses an identifier, or a fingerprint of an active memory, that is
    taken: a lost race. Any other constraint is a defect and must not be retried.
    """
    unique = getattr(error, "extendedresult", None) == apsw.SQLITE_CONSTRAINT_UNIQUE
    return VersionConflict() if unique else error
