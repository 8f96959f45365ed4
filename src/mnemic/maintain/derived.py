"""Memories that were drawn together from others: a summary of a conversation, a profile, a reflection.

Each names its sources, lives no longer than any of them, and goes with them. It is `agent_inferred` and of the kind
`episodic`: nothing is merged with it and nothing is extracted from it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from mnemic.ports import RecordStore, Snapshot, Transaction
from mnemic.types import Actor, AuditEvent, Kind, Memory, OutboxEntry, Scope, Status, Where

SUMMARY, PROFILE, REFLECTION = "summary", "profile", "reflection"
DERIVED = frozenset({SUMMARY, PROFILE, REFLECTION})
"""The categories of what is derived."""

_PAGE = 500
_MARK = "derived"
"""Stands in a tenant that anything was ever derived in: without it nobody has to look."""


def sources_of(memory: Memory) -> frozenset[str]:
    """The memories that `memory` was derived from; none for one that was not."""
    named = memory.data.get("sources") if memory.kind is Kind.EPISODIC and memory.category in DERIVED else None
    return frozenset(map(str, named)) if isinstance(named, Sequence) and not isinstance(named, str) else frozenset()


def digest_of(sources: Iterable[Memory]) -> str:
    """The same for the same sources that say the same, in the same order."""
    told = json.dumps([[one.memory_id, one.content] for one in sources], ensure_ascii=False)
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:24]


async def derived_in(reader: Snapshot, scope: Scope) -> list[Memory]:
    """What is derived in the scope, whatever its status."""
    where = Where(scopes=(scope,), kinds=frozenset({Kind.EPISODIC}), categories=DERIVED, statuses=frozenset(Status))
    found: list[Memory] = []
    before = None
    while page := await reader.newest(where, limit=_PAGE, before=before):
        before = page[-1].memory_id
        found += [memory for memory in page if sources_of(memory)]
    return found


async def derived_from(store: RecordStore, scope: Scope, memory_ids: Collection[str]) -> list[Memory]:
    """What is derived in the scope from one of these memories."""
    if not await store.marks(scope.tenant, _MARK):
        return []
    return [memory for memory in await derived_in(store, scope) if not sources_of(memory).isdisjoint(memory_ids)]


async def note(tx: Transaction, tenant: str) -> None:
    """Say that something is derived in the tenant."""
    if await tx.find_mark(tenant, _MARK) is None:
        await tx.put_mark(tenant, _MARK, "1")


async def take_away(store: RecordStore, memories: Sequence[Memory], *, by: Actor, now: datetime) -> int:
    """Delete these memories in one transaction, each with a line in the audit; how many were still there."""

    async def work(tx: Transaction) -> int:
        return sum([await remove(tx, memory, by=by, now=now) for memory in memories])

    return await store.transact(work) if memories else 0


async def remove(tx: Transaction, memory: Memory, *, by: Actor, now: datetime) -> bool:
    """Delete the memory with all its versions; the audit keeps that it happened. False where it was gone already."""
    if not await tx.remove(memory.memory_id, scope=memory.scope):
        return False
    await tx.append_audit(
        AuditEvent(
            tenant=memory.scope.tenant,
            action="forgotten",
            at=now,
            actor=by.user,
            scope=memory.scope,
            memory_id=memory.memory_id,
            version=memory.version,
        )
    )
    await tx.enqueue(OutboxEntry.of(memory, "remove"))
    return True


async def present(tx: Transaction, scope: Scope, memory_ids: Iterable[str]) -> bool:
    """Whether all these memories are there and active."""
    for memory_id in memory_ids:
        memory = await tx.get(memory_id, scopes=[scope])
        if memory is None or memory.status is not Status.ACTIVE:
            return False
    return True
