"""Move everything from one store to another, empty one: every memory in every version and state, reviews, consents,
policies, keys of the service, tombstones, stored requests, the secrets, and the audit line by line.

It is a copy by an operator with access to both stores, not an import: nothing is checked again, and origin, trust and
author stay. Parts that a store cannot list are left out: documents of an application, active conversations, and
projections, which are rebuilt. Nothing may write to either store meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from heapq import heapify, heappop, heappush
from typing import TypeVar

from mnemic.errors import InvalidInput, NotSupported, StoreCorrupt
from mnemic.maintenance.subject_data import audit_of
from mnemic.ports import RecordStore
from mnemic.ports.record_store import TenantMigration
from mnemic.types import AuditEvent, Memory, Scope, Status, StoredAnswer
from mnemic.unit_of_work import AnsweredRequest, Mutation, Unit, apply, commit

T = TypeVar("T")
PAGE = 500
TOGETHER = 200
"""Rows written in one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationResult:
    """Numbers of moved items of each tenant, all verified in the new store."""

    tenants: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def counts(self) -> Mapping[str, int]:
        """Sum over all tenants."""
        return sum((Counter(one) for one in self.tenants.values()), Counter[str]())

    def as_dict(self) -> dict[str, object]:
        """Return the numbers as JSON data."""
        return {"tenants": {name: dict(one) for name, one in self.tenants.items()}, "counts": dict(self.counts)}


async def move(source: RecordStore, target: RecordStore, tenants: Collection[str] = ()) -> MigrationResult:
    """Copy everything, and compare. `tenants` names those that `source` cannot list.

    Raises InvalidInput (`move:not_empty`, `move:changed`), NotSupported, StoreCorrupt for a damaged row, StoreFailed:
    the new store is incomplete then and must be discarded.
    """
    if not isinstance(source, TenantMigration) or not isinstance(target, TenantMigration):
        raise NotSupported("move", hint="this store takes over no secrets")
    named = sorted({*await source.tenants(), *tenants})
    for tenant in named:
        await _require_empty(target, tenant)
    return MigrationResult(tenants={tenant: await _Move(source, target, tenant).done() for tenant in named})


async def _require_empty(target: RecordStore, tenant: str) -> None:
    present = await target.scan(tenant, statuses=list(Status), limit=1)
    if present or await target.audit(tenant, limit=1) or await target.marks(tenant, ""):
        raise InvalidInput("move:not_empty", hint="move into a store that has no data of these tenants")


