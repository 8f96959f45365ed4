"""Verbs that every store with tables has alike: single reads, each `read` with one question, and those of jobs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from mnemic.stores.relational import maintenance

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from mnemic.ports import Snapshot
    from mnemic.stores.relational.statements import Ask
    from mnemic.types import (
        AuditEvent,
        Kind,
        Memory,
        OutboxEntry,
        Scope,
        Scored,
        Signals,
        Status,
        StoredAnswer,
        Usage,
        Vector,
        VectorSpace,
        Where,
    )


T = TypeVar("T")


class Scan(NamedTuple):
    """Arguments of the port's `scan`."""

    tenant: str
    statuses: frozenset[Status]
    expired_by: datetime | None
    author: str | None
    memory_ids: Collection[str] | None
    scope: Scope | None
    after: str | None
    limit: int


class SingleReads(ABC):
    """The part of the port's `RecordStore` that asks one question of one moment, for a store that has `read`."""

    @abstractmethod
    async def read(self, work: Callable[[Snapshot], Awaitable[T]]) -> T: ...

    @abstractmethod
    async def _scan(self, wanted: Scan) -> list[Memory]: ...

    async def scan(
        self,
        tenant: str,
        *,
        statuses: Collection[Status],
        expired_by: datetime | None = None,
        author: str | None = None,
        memory_ids: Collection[str] | None = None,
        scope: Scope | None = None,
        after: str | None = None,
        limit: int = 500,
    ) -> list[Memory]:
        wanted = Scan(tenant, frozenset(statuses), expired_by, author, memory_ids, scope, after, max(0, limit))
        return await self._scan(wanted)

    async def get(self, memory_id: str, *, scopes: Sequence[Scope]) -> Memory | None:
        return (await self.get_many([memory_id], scopes=scopes)).get(memory_id)

    async def get_many(self, memory_ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        return await self.read(lambda moment: moment.get_many(memory_ids, scopes=scopes))

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        return await self.read(lambda moment: moment.find_fingerprint(scope, fingerprint))

    async def versions(self, memory_id: str, *, scopes: Sequence[Scope]) -> list[Memory]:
        return await self.read(lambda moment: moment.versions(memory_id, scopes=scopes))

    async def newest(
        self, where: Where, *, limit: int, before: str | None = None, facets: Sequence[frozenset[str]] = ()
    ) -> list[Memory]:
        return await self.read(lambda moment: moment.newest(where, limit=limit, before=before, facets=facets))

    async def count(self, where: Where) -> int:
        return await self.read(lambda moment: moment.count(where))

    async def nearest(
        self, where: Where, vector: Vector, *, limit: int, space: VectorSpace | None = None
    ) -> list[Scored]:
        return await self.read(lambda moment: moment.nearest(where, vector, limit=limit, space=space))

    async def match(self, where: Where, query: str, *, limit: int) -> list[Scored]:
        return await self.read(lambda moment: moment.match(where, query, limit=limit))

    async def recent(self, where: Where, *, limit: int) -> list[Scored]:
        return await self.read(lambda moment: moment.recent(where, limit=limit))

    async def signals(self, where: Where, memory_ids: Sequence[str]) -> dict[str, Signals]:
        return await self.read(lambda moment: moment.signals(where, memory_ids))

    async def speakers(self, where: Where) -> frozenset[str]:
        return await self.read(lambda moment: moment.speakers(where))

    async def as_known_at(
        self, scopes: Sequence[Scope], known_at: datetime, *, live_at: datetime | None = None
    ) -> Snapshot:
        return await self.read(lambda moment: moment.as_known_at(scopes, known_at, live_at=live_at))


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
