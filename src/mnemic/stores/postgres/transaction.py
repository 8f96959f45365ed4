"""One write transaction. Its methods issue their queries as steps, which the store's driver runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from mnemic.errors import IdempotencyConflict, VersionConflict
from mnemic.ports import MarkLock, Transaction
from mnemic.stores.audit_chain import encode_event
from mnemic.stores.codec import (
    DAMAGED,
    checked_marks,
    checked_request,
    checked_vector,
    damage_error,
    is_message,
    text_check,
    to_micros,
    with_fingerprint,
    with_key,
)
from mnemic.stores.postgres.audit_chain import AuditAppender, TenantAppend
from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.graph import relate
from mnemic.stores.postgres.indexes import Indexes
from mnemic.stores.postgres.maintenance import JOBS
from mnemic.stores.postgres.nearest import Nearest
from mnemic.stores.postgres.rows import (
    Bodies,
    HashedTerms,
    ScopeState,
    Words,
    Written,
    columns_of,
    digest,
    facet_numbers,
    lock_of_mark,
    lock_of_tenant,
    place_of,
    places_of,
    postings_of,
    raw,
    storable,
    unpack,
    words_are_whole,
)
from mnemic.stores.postgres.scope_access import GroupState, Look, ScopeAccess
from mnemic.stores.postgres.shared_statements import asking
from mnemic.stores.postgres.statements import load
from mnemic.stores.relational.maintenance import in_json, usage
from mnemic.stores.transaction_work import Step
from mnemic.types import AuditEvent, Kind, Memory, OutboxEntry, Scope, Status, Usage, Vector, VectorSpace

_READING = load("reading")
_WRITING = load("writing")


class PostgresTransaction(ScopeAccess, Transaction):
    """The port's `Transaction` on a connection inside BEGIN and COMMIT, alone there or a member of a group.

    The first access to a scope takes its lock, so that nothing read there can be stale when it is written. Lines of the
    tenant's audit and entries of the outbox are written by `finish`, for all members at once.
    """

    def __init__(
        self,
        session: Session,
        common: GroupState,
        *,
        terms: HashedTerms,
        bodies: Bodies,
        dimensions: Sequence[int],
        indexes: Indexes,
        trails: AuditAppender,
    ) -> None:
        super().__init__(session, common)
        self._terms = terms
        self._bodies = bodies
        self._dimensions = dimensions
        self._indexes = indexes
        self._trails = trails
        self._before: dict[tuple[str, str], Memory | None] = {}
        self._changed: dict[tuple[str, str], Memory | None] = {}
        self.wrote = False

    def pass_on(self) -> None:
        """Give the changes of this member to the next member of the group."""
        self._common.changed |= self._changed

    async def finish(self) -> None:
        """Write the deferred lines and entries."""
        await self._flush()
        common, used = self._common, self._common.used.tenants
        for tenant in sorted(common.events.keys() | common.entries.keys() | used.keys()):
            await self._enter(tenant)
            trail = TenantAppend(common.events.get(tenant, []), common.entries.get(tenant, []), used.get(tenant, {}))
            await self._trails.leave(self._rows, tenant, trail, self._bodies.sealer.sign)
        if common.written:
            self._open.committed = partial(self._indexes.take_in, common.places, common.written)

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        wanted = storable([memory_id])
        for scope in sorted(set(scopes)):  # in a fixed order, so that two transactions cannot deadlock
            await self._lock(scope)
        for tenant in dict.fromkeys(scope.tenant for scope in scopes):
            await self._enter(tenant)
            rows = await self._ask(_READING["get_many"], *places_of(tenant, scopes), wanted)
            if rows:
                return self._bodies.read_fields(rows[0])
        return None

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        if self._common.grouped:
            await Look(scope, fingerprint)
        if (scope, fingerprint) in self._common.absent:
            return None
        if scope in self._common.places:
            await self._enter(scope.tenant)
            rows = await self._ask(_READING["find_fingerprint"], *place_of(scope), fingerprint)
            return with_fingerprint(fingerprint, self._bodies.memory(rows[0])) if rows else None
        row = await self._begin(scope, fingerprint)
        return None if row["body"] is None else with_fingerprint(fingerprint, self._bodies.memory(row, scope))

    async def find_pending(self, scope: Scope, fingerprint: str) -> Memory | None:
        await self._lock(scope)
        rows = await self._rows("find_pending", *place_of(scope), fingerprint)
        return with_fingerprint(fingerprint, self._bodies.memory(rows[0])) if rows else None

    async def find_key(self, scope: Scope, key: str) -> list[Memory]:
        await self._lock(scope)
        rows = await self._rows("find_key", *place_of(scope), digest(key))
        return [with_key(key, self._bodies.read_fields(row)) for row in rows]

    async def nearest(self, scope: Scope, vector: Vector, *, limit: int, at_least: float) -> list[tuple[Memory, float]]:
        self._check(vector)
        place = await self._lock(scope)
        if place is None or limit <= 0:
            return []
        near = Nearest(self._open, self._common, self._before, self._bodies, self._indexes, self._flush)
        # While the store changes to other vectors, the loaded index may contain the old ones.
        return await near.find(scope, place, vector, limit, at_least, indexed=len(vector) == 4 * self._dimensions[0])

    async def insert(self, memory: Memory) -> None:
        self._check(memory.vector)
        self.wrote = True
        if memory.version != 1:
            raise VersionConflict
        content, context = self._terms.hash_terms(memory)
        values, (body, *checks) = (
            columns_of(memory, content, context),
            self._bodies.encode_body(memory, content, context),
        )
        place = await self._place(memory.scope)
        head = (memory.scope.tenant, place.scope_id, memory.memory_id)
        tail = (
            place.large,
            body,
            raw(memory.author),
            is_message(memory),
            *_postings_of_memory(place, content, context),
            *checks,
        )
        self._common.wait(Written(memory, content, context, None), (*head, *values, *tail))
        if not self._common.grouped:
            await self._flush()
        self._common.used.add(memory.scope.tenant, memory.kind, 1, len(body.encode()))
        self._before.setdefault((memory.scope.tenant, memory.memory_id), None)
        await self._mark_facets(memory, place)
        await relate(self._ask, memory, known=False)
        self._changed[memory.scope.tenant, memory.memory_id] = memory

    async def replace(self, memory: Memory) -> None:
        self._check(memory.vector)
        self.wrote = True
        content, context = self._terms.hash_terms(memory)
        values, (body, *checks) = (
            columns_of(memory, content, context),
            self._bodies.encode_body(memory, content, context),
        )
        stored = await self._find_row(memory.memory_id, memory.scope)
        if stored is None or stored["version"] != memory.version - 1:
            raise VersionConflict
        if memory.content == DAMAGED and memory.status is Status.ACTIVE:
            raise damage_error("memory")
        place = await self._place(memory.scope)
        head = (memory.scope.tenant, place.scope_id, memory.memory_id)
        counted = _count_fields(memory.status, content.length, context.length)
        changes = [new - old for new, old in zip(counted, _counted_of(stored), strict=True)]
        tail = (place.large, body, raw(memory.author), *changes, stored["kind"], stored["bytes"], *checks)
        updated = await self._rows("update", *head, *values, *tail)
        if not updated:
            raise VersionConflict
        self._common.absent.discard((memory.scope, memory.fingerprint))
        self._common.used.add(memory.scope.tenant, stored["kind"], -1, -stored["bytes"])
        self._common.used.add(memory.scope.tenant, memory.kind, 1, updated[0]["bytes"])
        await self._repost(memory, stored, content, context, large=place.large)
        if memory.kind is Kind.STRUCTURED:
            await self._rows("unmark_facets", memory.scope.tenant, memory.memory_id)
        await self._mark_facets(memory, place)
        await relate(self._ask, memory, known=True)
        self._common.written.setdefault(memory.scope, []).append(Written(memory, content, context, updated[0]))
        self._before.setdefault((memory.scope.tenant, memory.memory_id), self._bodies.before(stored))
        self._changed[memory.scope.tenant, memory.memory_id] = memory

    async def _mark_facets(self, memory: Memory, place: ScopeState) -> None:
        marks = facet_numbers(self._terms, memory)
        if marks:
            await self._rows("mark_facets", memory.scope.tenant, place.scope_id, memory.memory_id, marks)

    async def remove(self, memory_id: str, *, scope: Scope) -> bool:
        stored = await self._find_row(memory_id, scope)
        if stored is None:
            return False
        self.wrote = True
        head = (scope.tenant, stored["scope_id"])
        await self._unpost(head, stored)
        for gone in await self._rows("remove", *head, memory_id, *(-count for count in _counted_of(stored))):
            self._common.used.add(scope.tenant, gone["kind"], -1, -gone["bytes"])
        self._before.setdefault((scope.tenant, memory_id), self._bodies.before(stored))
        self._changed[scope.tenant, memory_id] = None
        return True

    async def _unpost(self, head: tuple[str, int], stored: Any) -> None:
        """Remove the postings of a stored memory, if it has any; they are unknown if its words are damaged."""
        if stored["large"] and words_are_whole(stored):
            await self._rows("remove_postings", *head, stored["number"], _terms_of(stored))
        elif stored["large"]:
            await self._rows("remove_all_postings", *head, stored["number"])

    def _check(self, vector: Vector | None) -> None:
        """Raise InvalidInput (`vector`). Both dimensions are accepted while the store is moved to other vectors."""
        given = 0 if vector is None else len(vector) // 4
        checked_vector(vector, given if given in self._dimensions else self._dimensions[0])

    async def append_audit(self, event: AuditEvent) -> None:
        encode_event(event)
        self.wrote = True
        self._common.events.setdefault(event.tenant, []).append(event)

    async def enqueue(self, entry: OutboxEntry) -> None:
        self.wrote = True
        self._common.entries.setdefault(entry.scope.tenant, []).append(entry)

    async def find_request(self, tenant: str, idempotency_key: str) -> tuple[str, str] | None:
        await self._enter(tenant)
        rows = await self._plain("find_request", tenant, idempotency_key)
        return checked_request(*rows[0]) if rows else None

    async def remember_request(
        self, tenant: str, idempotency_key: str, digest: str, receipt: str, at: datetime
    ) -> None:
        await self._enter(tenant)
        self.wrote = True
        values = (digest, receipt, to_micros(at), text_check(digest, receipt))
        if not await self._plain("remember_request", tenant, idempotency_key, *values):
            raise IdempotencyConflict

    async def remove_requests(self, tenant: str, memory_ids: Collection[str], *, owner: str | None = None) -> int:
        await self._enter(tenant)
        self.wrote = True
        prefix = owner and f"{owner}:"
        return len(await self._rows("remove_requests", tenant, in_json(storable(memory_ids)), prefix))

    async def usage(
        self, tenant: str, *, since: datetime, scope: Scope | None = None, settled: bool = True
    ) -> Mapping[Kind, Usage]:
        if scope is not None:
            await self._lock(scope)
        elif settled:
            await self._flush()
            await Step(partial(self._open.enter, tenant, lock_of_tenant(tenant)))
        await self._enter(tenant)
        ask = asking(self._ask, JOBS)
        return await usage(
            ask, tenant, since, scope, {} if scope is not None else self._common.used.tenants.get(tenant, {})
        )

    async def space(self) -> VectorSpace:
        if self._common.space is None:
            (row,) = await self._ask(_READING["space"])
            self._common.space = VectorSpace(model=row["model"], dimension=row["dimension"])
        return self._common.space

    async def find_mark(self, tenant: str, name: str, *, lock: MarkLock | None = None) -> str | None:
        marks = self._common.marks
        # Who changes a mark waits for those who share it, so until the commit it stays as it was read.
        if lock == "shared" and (tenant, name) in marks:
            return marks[tenant, name]
        await self._enter(tenant)
        if lock is None:
            return checked_marks(await self._plain("find_mark", tenant, name)).get(name)
        rows = await self._plain(f"find_mark_{lock}", tenant, name, lock_of_mark(tenant, name))
        value = checked_marks(rows).get(name)
        self._common.share_mark(tenant, name, value)
        return value

    async def put_mark(self, tenant: str, name: str, value: str | None) -> None:
        await self._enter(tenant)
        self.wrote = True
        self._common.marks.pop((tenant, name), None)
        if value is None:
            await self._plain("remove_mark", tenant, name)
        else:
            await self._plain("put_mark", tenant, name, value, text_check(name, value))

    async def _repost(self, memory: Memory, stored: Any, content: Words, context: Words, *, large: bool) -> None:
        """Update the postings of a changed memory, if the data they contain has changed."""
        active = memory.status is Status.ACTIVE
        before = (stored["large"], stored["content"], stored["context"], stored["status"] == Status.ACTIVE)
        if before == (large, content.packed, context.packed, active):
            return
        head = (memory.scope.tenant, stored["scope_id"])
        await self._unpost(head, stored)
        if large:
            given = (stored["number"], content.length, context.length, active, *postings_of(content, context))
            await self._rows("insert_postings", *head, *given)

    async def _find_row(self, memory_id: str, scope: Scope) -> Any | None:
        await self._lock(scope)
        rows = await self._rows("stored", *place_of(scope), *(storable([memory_id]) or [""]))
        return rows[0] if rows else None


def _postings_of_memory(place: ScopeState, content: Words, context: Words) -> tuple[Sequence[int], ...]:
    """Return the postings of a memory with these words; a small scope has none."""
    return postings_of(content, context) if place.large else ((), (), ())


def _count_fields(status: str, content: int, context: int) -> tuple[int, int, int]:
    """Return a memory's contribution to the statistics of its scope."""
    return (1, content, context) if status == Status.ACTIVE else (0, 0, 0)


def _counted_of(stored: Any) -> tuple[int, int, int]:
    return _count_fields(stored["status"], stored["content_length"], stored["context_length"])


def _terms_of(stored: Any) -> list[int]:
    """Return the terms under which a stored memory has postings."""
    return sorted(unpack(stored["content"]) | unpack(stored["context"]))
