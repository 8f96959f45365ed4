"""A record store in plain dictionaries: gone with the process, and simple enough to be the model of the others."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Any, TypeVar

from mnemic.errors import (
    IdempotencyConflict,
    InvalidInput,
    NotSupported,
    SpaceMismatch,
    StoreBusy,
    StoreUnavailable,
    VersionConflict,
)
from mnemic.ports import Anew, Capabilities, Snapshot, Transaction
from mnemic.stores.atomic import run_through
from mnemic.stores.audit_chain import first_broken
from mnemic.stores.codec import (
    adopted,
    checked_vector,
    decode_memory,
    encode_memory,
    is_message,
    load,
    next_line,
)
from mnemic.stores.in_memory_reads import Held, HeldSnapshot, Terms, by_cosine
from mnemic.stores.single_reads import SingleReads
from mnemic.text.bm25 import Bm25
from mnemic.types import (
    AuditEvent,
    Deadline,
    KeptRequest,
    Kind,
    Memory,
    OutboxEntry,
    Scope,
    Status,
    Usage,
    Vector,
    VectorSpace,
)

T = TypeVar("T")


@dataclass(slots=True)
class _State(Held):
    """Everything that is stored. A transaction works on a copy, which replaces the original when it commits."""

    audit: dict[str, tuple[AuditEvent, ...]] = field(default_factory=dict)
    outbox: tuple[OutboxEntry, ...] = ()
    sequence: int = 0
    projections: frozenset[str] = frozenset()
    taken: frozenset[tuple[int, str]] = frozenset()
    requests: dict[tuple[str, str], tuple[str, KeptRequest]] = field(default_factory=dict)
    marks: dict[tuple[str, str], str] = field(default_factory=dict)

    def copy(self) -> _State:
        return _State(
            memories=dict(self.memories),
            terms=dict(self.terms),
            history=dict(self.history),
            turns=dict(self.turns),
            audit=dict(self.audit),
            outbox=self.outbox,
            sequence=self.sequence,
            projections=self.projections,
            taken=self.taken,
            requests=dict(self.requests),
            marks=dict(self.marks),
        )

    def next_turn(self, scope: Scope, session: str | None) -> int:
        """The number of a further message of the session."""
        inside = (
            turn
            for place, turn in self.turns.items()
            if self.memories[place].scope == scope and self.memories[place].source.session == session
        )
        return max(inside, default=-1) + 1

    def usage(self, tenant: str, since: datetime, scope: Scope | None) -> dict[Kind, Usage]:
        counted: dict[Kind, Usage] = {}
        for memory in self.memories.values():
            if memory.scope.tenant == tenant and scope in (None, memory.scope):
                rows, size, recent = counted.get(memory.kind, Usage())
                more = len(encode_memory(memory).encode())
                counted[memory.kind] = Usage(rows + 1, size + more, recent + (memory.created_at >= since))
        return counted

    def remove_entries(self, sequences: Collection[int]) -> None:
        """Take these off the outbox."""
        self.outbox = tuple(entry for entry in self.outbox if entry.sequence not in sequences)
        self.taken = frozenset(one for one in self.taken if one[0] not in sequences)


class _InProcessTransaction(Transaction):
    """Changes to `state`, which nobody else sees; `begun` is what was committed before."""

    def __init__(self, begun: _State, state: _State, space: VectorSpace | None) -> None:
        self._begun = begun
        self._state = state
        self._space = space
        self._dimension = space.dimension if space else 0

    async def space(self) -> VectorSpace:
        assert self._space is not None
        return self._space

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        return self._state.get(memory_id, scopes)

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        return self._state.find_fingerprint(scope, fingerprint)

    async def find_pending(self, scope: Scope, fingerprint: str) -> Memory | None:
        waiting = (m for m in self._state.memories.values() if m.scope == scope and m.fingerprint == fingerprint != "")
        pending = (memory for memory in waiting if memory.status is Status.PENDING_REVIEW)
        return min(pending, key=lambda memory: memory.memory_id, default=None)

    async def find_key(self, scope: Scope, key: str) -> list[Memory]:
        return [memory for memory in self._state.active(scope) if memory.key == key]

    async def nearest(self, scope: Scope, vector: Vector, *, limit: int, at_least: float) -> list[tuple[Memory, float]]:
        ranked = by_cosine(self._begun.active(scope), vector)
        return [(memory, score) for memory, score in ranked if score >= at_least][:limit]

    async def insert(self, memory: Memory) -> None:
        place = (memory.scope.tenant, memory.memory_id)
        if place in self._state.memories or memory.version != 1:
            raise VersionConflict
        turn = self._state.next_turn(memory.scope, memory.source.session)
        await self._put(memory)
        if is_message(memory):
            self._state.turns[place] = turn

    async def replace(self, memory: Memory) -> None:
        place = (memory.scope.tenant, memory.memory_id)
        before = self._state.get(memory.memory_id, [memory.scope])
        if before is None or before.version != memory.version - 1:
            raise VersionConflict
        await self._put(memory)
        self._state.history[place] = (*self._state.history.get(place, ()), replace(before, vector=None))

    async def _put(self, memory: Memory) -> None:
        checked_vector(memory.vector, self._dimension)
        if memory.status is Status.ACTIVE:
            twin = await self.find_fingerprint(memory.scope, memory.fingerprint)
            if twin is not None and twin.memory_id != memory.memory_id:
                raise VersionConflict
        copy = decode_memory(encode_memory(memory), memory.scope, memory.vector)
        place = (memory.scope.tenant, memory.memory_id)
        self._state.memories[place], self._state.terms[place] = copy, Terms.of(copy)

    async def remove(self, memory_id: str, *, scope: Scope) -> bool:
        if self._state.get(memory_id, [scope]) is None:
            return False
        del self._state.memories[scope.tenant, memory_id]
        del self._state.terms[scope.tenant, memory_id]
        self._state.history.pop((scope.tenant, memory_id), None)
        self._state.turns.pop((scope.tenant, memory_id), None)
        return True

    async def append_audit(self, event: AuditEvent) -> None:
        chain = self._state.audit.get(event.tenant, ())
        sequence, _, digest = next_line(event, len(chain), chain[-1].hash if chain else "")
        self._state.audit[event.tenant] = (*chain, replace(event, sequence=sequence, hash=digest))

    async def enqueue(self, entry: OutboxEntry) -> None:
        self._state.sequence += 1
        self._state.outbox = (*self._state.outbox, replace(entry, sequence=self._state.sequence))

    async def find_request(self, tenant: str, idempotency_key: str) -> tuple[str, str] | None:
        known = self._state.requests.get((tenant, idempotency_key))
        return None if known is None else (known[0], known[1].receipt)

    async def remember_request(
        self, tenant: str, idempotency_key: str, digest: str, receipt: str, at: datetime
    ) -> None:
        if (tenant, idempotency_key) in self._state.requests:
            raise IdempotencyConflict
        kept = KeptRequest(idempotency_key=idempotency_key, receipt=receipt, at=at)
        self._state.requests[tenant, idempotency_key] = (digest, kept)

    async def remove_requests(self, tenant: str, memory_ids: Collection[str], *, owner: str | None = None) -> int:
        named = [
            place
            for place, (_, kept) in self._state.requests.items()
            if place[0] == tenant
            and (
                (owner is not None and place[1].rpartition(":")[:2] == (owner, ":"))
                or not _texts(load(kept.receipt)).isdisjoint(memory_ids)
            )
        ]
        for place in named:
            del self._state.requests[place]
        return len(named)

    async def usage(self, tenant: str, *, since: datetime, scope: Scope | None = None) -> dict[Kind, Usage]:
        return self._state.usage(tenant, since, scope)

    async def find_mark(self, tenant: str, name: str) -> str | None:
        return self._state.marks.get((tenant, name))

    async def put_mark(self, tenant: str, name: str, value: str | None) -> None:
        self._state.marks.pop((tenant, name), None)
        if value is not None:
            self._state.marks[tenant, name] = value


class InProcessStore(SingleReads):
    """A `RecordStore` for tests, trials and work that may be lost. What it holds survives `close`, not the process."""

    def __init__(self, *, bm25: Bm25 | None = None) -> None:
        self._bm25 = bm25 or Bm25()
        self._state = _State()
        self._secrets: dict[str, bytes] = {}
        self._space: VectorSpace | None = None
        self._open = False
        self._next: tuple[VectorSpace, dict[tuple[str, str, int], Vector]] | None = None
        self._writing = threading.Lock()

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(name="in-process", durable=False, shared=False, phrase=True)

    async def open(self, space: VectorSpace | None) -> None:
        space = space or self._space
        if space is None:
            raise StoreUnavailable("empty", hint="nothing was ever stored here, so it has no vector space")
        if self._space not in (None, space):
            raise SpaceMismatch(hint=_reopen_with(self._space))
        self._space, self._open = space, True

    async def close(self) -> None:
        self._open = False

    async def transact(self, work: Callable[[Transaction], Awaitable[T]], *, deadline: Deadline | None = None) -> T:
        if deadline is not None and deadline.expired:
            raise StoreBusy
        with self._writing:
            begun = self._committed()
            state = begun.copy()
            result = run_through(work, _InProcessTransaction(begun, state, self._space))
            self._state = state
            return result

    async def read(self, work: Callable[[Snapshot], Awaitable[T]]) -> T:
        return run_through(work, self._moment)

    async def begin_space(self, space: VectorSpace) -> None:
        with self._writing:
            if self._next is None or self._next[0] != space:
                self._next = (space, {})

    async def unfilled(self, *, limit: int) -> list[Memory]:
        _, vectors = self._filling
        memories = sorted(self._committed().memories.values(), key=lambda memory: memory.memory_id)
        return list(islice((memory for memory in memories if _named(memory) not in vectors), max(0, limit)))

    async def fill(self, filled: Sequence[tuple[Memory, Vector]]) -> int:
        with self._writing:
            space, vectors = self._filling
            present = {_named(memory) for memory in self._committed().memories.values()}
            kept = {
                _named(memory): checked_vector(vector, space.dimension)
                for memory, vector in filled
                if _named(memory) in present
            }
            vectors.update({place: vector for place, vector in kept.items() if vector is not None})
            return len(kept)

    async def switch_space(self) -> bool:
        with self._writing:
            space, vectors = self._filling
            state = self._committed().copy()
            if any(_named(memory) not in vectors for memory in state.memories.values()):
                return False
            for place, memory in state.memories.items():
                state.memories[place] = replace(memory, vector=vectors[_named(memory)])
            self._state, self._space, self._next = state, space, None
            return True

    async def clear_space(self) -> None:
        """Nothing is left."""

    @property
    def _filling(self) -> tuple[VectorSpace, dict[tuple[str, str, int], Vector]]:
        if self._next is None:
            raise InvalidInput("space", hint="no vector space is being filled")
        return self._next

    async def secret(self, tenant: str) -> bytes:
        self._committed()
        return self._secrets.setdefault(tenant, secrets.token_bytes(32))

    async def tenants(self) -> list[str]:
        self._committed()
        return sorted(self._secrets)

    async def adopt(self, tenant: str, secret: bytes) -> None:
        self._committed()
        adopted(self._secrets.setdefault(tenant, secret), secret)

    async def held(
        self,
        tenant: str,
        *,
        statuses: Collection[Status],
        expired_by: datetime | None = None,
        author: str | None = None,
        memory_ids: Collection[str] | None = None,
        scope: Scope | None = None,
        after: str | None = None,
        limit: int = 500,
    ) -> list[Memory]:
        state = self._committed()
        found = (
            memory
            for place, memory in sorted(state.memories.items())
            if place[0] == tenant
            and scope in (None, memory.scope)
            and memory.status in statuses
            and (memory_ids is None or memory.memory_id in memory_ids)
            and (after is None or memory.memory_id > after)
            and (expired_by is None or (memory.expires_at is not None and memory.expires_at <= expired_by))
            and (author is None or author in {each.author for each in (*state.history.get(place, ()), memory)})
        )
        return list(islice(found, max(0, limit)))

    async def usage(self, tenant: str, *, since: datetime, scope: Scope | None = None) -> dict[Kind, Usage]:
        return self._committed().usage(tenant, since, scope)

    async def waiting(self, tenant: str) -> int:
        memories = self._committed().memories.items()
        return sum(place[0] == tenant and one.status is Status.PENDING_REVIEW for place, one in memories)

    async def marks(self, tenant: str, prefix: str) -> dict[str, str]:
        marks = self._committed().marks.items()
        return {name: value for (owner, name), value in sorted(marks) if owner == tenant and name.startswith(prefix)}

    async def requests(self, tenant: str, *, after: str | None = None, limit: int = 500) -> list[KeptRequest]:
        kept = sorted(self._committed().requests.items(), key=lambda one: one[0][1].encode())
        mine = (request for place, (_, request) in kept if place[0] == tenant)
        behind = (one for one in mine if after is None or one.idempotency_key.encode() > after.encode())
        return list(islice(behind, max(0, limit)))

    async def tidy(self, *, whole: bool = False) -> int:
        self._committed()
        return 0

    async def seal(self, tenant: str) -> int:
        raise NotSupported("seal", hint="nothing of this store is ever on a disk")

    async def reseal(self, tenant: str, anew: Anew) -> int:
        return 0

    async def traces(self, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]) -> dict[str, int]:
        state = self._committed()
        stored = [m for place, m in state.memories.items() if place[0] == tenant]
        stored += [m for place, old in state.history.items() if place[0] == tenant for m in old]
        receipts = [_texts(load(kept.receipt)) for (owner, _), (_, kept) in state.requests.items() if owner == tenant]
        return {
            "memory": sum(m.memory_id in memory_ids or m.fingerprint in fingerprints for m in stored),
            "outbox": sum(entry.scope.tenant == tenant and entry.memory_id in memory_ids for entry in state.outbox),
            "request": sum(not said.isdisjoint(memory_ids) for said in receipts),
        }

    async def audit(
        self, tenant: str, *, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> list[AuditEvent]:
        chain = self._committed().audit.get(tenant, ())  # the line of sequence n stands at place n - 1
        start, end = max(0, after), len(chain) if before is None else max(0, min(before - 1, len(chain)))
        return list(chain[start:end][:limit] if before is None else chain[max(start, end - limit) : end])

    async def broken_audit(self, tenant: str) -> tuple[int, int | None, str]:
        chain = self._committed().audit.get(tenant, ())
        return len(chain), first_broken(chain), chain[-1].hash if chain else ""

    async def pending(self, *, projection: str | None = None, limit: int = 100) -> list[OutboxEntry]:
        state = self._committed()
        waiting = (entry for entry in state.outbox if (entry.sequence, projection) not in state.taken)
        return list(islice(waiting, max(0, limit)))

    async def acknowledge(self, sequences: Sequence[int], *, projection: str | None = None) -> None:
        def taken(state: _State) -> None:
            done = set(sequences)
            if projection is not None:
                state.taken |= {(sequence, projection) for sequence in done}
                done = {one for one in done if all((one, name) in state.taken for name in state.projections)}
            state.remove_entries(done)

        self._change(taken)

    async def register(self, projection: str) -> None:
        def added(state: _State) -> None:
            state.projections |= {projection}

        self._change(added)

    async def unregister(self, projection: str) -> None:
        def removed(state: _State) -> None:
            state.projections -= {projection}
            late = {entry.sequence for entry in state.outbox if (entry.sequence, projection) not in state.taken}
            state.taken = frozenset(one for one in state.taken if one[1] != projection)
            if state.projections:
                others = state.projections
                state.remove_entries({one for one in late if all((one, name) in state.taken for name in others)})

        self._change(removed)

    async def projections(self) -> dict[str, int]:
        state = self._committed()
        return {
            name: sum((entry.sequence, name) not in state.taken for entry in state.outbox)
            for name in sorted(state.projections)
        }

    def _change(self, change: Callable[[_State], None]) -> None:
        with self._writing:
            state = self._committed().copy()
            change(state)
            self._state = state

    @property
    def _moment(self) -> HeldSnapshot:
        state = self._committed()
        assert self._space is not None
        return HeldSnapshot(state, space=self._space, bm25=self._bm25)

    def _committed(self) -> _State:
        if not self._open:
            raise StoreUnavailable("closed")
        return self._state


def _named(memory: Memory) -> tuple[str, str, int]:
    return memory.scope.tenant, memory.memory_id, memory.version


def _texts(value: Any) -> set[str]:
    """Every text in JSON data, the names of fields left out."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return set().union(*map(_texts, value))
    return {value} if isinstance(value, str) else set()


def _reopen_with(space: VectorSpace | None) -> str:
    name = f"{space.model} of dimension {space.dimension}" if space else "another model"
    return f"open it with the model {name}, or export the memories and import them into a new store"
