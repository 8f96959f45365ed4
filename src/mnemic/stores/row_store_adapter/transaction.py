"""The port's `Transaction`, over rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from mnemic.errors import VersionConflict
from mnemic.ports import MarkLock, Transaction
from mnemic.ports.database_backend import RowChange, RowReads
from mnemic.stores.audit_chain import encode_event
from mnemic.stores.codec import DAMAGED, checked_vector, damage_error, is_message, moment_of
from mnemic.stores.in_memory_reads import StoredMemories, TermCounts, by_cosine
from mnemic.stores.row_store_adapter import audit_and_outbox, auxiliary_records
from mnemic.stores.row_store_adapter.memories import (
    ScopeCache,
    earlier_of,
    find_row,
    home_of,
    key_of,
    place_of,
    places_of,
)
from mnemic.stores.row_store_adapter.tables import (
    EARLIER,
    MEMORY,
    NEXT_VECTOR,
    PLACE,
    SCOPE,
    SPACE,
    USAGE,
    EarlierRow,
    MemoryRow,
)
from mnemic.types import AuditEvent, Kind, Memory, OutboxEntry, Scope, Status, Usage, Vector, VectorSpace
from mnemic.types.scope import first_id


class _Over:
    """Rows of a transaction that has ended."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("the transaction is over")


