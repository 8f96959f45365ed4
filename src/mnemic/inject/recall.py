"""The recall log: which memories, in which version, entered the model's input of which run."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.ports import Clock, RecordStore, Transaction
from mnemic.types import Actor, AuditEvent, Hit


async def record_injection(store: RecordStore, clock: Clock, actor: Actor, run_id: str, hits: Sequence[Hit]) -> None:
    """Leave one line in the tenant's audit, before the model is called. Nothing is written for an empty injection.

    Raises StoreFailed: what cannot be accounted for is not injected.
    """
    if not hits:
        return
    event = AuditEvent(
        tenant=actor.tenant,
        action="injected",
        at=clock.now(),
        actor=actor.user,
        detail={"run_id": run_id, "memories": [[hit.memory.memory_id, hit.memory.version] for hit in hits]},
    )

    async def append(transaction: Transaction) -> None:
        await transaction.append_audit(event)

    await store.transact(append)
