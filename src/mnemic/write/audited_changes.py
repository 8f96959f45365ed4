"""Changes to memories outside the write path, each with its line in the audit and its work for the projections."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from mnemic.ports import RecordStore
from mnemic.types import Actor, AuditEvent, Memory
from mnemic.types.writes import AUDIT_END
from mnemic.unit_of_work import Mutation, Unit

T = TypeVar("T")
PAGE = 500
LINES_READ = 5_000
"""Lines that one search through the audit looks at, so that its cost is bounded."""


async def latest(
    store: RecordStore,
    tenant: str,
    pick: Callable[[AuditEvent], T | None],
    *,
    before: int | None = None,
    limit: int = 50,
) -> tuple[list[T], int | None]:
    """Return the newest `limit` lines of the audit that `pick` accepts, newest first, and the sequence before which the
    next page begins (`before`); None at the end. A page may be short without being the last.
    """
    found: list[T] = []
    end, read = AUDIT_END if before is None else before, 0
    while read < LINES_READ and (lines := await store.audit(tenant, before=end, limit=PAGE)):
        for event in reversed(lines):
            end, read = event.sequence, read + 1
            picked = pick(event)
            found += [] if picked is None else [picked]
            if len(found) == limit:
                return found, end if end > 1 else None
    return found, end if read >= LINES_READ and end > 1 else None


@dataclass(frozen=True, slots=True)
class AuditedWriter:
    """An actor who changes memories at one moment."""

    actor: Actor
    now: datetime

    async def change(
        self, unit: Unit, memory: Memory, action: str, *, detail: dict[str, Any] | None = None, **changes: Any
    ) -> Memory:
        """Write the next version of `memory` with an audit line, and notify the projections, which contain active
        memories only. Raises VersionConflict.
        """
        changed = memory.next_version(self.now, **changes)
        await unit.apply(
            Mutation.for_memory(changed, action, actor=self.actor, at=self.now, detail=detail, was=memory.status)
        )
        return changed
