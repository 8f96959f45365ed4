"""One write transaction. Its methods are coroutines that never suspend: a few statements each, on one thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

import apsw

from mnemic.errors import IdempotencyConflict, VersionConflict
from mnemic.stores.audit_chain import next_line
from mnemic.stores.codec import (
    DAMAGED,
    checked_marks,
    checked_request,
    checked_vector,
    damage_error,
    dump,
    is_message,
    text_check,
    to_micros,
    with_id,
    with_key,
)
from mnemic.stores.sqlite.graph import relate
from mnemic.stores.sqlite.index_files import drop
from mnemic.stores.sqlite.maintenance import usage
from mnemic.stores.sqlite.rows import (
    ACTIVE,
    BY_FINGERPRINT,
    GET_MANY,
    PENDING_BY_FINGERPRINT,
    Rows,
    WrittenRow,
    fetch,
    mark_facets,
    place,
    present,
    wanted_memories,
)
from mnemic.types import AuditEvent, Kind, Memory, OutboxEntry, Scope, Status, Usage, Vector, VectorSpace
from mnemic.types.memory import holds_graph

if TYPE_CHECKING:
    from mnemic.ports import MarkLock

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
_ENTER = """
    INSERT INTO scope (tenant, level, owner, changes) VALUES (?, ?, ?, 1)
    ON CONFLICT DO UPDATE SET changes = changes + 1 RETURNING scope_id, changes
"""
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


@dataclass(slots=True)
class GroupState:
    """State left by the earlier members of a group: `changed` memories; sequence and hash of the last line of the
    audit, by tenant; the rows `written`; and the vector space, None until it is read.
    """

    changed: Changed = field(default_factory=dict)
    lines: dict[str, tuple[int, str]] = field(default_factory=dict)
    written: list[WrittenRow] = field(default_factory=list)
    space: VectorSpace | None = None


class _Over:
    """Connection of a transaction that has ended."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("the transaction is over")


_OVER = _Over()