class LayeredTransaction(Transaction):
    """Changes to rows. The state of each scope that is touched is read once; changes go to the rows and to a copy of
    that state.
    """

    def __init__(self, rows: RowChange, scopes: ScopeCache) -> None:
        self._rows = rows
        self._scopes = scopes
        self._begun: dict[Scope, tuple[int, StoredMemories]] = {}
        self._now: dict[Scope, StoredMemories] = {}
        self._space: VectorSpace | None = None

    def end(self) -> None:
        """Refuse every further call: the transaction is over."""
        self._rows = cast("RowChange", _Over())

    def publish(self) -> None:
        """Put the changed scopes into the cache, after the commit."""
        for scope, state in self._now.items():
            self._scopes.keep(scope, self._begun[scope][0] + 1, state)

    async def space(self) -> VectorSpace:
        if self._space is None:
            self._space = await present(self._rows)
        assert self._space is not None
        return self._space

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        for scope in dict.fromkeys(scopes):
            found = (await self._current(scope)).memories.get((scope.tenant, memory_id))
            if found is not None:
                return found
        return None

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        state = await self._current(scope)
        return state.whole(state.find_fingerprint(scope, fingerprint))

    async def find_pending(self, scope: Scope, fingerprint: str) -> Memory | None:
        state = await self._current(scope)
        waiting = (m for m in state.memories.values() if m.fingerprint == fingerprint != "")
        pending = (memory for memory in waiting if memory.status is Status.PENDING_REVIEW)
        return state.whole(min(pending, key=lambda memory: memory.memory_id, default=None))

    async def find_key(self, scope: Scope, key: str) -> list[Memory]:
        return [memory for memory in (await self._current(scope)).active(scope) if memory.key == key]

    async def nearest(self, scope: Scope, vector: Vector, *, limit: int, at_least: float) -> list[tuple[Memory, float]]:
        checked_vector(vector, (await self.space()).dimension)
        await self._current(scope)
        ranked = by_cosine(self._begun[scope][1].active(scope), vector)
        return [(memory, score) for memory, score in ranked if score >= at_least][: max(0, limit)]

    async def insert(self, memory: Memory) -> None:
        checked_vector(memory.vector, (await self.space()).dimension)
        if memory.version != 1 or await self._is_taken(memory):
            raise VersionConflict
        state = await self._changing(memory)
        turn = state.next_turn(memory.scope, memory.source.session) if is_message(memory) else None
        await self._write(memory, state, turn)

    async def replace(self, memory: Memory) -> None:
        checked_vector(memory.vector, (await self.space()).dimension)
        if (before := await find_row(self._rows, key_of(memory))) is None or before.version != memory.version - 1:
            raise VersionConflict
        if memory.content == DAMAGED and memory.status is Status.ACTIVE:
            raise damage_error("memory")
        state = await self._changing(memory)
        place = (memory.scope.tenant, memory.memory_id)
        old = state.memories[place]
        # As it is, with its checksum: a damaged row must not look intact.
        was = EarlierRow(*place, before.version, before.fingerprint, before.body, before.checksum)
        await self._rows.put(EARLIER, [was])
        await self._count(before, -1)
        await self._write(memory, state, before.turn)
        state.history[place] = (*state.history.get(place, ()), replace(old, vector=None))

    async def remove(self, memory_id: str, *, scope: Scope) -> bool:
        place = (scope.tenant, memory_id)
        before = await find_row(self._rows, (*place_of(scope), memory_id))
        if before is None:
            return False
        state = await self._copy_scope(scope)
        state.drop(place)
        await self._rows.remove(EARLIER, [row[:3] for row in await earlier_of(self._rows, place)])
        await self._rows.remove(NEXT_VECTOR, [(*place, before.version)])
        await self._rows.remove(MEMORY, [before[:4]])
        await self._rows.remove(PLACE, [place])
        await self._count(before, -1)
        return True

    async def append_audit(self, event: AuditEvent) -> None:
        encode_event(event)
        await audit_and_outbox.append_audit(self._rows, event, self._scopes.rows.sealer.sign)

    async def enqueue(self, entry: OutboxEntry) -> None:
        await audit_and_outbox.enqueue(self._rows, entry)

    async def find_request(self, tenant: str, idempotency_key: str) -> tuple[str, str] | None:
        return await auxiliary_records.find_request(self._rows, tenant, idempotency_key)

    async def remember_request(
        self, tenant: str, idempotency_key: str, digest: str, receipt: str, at: datetime
    ) -> None:
        await auxiliary_records.remember_request(self._rows, tenant, idempotency_key, digest, receipt, at)

    async def remove_requests(self, tenant: str, memory_ids: Collection[str], *, owner: str | None = None) -> int:
        return await auxiliary_records.remove_requests(self._rows, tenant, memory_ids, owner)

    async def usage(
        self, tenant: str, *, since: datetime, scope: Scope | None = None, settled: bool = True
    ) -> Mapping[Kind, Usage]:
        return await usage(self._rows, tenant, since, scope)

    async def find_mark(self, tenant: str, name: str, *, lock: MarkLock | None = None) -> str | None:
        # A row store commits only if nothing that was read has changed since, with a lock or without.
        return await auxiliary_records.find_mark(self._rows, tenant, name)

    async def put_mark(self, tenant: str, name: str, value: str | None) -> None:
        await auxiliary_records.put_mark(self._rows, tenant, name, value)

    async def _is_taken(self, memory: Memory) -> bool:
        """Check whether a memory has the identifier of a new one."""
        return bool(await self._rows.get(PLACE, [(memory.scope.tenant, memory.memory_id)]))

    async def _current(self, scope: Scope) -> StoredMemories:
        """Return the scope in its present state inside this transaction."""
        if scope not in self._begun:
            self._begun[scope] = await self._scopes.state(self._rows, scope)
        return self._now.get(scope) or self._begun[scope][1]

    async def _copy_scope(self, scope: Scope) -> StoredMemories:
        """Return a copy of the scope that may be changed, with one more change counted."""
        state = await self._current(scope)
        if scope not in self._now:
            self._now[scope] = state = state.copy()
            await self._rows.put(SCOPE, [(*place_of(scope), self._begun[scope][0] + 1)])
        return state

    async def _changing(self, memory: Memory) -> StoredMemories:
        """Return the scope of a memory that is about to be written. Raises VersionConflict if another active memory has
        its fingerprint.
        """
        if memory.status is Status.ACTIVE:
            twin = (await self._current(memory.scope)).find_fingerprint(memory.scope, memory.fingerprint)
            if twin is not None and twin.memory_id != memory.memory_id:
                raise VersionConflict
        return await self._copy_scope(memory.scope)

    async def _write(self, memory: Memory, state: StoredMemories, turn: int | None) -> None:
        place, row = (memory.scope.tenant, memory.memory_id), self._scopes.rows.row(memory, turn)
        await self._rows.put(MEMORY, [row])
        await self._rows.put(PLACE, [self._scopes.rows.place(memory)])
        await self._count(row, 1)
        # As it will be read: values that JSON does not distinguish are equal from here on.
        copy = self._scopes.rows.memory(row)
        state.memories[place], state.terms[place] = copy, TermCounts.from_memory(copy)
        state.damaged.discard(place)
        if turn is not None:
            state.turns[place] = turn

    async def _count(self, row: MemoryRow, by: int) -> None:
        """Count the row of a memory in, or out."""
        key = (*home_of(row), row.kind)
        known = await self._rows.get(USAGE, [key])
        memories, size = known[0][4:] if known else (0, 0)
        await self._rows.put(USAGE, [(*key, memories + by, size + by * len(row.body.encode()))])


async def present(rows: RowReads, use: str = "present") -> VectorSpace | None:
    """Return the vector space in use, or the one that is being filled (`next`)."""
    found = await rows.get(SPACE, [(use,)])
    return VectorSpace(model=found[0][1], dimension=found[0][2]) if found else None


async def usage(rows: RowReads, tenant: str, since: datetime, scope: Scope | None) -> dict[Kind, Usage]:
    """Return the port's `usage`: totals from the counters, recent numbers from the order of identifiers."""
    prefix = (tenant,) if scope is None else place_of(scope)
    recent: Counter[str] = Counter()
    # No identifier is `first_id` itself: it is the beginning of one.
    for row in await places_of(rows, (tenant,), after=first_id(since)):
        if home_of(row)[: len(prefix)] == prefix and moment_of(row.created_at) >= since:
            recent[row.kind] += 1
    counted: dict[Kind, Usage] = {}
    for *_, kind, memories, size in await rows.scan(USAGE, prefix):
        before = counted.get(Kind(kind), Usage())
        if memories:
            counted[Kind(kind)] = Usage(before.rows + memories, before.bytes + size, recent[kind])
    return counted
