"""Verbs that every store has alike: single reads, each `read` with one question."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Sequence
    from datetime import datetime

    from mnemic.ports import Snapshot
    from mnemic.types import Memory, Scope, Scored, Signals, Status, Vector, VectorSpace, Where


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
