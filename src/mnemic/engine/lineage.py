"""Lineage of a memory: its predecessors, its successors, and its uses."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.inject.injection_log import injected_in
from mnemic.ports import RecordStore
from mnemic.types import AuditEvent, Memory, Scope, Status, Where
from mnemic.types.values import canonical_key
from mnemic.write.revise import latest

MAX_LINEAGE = 200
"""Memories that are followed in each direction."""
PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Lineage:
    """A memory, its predecessors, step by step back, and its successors, step by step forward. `complete` is False if
    there are more than 200 in one direction.
    """

    memory: Memory
    earlier: tuple[Memory, ...] = ()
    later: tuple[Memory, ...] = ()
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """One audit line about a memory: the action on a version, its time, and its `actor`."""

    sequence: int
    action: str
    at: datetime
    actor: str
    version: int
    run_id: str | None = None


async def lineage(store: RecordStore, memory_id: str, *, scopes: Sequence[Scope]) -> Lineage:
    """Return the lineage of a memory in `scopes`. Raises MemoryNotFound, also for one that awaits review."""
    memory = await store.get(memory_id, scopes=scopes)
    # Not found, also for a waiting one: its existence must not be visible before a person has decided.
    if memory is None or memory.status is Status.PENDING_REVIEW:
        raise MemoryNotFound
    earlier = await _earlier(store, memory)
    later = await _later(store, memory)
    complete = max(len(earlier), len(later)) < MAX_LINEAGE
    return Lineage(memory=memory, earlier=earlier, later=later, complete=complete)


async def _earlier(store: RecordStore, memory: Memory) -> tuple[Memory, ...]:
    found: dict[str, Memory] = {}
    wanted: Collection[str] = memory.supersedes
    # Step by step: predecessors are stored by identifier, so each generation is one read.
    while wanted and len(found) < MAX_LINEAGE:
        step = await store.get_many(sorted(wanted), scopes=[memory.scope])
        found |= step
        wanted = {one for known in step.values() for one in known.supersedes} - found.keys() - {memory.memory_id}
    return tuple(sorted(found.values(), key=lambda one: one.memory_id, reverse=True)[:MAX_LINEAGE])


async def _later(store: RecordStore, memory: Memory) -> tuple[Memory, ...]:
    """Return the memories that name it as their predecessor, directly or through others: all were created later, and
    have its key if it has one.
    """
    # Only a superseded memory has successors; this saves the scan below for all others.
    if memory.status is not Status.SUPERSEDED:
        return ()
    keys = None if memory.key is None else frozenset({memory.key})
    where = Where(scopes=(memory.scope,), keys=keys, statuses=frozenset(Status))
    candidates: list[Memory] = []
    before = None
    while page := await store.newest(where, limit=PAGE, before=before):
        candidates += [one for one in page if one.memory_id > memory.memory_id and one.supersedes]
        before = page[-1].memory_id
        if before <= memory.memory_id:
            break
    replaced, found = {memory.memory_id}, []
    # Oldest first: a successor can only name a memory that is found already.
    for one in reversed(candidates):
        if not replaced.isdisjoint(one.supersedes):
            replaced.add(one.memory_id)
            found.append(one)
    return tuple(found[:MAX_LINEAGE])


async def values(store: RecordStore, key: str, *, scopes: Sequence[Scope]) -> list[Memory]:
    """Return all versions of all memories that have or had `key`, the oldest memory first, without waiting and rejected
    ones; of more than 200 memories the newest. Empty if `key` is not a key.
    """
    try:
        name = canonical_key(key)
    except InvalidInput:
        return []
    stood = frozenset({Status.ACTIVE, Status.SUPERSEDED, Status.EXPIRED})
    where = Where(scopes=tuple(scopes), keys=frozenset({name}), statuses=stood)
    found = await store.newest(where, limit=MAX_LINEAGE)
    return [version for one in reversed(found) for version in await store.versions(one.memory_id, scopes=scopes)]


async def uses(
    store: RecordStore, tenant: str, memory_id: str, *, before: int | None = None, limit: int = 50
) -> tuple[list[Use], int | None]:
    """Return the newest `limit` lines of the audit about a memory, newest first, and the start of the next page; see
    `latest`.
    """
    return await latest(store, tenant, lambda event: _use(event, memory_id), before=before, limit=limit)


def _use(event: AuditEvent, memory_id: str) -> Use | None:
    version = event.version if event.memory_id == memory_id else dict(injected_in(event)).get(memory_id)
    if version is None:
        return None
    run: Any = event.detail.get("run_id")
    return Use(
        sequence=event.sequence, action=event.action, at=event.at, actor=event.actor, version=version, run_id=run
    )
