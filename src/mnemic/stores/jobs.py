"""Verbs of a record store that only jobs ask for, the same for every store with tables.

They are named here once; what each does to the tables is a function of that name in modules of the store, which are
loaded with the first of these verbs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from mnemic.types import AuditEvent, KeptRequest, Kind, OutboxEntry, Scope, Usage

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime


class Jobs(ABC):
    """The part of the port's `RecordStore` that reads and keeps its tables for jobs."""

    @abstractmethod
    async def _asked(self, room: str, name: str, *given: Any) -> Any:
        """Return what the function `name` of the store's module `room` reads for these values, as of one moment."""

    @abstractmethod
    async def _told(self, room: str, name: str, *given: Any) -> None:
        """Let the function `name` of the store's module `room` write these values in one transaction."""

    async def usage(self, tenant: str, *, since: datetime, scope: Scope | None = None) -> Mapping[Kind, Usage]:
        found: Mapping[Kind, Usage] = await self._asked("upkeep", "usage", tenant, since, scope)
        return found

    async def waiting(self, tenant: str) -> int:
        count: int = await self._asked("upkeep", "waiting", tenant)
        return count

    async def requests(self, tenant: str, *, after: str | None = None, limit: int = 500) -> list[KeptRequest]:
        found: list[KeptRequest] = await self._asked("upkeep", "requests", tenant, after, limit)
        return found

    async def traces(self, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]) -> dict[str, int]:
        found: dict[str, int] = await self._asked("upkeep", "traces", tenant, memory_ids, fingerprints)
        return found

    async def audit(
        self, tenant: str, *, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> list[AuditEvent]:
        lines: list[AuditEvent] = await self._asked("upkeep", "audit", tenant, after, before, limit)
        return lines

    async def pending(self, *, projection: str | None = None, limit: int = 100) -> list[OutboxEntry]:
        entries: list[OutboxEntry] = await self._asked("outbox", "pending", projection, limit)
        return entries

    async def acknowledge(self, sequences: Sequence[int], *, projection: str | None = None) -> None:
        await self._told("outbox", "acknowledge", sequences, projection)

    async def register(self, projection: str) -> None:
        await self._told("outbox", "register", projection)

    async def unregister(self, projection: str) -> None:
        await self._told("outbox", "unregister", projection)

    async def projections(self) -> dict[str, int]:
        found: dict[str, int] = await self._asked("outbox", "projections")
        return found
