"""Newest memories by way of the hot set, which gives their ids; the record store gives their content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from mnemic.errors import MnemicError
from mnemic.ports import RecordStore
from mnemic.ports.projections import Projection
from mnemic.types import Hit, HotSetContents, Memory, Rank, Scope, Scored, SearchResult, Where

LIST = "hot_set"


@runtime_checkable
class HotSet(Projection, Protocol):
    """Ids of each scope's newest active memories, ranked by `happened_at` in seconds. It may lag, and may name memories
    that are gone: readers look the rows up.
    """

    @property
    def size(self) -> int:
        """Maximum number of memories of one scope in it."""

    async def newest(self, scope: Scope, *, limit: int) -> HotSetContents | None:
        """Return up to `limit` of the scope's memories, or None if the set is not complete."""

    async def begin(self, scope: Scope) -> None:
        """Record changes of the scope from here on; it answers nothing until it is filled."""

    async def fill(self, scope: Scope, newest: Sequence[Scored], *, complete: bool) -> None:
        """Add the memories that the store had after `begin`; `complete`: all of them. Does nothing if another process
        has filled the set meanwhile, or it was lost.
        """


@dataclass(frozen=True, slots=True)
class HotReader:
    """Reads through a hot set, if there is one. One that fails, or lacks a scope, costs time but loses no memory."""

    store: RecordStore
    hot: HotSet | None = None

    @classmethod
    def from_projections(cls, projections: Sequence[Projection], store: RecordStore) -> HotReader:
        """Return a reader through the first of these projections that is a hot set."""
        return cls(store, next((each for each in projections if isinstance(each, HotSet)), None))

    async def newest(self, where: Where, *, limit: int) -> SearchResult:
        """Return the `limit` newest memories that `where` accepts, by `happened_at`. A hot set that failed is named in
        `errors`; the memories came from the store then. Raises StoreFailed.
        """
        errors: dict[str, str] = {}
        memories = None
        if self.hot is not None:
            try:
                memories = await self._by_hot_set(self.hot, where, limit)
            except MnemicError as failure:
                errors[LIST] = failure.reason
        if memories is None:
            memories = await self._by_store(where, limit)
        hits = (
            Hit(memory=memory, score=1.0, ranks={LIST: Rank(place, memory.happened_at.timestamp())})
            for place, memory in enumerate(memories, 1)
        )
        return SearchResult(hits=tuple(hits), errors=errors, where=where)

    async def _by_hot_set(self, hot: HotSet, where: Where, limit: int) -> list[Memory] | None:
        """None if the set may lack one of the `limit` newest, or has pending changes."""
        if (await self.store.projections()).get(hot.name):
            return None
        known = {scope: await self._read_hot(hot, scope, limit) for scope in where.scopes}
        wanted = [memory_id for newest in known.values() for memory_id in newest.memory_ids]
        rows = await self.store.get_many(wanted, scopes=where.scopes)
        accepted = [memory for memory in rows.values() if where.accepts(memory)]
        inside = Counter(memory.scope for memory in accepted)
        if any(not newest.complete and inside[scope] < limit for scope, newest in known.items()):
            return None
        return sorted(accepted, key=lambda memory: (memory.happened_at, memory.memory_id), reverse=True)[:limit]

    async def _read_hot(self, hot: HotSet, scope: Scope, limit: int) -> HotSetContents:
        known = await hot.newest(scope, limit=limit)
        if known is not None:
            return known
        await hot.begin(scope)
        newest = await self.store.recent(Where(scopes=(scope,)), limit=hot.size + 1)
        complete = len(newest) <= hot.size
        newest = newest[: hot.size]
        await hot.fill(scope, newest, complete=complete)
        return HotSetContents(memory_ids=tuple(entry.memory_id for entry in newest), complete=complete)

    async def _by_store(self, where: Where, limit: int) -> list[Memory]:
        newest = await self.store.recent(where, limit=limit)
        rows = await self.store.get_many([entry.memory_id for entry in newest], scopes=where.scopes)
        return [rows[entry.memory_id] for entry in newest if entry.memory_id in rows]
