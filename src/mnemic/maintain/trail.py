"""Changes to memories outside the write path, each with its line in the audit and its work for the projections."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mnemic.ports import Transaction
from mnemic.types import Actor, AuditEvent, Memory, OutboxEntry, Status


@dataclass(frozen=True, slots=True)
class Steward:
    """An actor who changes memories at one moment."""

    actor: Actor
    now: datetime

    async def change(
        self, tx: Transaction, memory: Memory, action: str, *, detail: dict[str, Any] | None = None, **changes: Any
    ) -> Memory:
        """Write the next version of `memory`, say so in the audit, and tell the projections what concerns them: they
        hold active memories only. Raises VersionConflict.
        """
        changed = memory.next_version(self.now, **changes)
        await tx.replace(changed)
        await self.tell(tx, changed, action, detail or {})
        if Status.ACTIVE in (memory.status, changed.status):
            await tx.enqueue(OutboxEntry.of(changed))
        return changed

    async def tell(self, tx: Transaction, memory: Memory, action: str, detail: dict[str, Any]) -> None:
        """One line of the audit about this version of `memory`; `detail` holds no content."""
        await tx.append_audit(
            AuditEvent(
                tenant=memory.scope.tenant,
                action=action,
                at=self.now,
                actor=self.actor.user,
                scope=memory.scope,
                memory_id=memory.memory_id,
                version=memory.version,
                detail={"agent": self.actor.agent, **detail},
            )
        )