class SqliteTransaction:
    """The port's `Transaction` on a connection that has the write lock.

    `removed` is True if data was erased, so that the owner scrubs the log after the commit; `changed` maps tenant and
    memory_id of each written memory to its new state, None if it was removed; `lines` are the last lines of the audit
    that it has appended, by tenant; `written` are the rows that it has written. `fresh`: what the members of its group
    before it have left.
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
        self.changed: dict[tuple[str, str], Memory | None] = {}
        self.lines: dict[str, tuple[int, str]] = {}
        self.written: list[WrittenRow] = []

    def end(self) -> None:
        """Refuse every further call: the transaction is over."""
        self._open = cast("apsw.Connection", _OVER)

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        rows = fetch(self._open, GET_MANY, wanted_memories([memory_id], scopes))
        return with_id(memory_id, self._kept.read_fields(self._open, rows[0])) if rows else None

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        return self._kept.same(self._open, BY_FINGERPRINT, scope, fingerprint)

    async def find_pending(self, scope: Scope, fingerprint: str) -> Memory | None:
        return self._kept.same(self._open, PENDING_BY_FINGERPRINT, scope, fingerprint)

    async def find_key(self, scope: Scope, key: str) -> list[Memory]:
        rows = fetch(self._open, _BY_KEY, place(scope) | {"key": key})
        return [with_key(key, self._kept.read_fields(self._open, row)) for row in rows]

    async def nearest(self, scope: Scope, vector: Vector, *, limit: int, at_least: float) -> list[tuple[Memory, float]]:
        checked_vector(vector, self._dimension)
        return self._nearest(scope, vector, limit, at_least)

    async def insert(self, memory: Memory) -> None:
        checked_vector(memory.vector, self._dimension)
        if memory.version != 1:
            raise VersionConflict
        scope_id, changed = self._enter(memory.scope)
        row_id = scope_id << 32 | changed
        # The position of a message in its session is assigned under the write lock, so concurrent writers cannot take
        # the same one.
        turn = self._next_turn(scope_id, memory.source.session) if is_message(memory) else None
        given = {"row_id": row_id, "scope_id": scope_id, "changed": changed, "turn": turn}
        columns = self._kept.columns(memory)
        self._unless_taken(_INSERT, columns | given)
        searched, *checks = self._kept.search_columns(memory)
        self.written.append(WrittenRow(scope_id, changed, row_id, turn, memory, columns, searched))
        fetch(self._open, _INSERT_SEARCH, (row_id, *searched, *checks))
        if memory.kind is Kind.STRUCTURED:
            mark_facets(self._open, self._kept, scope_id, row_id, memory)
        if holds_graph(memory):
            self._relate(memory)
        self.changed[memory.scope.tenant, memory.memory_id] = memory

    async def replace(self, memory: Memory) -> None:
        checked_vector(memory.vector, self._dimension)
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
        self._unless_taken(_UPDATE, columns | {"row_id": row_id, "changed": changed})
        # Unchanged, with its checksum: damaged content must not be made to look intact.
        old = (memory.scope.tenant, memory.memory_id, version, body, checksum)
        fetch(self._open, "INSERT INTO memory_version VALUES (?, ?, ?, CAST(? AS TEXT), ?)", old)
        searched, *checks = self._kept.search_columns(memory)
        fetch(self._open, _UPDATE_SEARCH, (*searched, *checks, row_id))
        known = None if is_message(memory) else searched  # the turn of a message is in its row
        self.written.append(WrittenRow(scope_id, changed, row_id, None, memory, columns, known))
        if memory.kind is Kind.STRUCTURED:
            mark_facets(self._open, self._kept, scope_id, row_id, memory)
        if holds_graph(memory):
            self._relate(memory)
        self.changed[memory.scope.tenant, memory.memory_id] = memory

    async def remove(self, memory_id: str, *, scope: Scope) -> bool:
        stored = self._find_row(memory_id, scope)
        if stored is None:
            return False
        self.removed = True
        self.changed[scope.tenant, memory_id] = None
        row_id, scope_id, *_ = stored
        drop(self._open, scope_id)
        fetch(self._open, "DELETE FROM memory WHERE tenant = ? AND row_id = ?", (scope.tenant, row_id))
        self._enter(scope)
        fetch(
            self._open,
            "UPDATE scope SET removed_at = changes WHERE tenant = ? AND scope_id = ?",
            (scope.tenant, scope_id),
        )
        return True

    async def append_audit(self, event: AuditEvent) -> None:
        # The write lock serialises this: between reading the last line and appending the next one nobody else can
        # append, so the members of a group read it once.
        last = self.lines.get(event.tenant) or self._fresh.lines.get(event.tenant)
        if last is None:
            rows = fetch(self._open, _LAST_LINE, (event.tenant,))
            last = (rows[0][0], rows[0][1]) if rows else (0, "")
        sequence, text, digest = next_line(event, *last, self._kept.sealer.sign)
        fetch(self._open, "INSERT INTO audit VALUES (?, ?, ?, ?)", (event.tenant, sequence, text, digest))
        self.lines[event.tenant] = sequence, digest

    async def enqueue(self, entry: OutboxEntry) -> None:
        where = (entry.scope.tenant, entry.scope.level, entry.scope.owner)
        fetch(self._open, _ENQUEUE, (*where, entry.action, entry.memory_id, entry.version))

    async def find_request(self, tenant: str, idempotency_key: str) -> tuple[str, str] | None:
        sql = "SELECT digest, receipt, checksum FROM request WHERE tenant = ? AND idempotency_key = ?"
        rows = fetch(self._open, sql, (tenant, idempotency_key))
        if not rows:
            return None
        return checked_request(*rows[0])

    async def remember_request(
        self, tenant: str, idempotency_key: str, digest: str, receipt: str, at: datetime
    ) -> None:
        values = (tenant, idempotency_key, digest, receipt, to_micros(at), text_check(digest, receipt))
        try:
            fetch(self._open, "INSERT INTO request VALUES (?, ?, ?, ?, ?, ?)", values)
        except apsw.ConstraintError as error:
            raise IdempotencyConflict from error

    async def remove_requests(self, tenant: str, memory_ids: Collection[str], *, owner: str | None = None) -> int:
        self.removed = True
        named = {"tenant": tenant, "memory_ids": dump(sorted(memory_ids)), "prefix": owner and f"{owner}:"}
        return len(fetch(self._open, _FORGET_REQUESTS, named))

    async def usage(
        self, tenant: str, *, since: datetime, scope: Scope | None = None, settled: bool = True
    ) -> Mapping[Kind, Usage]:
        return await usage(self._open, tenant, since, scope)

    async def space(self) -> VectorSpace:
        if self._fresh.space is None:
            self._fresh.space = present(self._open)
            assert self._fresh.space is not None
        return self._fresh.space

    async def find_mark(self, tenant: str, name: str, *, lock: MarkLock | None = None) -> str | None:
        # There is one writer at a time, so every lock is held already.
        rows = fetch(self._open, "SELECT name, value, checksum FROM mark WHERE tenant = ? AND name = ?", (tenant, name))
        return checked_marks(rows).get(name)

    async def put_mark(self, tenant: str, name: str, value: str | None) -> None:
        if value is None:
            fetch(self._open, "DELETE FROM mark WHERE tenant = ? AND name = ?", (tenant, name))
        else:
            fetch(
                self._open,
                "INSERT OR REPLACE INTO mark VALUES (?, ?, ?, ?)",
                (tenant, name, value, text_check(name, value)),
            )

    def _enter(self, scope: Scope) -> tuple[int, int]:
        """Count one more change of `scope`; return its number and the new count."""
        ((scope_id, changes),) = fetch(self._open, _ENTER, (scope.tenant, scope.level, scope.owner))
        return scope_id, changes

    def _next_turn(self, scope_id: int, session: str | None) -> int:
        """Return the number of a further message of the session."""
        # `IS`, not `=`: a message outside a session has a NULL session, and those share one sequence.
        sql = "SELECT coalesce(max(turn) + 1, 0) FROM memory WHERE scope_id = ? AND session IS ? AND turn IS NOT NULL"
        ((turn,),) = fetch(self._open, sql, (scope_id, session))
        return int(turn)

    def _find_row(self, memory_id: str, scope: Scope) -> tuple[Any, ...] | None:
        rows = fetch(self._open, _STORED, (scope.tenant, memory_id, scope.level, scope.owner))
        return rows[0] if rows else None

    def _unless_taken(self, sql: str, columns: dict[str, Any]) -> None:
        """Write the row. A unique index refuses an identifier, or a fingerprint of an active memory, that is taken."""
        try:
            fetch(self._open, sql, columns)
        except apsw.ConstraintError as error:
            # Only a unique index means a lost race. Any other constraint is a defect and must not be retried.
            if getattr(error, "extendedresult", None) == apsw.SQLITE_CONSTRAINT_UNIQUE:
                raise VersionConflict from error
            raise

    def _relate(self, memory: Memory) -> None:
        """Write the graph of the memory."""
        relate(self._open, memory)
