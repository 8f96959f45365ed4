"""Verbs of a record store that only jobs ask for, the same for every store with tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, TypeVar

from mnemic.stores.relational import maintenance

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from mnemic.stores.relational.statements import Ask
    from mnemic.types import AuditEvent, Kind, OutboxEntry, Scope, StoredAnswer, Usage

T = TypeVar("T")


class JobTables(ABC):
    """The part of the port's `RecordStore` that only jobs use."""

    @abstractmethod
    async def _jobs(self, tenant: str, work: Callable[[Ask], Awaitable[T]]) -> T:
        """Run `work` on the rows of the tenant as of one moment, with the statements of `sql/jobs.sql`."""

    async def _job(self, name: str, tenant: str, *given: Any) -> Any:
        return await self._jobs(tenant, lambda ask: getattr(maintenance, name)(ask, tenant, *given))

    @abstractmethod
    async def _read_outbox(self, name: str, *given: Any) -> Any:
        """Call the function `name` of the store's module `outbox` with these values, on the rows as of one moment."""

    @abstractmethod
    async def _change_outbox(self, name: str, *given: Any) -> None:
        """Call the function `name` of the store's module `outbox` with these values, in one transaction."""

    async def usage(self, tenant: str, *, since: datetime, scope: Scope | None = None) -> Mapping[Kind, Usage]:
        found: Mapping[Kind, Usage] = await self._job("usage", tenant, since, scope)
        return found

    async def waiting(self, tenant: str) -> int:
        count: int = await self._job("waiting", tenant)
        return count

    async def requests(self, tenant: str, *, after: str | None = None, limit: int = 500) -> list[StoredAnswer]:
        found: list[StoredAnswer] = await self._job("requests", tenant, after, limit)
        return found

    async def traces(self, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]) -> dict[str, int]:
        found: dict[str, int] = await self._job("traces", tenant, memory_ids, fingerprints)
        return found

    async def audit(
        self, tenant: str, *, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> list[AuditEvent]:
        lines: list[AuditEvent] = await self._job("audit", tenant, after, before, limit)
        return lines

    async def pending(self, *, projection: str | None = None, limit: int = 100) -> list[OutboxEntry]:
        entries: list[OutboxEntry] = await self._read_outbox("pending", projection, limit)
        return entries

    async def acknowledge(self, sequences: Sequence[int], *, projection: str | None = None) -> None:
        await self._change_outbox("acknowledge", sequences, projection)

    async def register(self, projection: str) -> None:
        await self._change_outbox("register", projection)

    async def unregister(self, projection: str) -> None:
        await self._change_outbox("unregister", projection)

    async def projections(self) -> dict[str, int]:
        found: dict[str, int] = await self._read_outbox("projections")
        return found
