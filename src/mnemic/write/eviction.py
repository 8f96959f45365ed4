"""Eviction from a full quota, oldest first.

Closed memories (superseded, expired, rejected) are evicted before a write is refused: one value that changes often does
not fill a quota with its past. Active ones are evicted only if the quota allows it. They are removed in the transaction
that writes the new memory, each with its line in the audit log and its entry in the outbox.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from mnemic.policy.limits import Limits, Quota, makes_room
from mnemic.types import Actor, Kind, Level, Memory, Status, Usage
from mnemic.unit_of_work import Mutation

if TYPE_CHECKING:
    from mnemic.ports import RecordStore
    from mnemic.unit_of_work import Unit

EVICTED = "evicted"
"""Action in the audit log for an evicted memory."""
CLOSED = (Status.SUPERSEDED, Status.EXPIRED, Status.REJECTED)
NEAR = 64
"""Number of rows below the limit from which eviction is prepared, and of memories evicted for one portion."""
# Bounds the time before a write: among 2,000 memories the oldest are old enough.
_PAGE, _PAGES = 500, 4


async def room_in(store: RecordStore, limits: Limits, actor: Actor, usages: Mapping[Kind, Usage]) -> tuple[Memory, ...]:
    """Find those of the actor's own memories that may be evicted, in order; empty if no quota is near its limit.
    `usages` is the user's usage by kind. Raises StoreFailed.
    """
    near = [quota for quota in limits.quotas if quota.per == "user" and _is_near(quota, usages)]
    if not near:
        return ()
    found = await _oldest(store, actor, CLOSED, _kinds(near))
    giving = [quota for quota in near if quota.on_full == "evict"]
    if giving and len(found) < NEAR:
        found += await _oldest(store, actor, (Status.ACTIVE,), _kinds(giving))
    return tuple(found[:NEAR])


async def evict_first(unit: Unit, room: Sequence[Memory], reason: str, *, actor: Actor, at: datetime) -> bool:
    """Remove the first memory of `room` that is unchanged and may relieve the quota of `reason`."""
    kinds = makes_room(reason)
    for memory in room if kinds is not None else ():
        if kinds != (None,) and (memory.kind,) != kinds:
            continue
        present = await unit.reads.get(memory.memory_id, scopes=[memory.scope])
        # Chosen before the transaction: a memory confirmed or corrected since then is worth keeping.
        if present is None or (present.version, present.status) != (memory.version, memory.status):
            continue
        return await unit.apply(Mutation.removal(present, EVICTED, actor=actor, at=at))
    return False


async def evicted_if_closed(unit: Unit, room: Sequence[Memory], reason: str, *, actor: Actor, at: datetime) -> bool:
    """Remove the first memory of `room` that this transaction has closed, and may relieve the quota of `reason`."""
    kinds = makes_room(reason)
    for memory in room if kinds is not None else ():
        present = await unit.reads.get(memory.memory_id, scopes=[memory.scope])
        fits = kinds == (None,) or (memory.kind,) == kinds
        if fits and present is not None and present.status in CLOSED:
            return await unit.apply(Mutation.removal(present, EVICTED, actor=actor, at=at))
    return False


def _is_near(quota: Quota, usages: Mapping[Kind, Usage]) -> bool:
    used = [usage for kind, usage in usages.items() if quota.kind in (None, kind)]
    rows, size = sum(usage.rows for usage in used), sum(usage.bytes for usage in used)
    return (quota.rows is not None and rows + NEAR >= quota.rows) or (
        quota.bytes is not None and size >= quota.soft * quota.bytes
    )


def _kinds(quotas: Sequence[Quota]) -> frozenset[Kind]:
    named = [quota.kind for quota in quotas]
    return frozenset(Kind) if None in named else frozenset(kind for kind in named if kind is not None)


async def _oldest(
    store: RecordStore, actor: Actor, statuses: Collection[Status], kinds: frozenset[Kind]
) -> list[Memory]:
    """Return the user's memories of these states, those that were last changed longest ago first."""
    found: list[Memory] = []
    after = None
    for _ in range(_PAGES):
        page = await store.scan(
            actor.tenant, statuses=statuses, scope=actor.scope(Level.USER), after=after, limit=_PAGE
        )
        found += [memory for memory in page if memory.kind in kinds]
        if len(page) < _PAGE:
            break
        after = page[-1].memory_id
    return sorted(found, key=lambda memory: (memory.updated_at, memory.memory_id))[:NEAR]
