"""One write transaction. Its methods issue their queries as steps, which the store's driver runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from mnemic.errors import IdempotencyConflict, StoreCorrupt, VersionConflict
from mnemic.ports import MarkLock, Transaction
from mnemic.stores.audit_chain import encode_event
from mnemic.stores.codec import (
    DAMAGED,
    checked_marks,
    checked_request,
    checked_vector,
    cosines,
    damage_error,
    is_message,
    text_check,
    to_micros,
    with_fingerprint,
    with_key,
)
from mnemic.stores.postgres.audit_chain import AuditAppender, TenantAppend, UsageChanges
from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.graph import relate
from mnemic.stores.postgres.indexes import Indexes
from mnemic.stores.postgres.maintenance import JOBS
from mnemic.stores.postgres.rows import (
    Bodies,
    HashedTerms,
    LruMapping,
    ScopeState,
    Words,
    Written,
    columns_of,
    digest,
    facet_numbers,
    lock_of,
    lock_of_mark,
    lock_of_tenant,
    place_of,
    places_of,
    postings_of,
    raw,
    storable,
    unpack,
    vector_parameter,
    words_are_whole,
)
from mnemic.stores.postgres.statements import asking, load
from mnemic.stores.relational.maintenance import in_json, usage
from mnemic.stores.scope_index import ScopeIndex
from mnemic.stores.store_verbs import Step
from mnemic.types import AuditEvent, Kind, Memory, OutboxEntry, Scope, Status, Usage, Vector, VectorSpace, Where

Insert = tuple[Written, tuple[Any, ...]]
"""Memory, not in the database yet and so without a row, and the values of its statement."""


class Look(Step[None]):
    """Step that says which fingerprint a member asks for next, so that the group can ask for those of all members."""

    __slots__ = ("fingerprint", "scope")

    def __init__(self, scope: Scope, fingerprint: str) -> None:
        super().__init__(_nothing)
        self.scope, self.fingerprint = scope, fingerprint


@dataclass(slots=True)
class GroupState:
    """State shared by the members of a group, which run one after the other inside one BEGIN and COMMIT. A write that
    is alone is not `grouped`.

    `changed` maps tenant and memory_id of each memory that earlier members wrote to its new state, None if it was
    removed; `known` are neighbours that were read; no other transaction can change them while the scope is locked;
    `indexes` are those loaded when the group began, `written` the entries they get once it is committed. `absent` are
    fingerprints that no active memory of their scope has, `marks` those that were read with a lock, which is kept until
    the commit; `asked_marks` has by scope the one that a write in it shared last. Lines, entries and counters wait for
    `finish`; `waiting` inserts of a group for that or for the next statement that could see them, all of one tenant.
    `spoiled`: an insert failed, with whichever member it was sent.
    """

    grouped: bool = False
    spoiled: bool = False
    asked_marks: LruMapping[Scope, str] | None = None
    space: VectorSpace | None = None
    places: dict[Scope, ScopeState | None] = field(default_factory=dict)
    indexes: dict[Scope, ScopeIndex | None] = field(default_factory=dict)
    changed: dict[tuple[str, str], Memory | None] = field(default_factory=dict)
    known: dict[tuple[str, str], Memory] = field(default_factory=dict)
    absent: set[tuple[Scope, str]] = field(default_factory=set)
    marks: dict[tuple[str, str], str | None] = field(default_factory=dict)
    waiting: list[Insert] = field(default_factory=list)
    written: dict[Scope, list[Written]] = field(default_factory=dict)
    events: dict[str, list[AuditEvent]] = field(default_factory=dict)
    entries: dict[str, list[OutboxEntry]] = field(default_factory=dict)
    used: UsageChanges = field(default_factory=UsageChanges)

    def likely_mark(self, scope: Scope) -> str | None:
        """Return the mark that a write which begins in `scope` will probably share."""
        return None if self.asked_marks is None or self.places else self.asked_marks.get(scope)

    def share_mark(self, tenant: str, name: str, value: str | None) -> None:
        """Note a mark that this transaction shares from now on."""
        first = next(iter(self.places), None)
        if self.asked_marks is not None and first is not None and first.tenant == tenant and not self.marks:
            self.asked_marks.put(first, name)
        self.marks[tenant, name] = value

    def wait(self, written: Written, values: tuple[Any, ...]) -> None:
        """Add an insert to those that wait."""
        self.absent.discard((written.memory.scope, written.memory.fingerprint))
        self.waiting.append((written, values))

    def taken(self) -> list[Insert]:
        """Return the inserts that waited, which are now sent. Until they are written, the group is spoiled."""
        inserts, self.waiting = self.waiting, []
        self.spoiled = self.spoiled or bool(inserts)
        return inserts

    def note_inserted(self, sent: Sequence[Written], rows: Sequence[Any]) -> None:
        """Note the rows that these memories were given. Raises VersionConflict unless each has one."""
        if len(rows) != len(sent):
            raise VersionConflict
        self.spoiled = False
        for written, row in zip(sent, rows, strict=True):
            self.written.setdefault(written.memory.scope, []).append(written._replace(row=row))


async def _nothing() -> None:
    """Ask the database nothing."""


_WRITING = load("writing")


class ScopeAccess:
    """A session inside BEGIN and COMMIT. The first access to a scope takes its lock. Inserts of a group wait until a
    statement could see them.
    """

    def __init__(self, session: Session, common: GroupState) -> None:
        self._session: Session | None = session
        self._common = common

    def end(self) -> None:
        """Refuse every further call: the transaction is over."""
        self._session = None

    async def look(self, scope: Scope, fingerprints: Sequence[str]) -> None:
        """Lock the scope and note which of these fingerprints no active memory in it has."""
        place = await self._lock(scope)
        asked = storable(fingerprints)
        rows = await self._rows("known_fingerprints", scope.tenant, place.scope_id, asked) if place is not None else []
        self._common.absent |= {(scope, one) for one in set(asked) - {row["fingerprint"] for row in rows}}

    async def _place(self, scope: Scope) -> ScopeState:
        """Return the scope, which gets its number with its first memory."""
        place = await self._lock(scope)
        if place is None:
            rows = await self._rows("make_scope", *place_of(scope))
            place = self._common.places[scope] = ScopeState(*rows[0])
        return place

    async def _lock(self, scope: Scope) -> ScopeState | None:
        """Return the scope in its state when this transaction first accessed and so locked it; None while it has no
        number.
        """
        if scope in self._common.places:
            await self._enter(scope.tenant)
        else:
            await self._begin(scope, "")
        return self._common.places[scope]

    async def _begin(self, scope: Scope, fingerprint: str) -> Any:
        """Lock the scope and read it: its row, with the active memory of that fingerprint."""
        await self._flush()
        name = self._common.likely_mark(scope)
        mark = None if name is None else (name, lock_of_mark(scope.tenant, name))
        enter = partial(self._open.enter_writing, *place_of(scope), fingerprint, lock=lock_of(scope), mark=mark)
        row = await Step(enter)
        if name is not None:
            found = [] if row["mark"] is None else [(row["mark"], row["mark_value"], row["mark_checksum"])]
            with suppress(StoreCorrupt):  # reported where the write asks for it
                self._common.marks[scope.tenant, name] = checked_marks(found).get(name)
        self._common.space = VectorSpace(model=row["model"], dimension=row["dimension"])
        self._common.places[scope] = (
            None if row["scope_id"] is None else ScopeState(*(row[name] for name in ScopeState._fields))
        )
        return row

    async def _flush(self) -> None:
        """Write the inserts that wait. Raises VersionConflict if an identifier or a fingerprint is taken."""
        if inserts := self._common.taken():
            ask = partial(self._open.fetch_each, _WRITING["insert"], [values for _, values in inserts])
            self._common.note_inserted([memory for memory, _ in inserts], await Step(ask))

    async def _enter(self, tenant: str) -> None:
        if self._common.waiting and tenant != self._common.waiting[0][0].memory.scope.tenant:
            await self._flush()
        await Step(partial(self._open.enter, tenant))

    async def _rows(self, name: str, *values: Any) -> list[Any]:
        return await self._ask(_WRITING[name], *values)

    async def _ask(self, statement: str, *values: Any) -> list[Any]:
        await self._flush()
        rows: list[Any] = await Step(partial(self._open.fetch, statement, *values))
        return rows

    async def _plain(self, name: str, *values: Any) -> list[Any]:
        """Return the rows of a statement that concerns no memory, so that inserts need not be written before it."""
        rows: list[Any] = await Step(partial(self._open.fetch, _WRITING[name], *values))
        return rows

    @property
    def _open(self) -> Session:
        if self._session is None:
            raise RuntimeError("the transaction is over")
        return self._session


_READING = load("reading")


class Nearest:
    """Search for neighbours inside a transaction: by the loaded index, else by the database.

    `before` maps tenant and memory_id of each memory that the transaction changed to its state before, None if new.
    `flush` writes the inserts that wait.
    """

    def __init__(
        self,
        session: Session,
        common: GroupState,
        before: Mapping[tuple[str, str], Memory | None],
        bodies: Bodies,
        indexes: Indexes,
        flush: Callable[[], Awaitable[None]],
    ) -> None:
        self._flush = flush
        self._session = session
        self._common = common
        self._before = before
        self._bodies = bodies
        self._indexes = indexes

    async def find(
        self, scope: Scope, place: ScopeState, vector: Vector, limit: int, at_least: float, *, indexed: bool
    ) -> list[tuple[Memory, float]]:
        """Return up to `limit` neighbours in a locked scope with their cosines, the nearest first."""
        index = await self._index(scope, place) if indexed else None
        if index is None:
            return await self._nearest_in_table(scope, place, vector, limit, at_least)
        return await self._nearest_by_index(scope, index, vector, limit, at_least)

    async def _nearest_by_index(
        self, scope: Scope, index: ScopeIndex, vector: Vector, limit: int, at_least: float
    ) -> list[tuple[Memory, float]]:
        """Return the nearest by an index without the changes of earlier members of the group."""
        changed = self._common.changed
        replaced = sum(memory is None or memory.version > 1 for memory in changed.values())
        where = Where(scopes=(scope,))
        places, scores = index.near_places(where, vector, limit=limit + replaced, at_least=at_least)
        found = await self._as_before(scope, index, places, scores) if places else []
        if changed:
            near = _nearest_of(changed.values(), scope, vector)
            found += [(self._began(memory), score) for memory, score in near if score >= at_least]
            found.sort(key=_rank, reverse=True)
        return found[:limit]

    def _began(self, memory: Memory) -> Memory:
        """Return a memory as it was when this member began."""
        return self._before.get((memory.scope.tenant, memory.memory_id)) or memory

    async def _index(self, scope: Scope, place: ScopeState) -> ScopeIndex | None:
        """Return the index as of the group's beginning: the scope is locked, and was unchanged when it was found."""
        indexes = self._common.indexes
        if scope not in indexes:
            touched = any(tenant == scope.tenant for tenant, _ in [*self._common.changed, *self._before])
            current = partial(self._indexes.current, self._session, scope.tenant, place)
            indexes[scope] = None if touched else await Step(current)
        return indexes[scope]

    async def _as_before(
        self, scope: Scope, index: ScopeIndex, places: Sequence[int], scores: Sequence[float]
    ) -> list[tuple[Memory, float]]:
        """Return the memories at these places of the index as they were when the transaction began, without those that
        earlier members changed.
        """
        names = [(scope.tenant, memory_id) for memory_id in index.ids_at(places)]
        known: dict[tuple[str, str], Memory | None] = dict(zip(names, index.recalled.memories_at(places), strict=True))
        # What this transaction has changed is known from before it did; what it has read stays, as the scope is locked.
        known |= {name: self._before.get(name) or self._common.known.get(name) or known[name] for name in names}
        changed = self._common.changed
        if unknown := [name[1] for name in names if name not in changed and known[name] is None]:
            rows = await self._ask(_READING["get_many"], *places_of(scope.tenant, [scope]), unknown)
            read = self._bodies.whole(rows)
            # What this transaction changed is not what the index has at its place.
            self._bodies.recall(
                index, [memory for memory in read if (scope.tenant, memory.memory_id) not in self._before]
            )
            self._common.known |= (found := {(scope.tenant, memory.memory_id): memory for memory in read})
            known |= found
        near = ((known[name], score) for name, score in zip(names, scores, strict=True) if name not in changed)
        return [(memory, score) for memory, score in near if memory is not None]

    async def _nearest_in_table(
        self, scope: Scope, place: ScopeState, vector: Vector, limit: int, at_least: float
    ) -> list[tuple[Memory, float]]:
        await self._flush()
        changed = [memory_id for tenant, memory_id in self._before if tenant == scope.tenant]
        given = (*place_of(scope), vector_parameter(vector), changed, at_least, limit)
        await Step(partial(self._session.approximate, place.large))
        rows = await self._ask(_WRITING["approximate_in_scope" if place.large else "nearest_in_scope"], *given)
        await Step(partial(self._session.approximate, False))
        near = {row["memory_id"]: row["score"] for row in rows}
        found = [(memory, near[memory.memory_id]) for memory in self._bodies.whole(rows)]
        found += [
            (memory, score) for memory, score in _nearest_of(self._before.values(), scope, vector) if score >= at_least
        ]
        found.sort(key=_rank, reverse=True)
        return found[:limit]

    async def _ask(self, statement: str, *values: Any) -> list[Any]:
        rows: list[Any] = await Step(partial(self._session.fetch, statement, *values))
        return rows


def _rank(found: tuple[Memory, float]) -> tuple[float, str]:
    """Return the order of the nearest: among equals the newer memory comes first."""
    return found[1], found[0].memory_id


def _nearest_of(memories: Iterable[Memory | None], scope: Scope, vector: Vector) -> list[tuple[Memory, float]]:
    """Return the given memories that are active in the scope, with their similarity."""
    active = [
        memory for memory in memories if memory is not None and memory.scope == scope and memory.status is Status.ACTIVE
    ]
    # While the store changes to other vectors, some have another length.
    near = [(memory, memory.vector) for memory in active if memory.vector and len(memory.vector) == len(vector)]
    scores = cosines([held for _, held in near], vector) if near else []
    return [(memory, score) for (memory, _), score in zip(near, scores, strict=True)]


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