@dataclass(slots=True)
class _Move:
    source: RecordStore
    target: RecordStore
    tenant: str
    counts: Counter[str] = field(default_factory=Counter)

    async def done(self) -> Mapping[str, int]:
        assert isinstance(self.target, TenantMigration)
        await self.target.adopt(self.tenant, await self.source.secret(self.tenant))
        for scope in await self._scopes(self.source):
            await self._memories(scope)
        await self._requests()
        await self._marks()
        await self._audit()
        await self._compare()
        return dict(self.counts)

    async def _scopes(self, store: RecordStore) -> list[Scope]:
        found: set[Scope] = set()
        after = None
        while page := await store.scan(self.tenant, statuses=list(Status), after=after, limit=PAGE):
            after = page[-1].memory_id
            found |= {memory.scope for memory in page}
        return sorted(found)

    async def _memories(self, scope: Scope) -> None:
        """Copy the scope's changes in their original order, so that unique values never collide."""
        changes = _in_order(await self._versions(self.source, scope))
        for batch in _together(changes):
            await commit(self.target, partial(_write, batch))
        self.counts["memories"] += sum(one.version == 1 for one in changes)
        self.counts["versions"] += len(changes)

    async def _versions(self, store: RecordStore, scope: Scope) -> list[list[Memory]]:
        """Every memory of the scope in all its versions; the newest with its vector. Raises StoreCorrupt."""
        found: list[list[Memory]] = []
        after = None
        while page := await store.scan(self.tenant, statuses=list(Status), scope=scope, after=after, limit=PAGE):
            after = page[-1].memory_id
            for memory in page:
                newest = await store.get(memory.memory_id, scopes=[scope])
                earlier = await store.versions(memory.memory_id, scopes=[scope]) if memory.version > 1 else []
                if newest is None or len(earlier) not in (0, newest.version):
                    raise StoreCorrupt("memory", hint="a row is damaged: `mnemic doctor` names it")
                found.append([*earlier[:-1], newest])
        return found

    async def _requests(self) -> None:
        after = None
        while page := await self.source.requests(self.tenant, after=after, limit=PAGE):
            after = page[-1].idempotency_key
            answered = await commit(self.source, partial(_answered_requests, self.tenant, page))
            await commit(self.target, partial(_remember, self.tenant, answered))
            self.counts["requests"] += len(page)

    async def _marks(self) -> None:
        marks = await self.source.marks(self.tenant, "")
        for batch in _together(sorted(marks.items())):
            await apply(self.target, Mutation(tenant=self.tenant, marks=dict(batch)))
        self.counts["marks"] += len(marks)

    async def _audit(self) -> None:
        after = 0
        while page := await self.source.audit(self.tenant, after=after, limit=PAGE):
            after = page[-1].sequence
            await apply(self.target, Mutation(tenant=self.tenant, copied=page))
            # A store that collects lines of several places does so by their times: page by page they keep their order.
            await self.target.audit(self.tenant, limit=1)
            self.counts["audit"] += len(page)

    async def _compare(self) -> None:
        """Raise InvalidInput (`move:changed`) if the two are not the same now."""
        same = await self._marks_of(self.source) == await self._marks_of(self.target)
        same = same and await self._lines(self.source) == await self._lines(self.target)
        for scope in await self._scopes(self.source):
            same = same and await self._versions(self.source, scope) == await self._versions(self.target, scope)
        if not same or (await self.target.broken_audit(self.tenant))[1] is not None:
            raise InvalidInput("move:changed", hint="somebody has written meanwhile: begin again with an empty store")

    async def _marks_of(self, store: RecordStore) -> dict[str, str]:
        return await store.marks(self.tenant, "")

    async def _lines(self, store: RecordStore) -> list[AuditEvent]:
        """Without their hashes, which are signed where the new store has a key."""
        return [replace(event, hash="") async for event in audit_of(store, self.tenant)]


def _in_order(memories: Sequence[Sequence[Memory]]) -> list[Memory]:
    """Return the versions of all memories by time; at equal times, replaced memories come before their replacements."""
    found: list[Memory] = []
    heap = [_place(versions, 0) for versions in memories]
    heapify(heap)
    while heap:
        *_, versions, number = heappop(heap)
        found.append(versions[number])
        if number + 1 < len(versions):
            heappush(heap, _place(versions, number + 1))
    return found


def _place(versions: Sequence[Memory], number: int) -> tuple[datetime, bool, str, Sequence[Memory], int]:
    one = versions[number]
    # False sorts before True: at equal times later versions, which close a memory, precede new memories.
    return one.updated_at, one.version == 1, one.memory_id, versions, number


def _together(everything: Sequence[T]) -> Iterator[Sequence[T]]:
    """Parts that are written in one transaction each."""
    return (everything[start : start + TOGETHER] for start in range(0, len(everything), TOGETHER))


async def _write(changes: Sequence[Memory], unit: Unit) -> None:
    for one in changes:
        first = one if one.version == 1 else None
        later = None if first else one
        await unit.apply(Mutation(tenant=one.scope.tenant, silent=True, insert=first, replace=later))


async def _answered_requests(tenant: str, page: Sequence[StoredAnswer], unit: Unit) -> list[AnsweredRequest]:
    found = []
    for one in page:
        known = await unit.reads.find_request(tenant, one.idempotency_key)
        if known is not None:
            found.append(AnsweredRequest(key=one.idempotency_key, digest=known[0], receipt=one.receipt, at=one.at))
    return found


async def _remember(tenant: str, answered: Sequence[AnsweredRequest], unit: Unit) -> None:
    for one in answered:
        await unit.apply(Mutation(tenant=tenant, answered=one))
