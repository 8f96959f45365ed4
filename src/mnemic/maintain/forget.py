"""Take a memory away for good."""

from __future__ import annotations

from mnemic.errors import MemoryNotFound
from mnemic.maintain.vault import sweep
from mnemic.ports import Clock, RecordStore, Transaction
from mnemic.types import Actor, AuditEvent, Memory, OutboxEntry, Scope, subject_of


async def forget(store: RecordStore, clock: Clock, memory_id: str, *, actor: Actor, scopes: tuple[Scope, ...]) -> None:
    """Delete the memory with all its versions and index entries, and the sealed values that nothing else names; the
    audit keeps that it happened, not what it said.

    Raises MemoryNotFound where no memory of `scopes` has this id.
    """

    async def work(transaction: Transaction) -> Memory:
        memory = await transaction.get(memory_id, scopes=scopes)
        if memory is None:
            raise MemoryNotFound()
        await transaction.remove(memory_id, scope=memory.scope)
        await transaction.append_audit(
            AuditEvent(
                tenant=actor.tenant,
                action="forgotten",
                at=clock.now(),
                actor=actor.user,
                scope=memory.scope,
                memory_id=memory_id,
                version=memory.version,
            )
        )
        await transaction.enqueue(OutboxEntry.of(memory, "remove"))
        return memory

    memory = await store.transact(work)
    await sweep(store, actor.tenant, subject_of(memory.scope, memory.author))
