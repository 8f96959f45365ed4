"""Reads of one moment of the database, on one connection inside BEGIN and COMMIT."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from mnemic.errors import SpaceMismatch
from mnemic.ports import Snapshot
from mnemic.stores.codec import CUES, checked_vector, decode_memory, from_micros
from mnemic.stores.held import believed
from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.rows import Terms, filter_of, memory_of, pack, place_of, places_of, storable
from mnemic.stores.postgres.statements import filtered, load
from mnemic.stores.steps import Step
from mnemic.text.analyse import parse_query
from mnemic.text.bm25 import Bm25
from mnemic.types import Cues, Level, Memory, Scope, Scored, Signals, Vector, VectorSpace, Where

_READING = load("reading")
_SEARCHING = load("searching")


class PostgresSnapshot:
    """The port's `Snapshot` on an open read-only transaction. `sizes` collects the scopes that were searched by vector
    exactly, with their number of active memories.
    """

    def __init__(self, session: Session, *, terms: Terms, space: VectorSpace, bm25: Bm25) -> None:
        self._session = session
        self._terms = terms
        self._space = space
        self._bm25 = bm25
        self.sizes: dict[Scope, int] = {}

    async def get_many(self, memory_ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        wanted = storable(memory_ids)
        found: dict[str, Memory] = {}
        for tenant in dict.fromkeys(scope.tenant for scope in scopes):
            rows = await self._rows(tenant, _READING["get_many"], *places_of(tenant, scopes), wanted)
            found = {memory.memory_id: memory for memory in map(memory_of, rows)} | found
        return {memory_id: found[memory_id] for memory_id in memory_ids if memory_id in found}

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        rows = await self._rows(scope.tenant, _READING["find_fingerprint"], *place_of(scope), fingerprint)
        return memory_of(rows[0]) if rows else None

    async def versions(self, memory_id: str, *, scopes: Sequence[Scope]) -> list[Memory]:
        current = (await self.get_many([memory_id], scopes=scopes)).get(memory_id)
        if current is None:
            return []
        scope = current.scope
        rows = await self._rows(scope.tenant, _READING["versions"], scope.tenant, memory_id, current.version)
        return [*(decode_memory(row["body"], scope, None) for row in rows), current]

    async def newest(self, where: Where, *, limit: int, before: str | None = None) -> list[Memory]:
        rows = await self._filtered(where, _READING["newest"], before, max(0, limit))
        return [memory_of(row) for row in rows]

    async def count(self, where: Where) -> int:
        rows = await self._filtered(where, _READING["count"])
        return int(rows[0][0])

    async def nearest(self, where: Where, vector: Vector, *, limit: int) -> list[Scored]:
        checked_vector(vector, self._space.dimension)
        if limit <= 0:
            return []
        rows = await self._rows(where.tenant, _SEARCHING["sizes"], *places_of(where.tenant, where.scopes))
        exact, found = [], []
        for level, owner, active, large, model in rows:
            if model != self._space.model:
                raise SpaceMismatch(hint="the vectors are those of another model by now; open the store with that one")
            scope = Scope(tenant=where.tenant, level=Level(level), owner=owner)
            near = await self._approximate(where, scope, vector, limit) if large else []
            if len(near) < limit:
                # Not in the index, or the index gave up early: never fewer than there are.
                exact.append(scope)
                near = []
            found += near
            if not large:
                self.sizes[scope] = active
        if exact:
            within = replace(where, scopes=tuple(exact))
            found += _scored(await self._filtered(within, _SEARCHING["nearest"], vector, limit))
        return heapq.nlargest(limit, found, key=lambda entry: (entry.score, entry.memory_id))

    async def _approximate(self, where: Where, scope: Scope, vector: Vector, limit: int) -> list[Scored]:
        await Step(partial(self._session.approximate, True))
        within = replace(where, scopes=(scope,))
        near = _scored(await self._filtered(within, _SEARCHING["approximate"], vector, limit))
        await Step(partial(self._session.approximate, False))
        return near

    async def match(self, where: Where, query: str, *, limit: int) -> list[Scored]:
        words, phrases = parse_query(query)
        if not words:
            return []
        number, bm25 = self._terms.number, self._bm25
        wanted = list(dict.fromkeys(map(number, words)))
        quoted = [pack(map(number, phrase)) for phrase in phrases]
        parameters = (bm25.k1, bm25.b, bm25.content_weight, bm25.context_weight)
        values = (wanted, *parameters, quoted, max(0, limit))
        return _scored(await self._filtered(where, _SEARCHING["match"], *values))

    async def recent(self, where: Where, *, limit: int) -> list[Scored]:
        rows = await self._filtered(where, _SEARCHING["recent"], max(0, limit))
        return [Scored(memory_id=memory_id, score=happened_at / 1e6) for memory_id, happened_at in rows]

    async def signals(self, where: Where, memory_ids: Sequence[str]) -> dict[str, Signals]:
        given = (*places_of(where.tenant, where.scopes), storable(memory_ids))
        rows = await self._rows(where.tenant, _READING["signals"], *given)
        return {signals.memory_id: signals for signals in map(_signals_of, rows)}

    async def speakers(self, where: Where) -> frozenset[str]:
        given = places_of(where.tenant, where.scopes)
        rows = await self._rows(where.tenant, _READING["speakers"], *given)
        return frozenset(row["speaker"].decode() for row in rows)

    async def believed(
        self, scopes: Sequence[Scope], known_at: datetime, *, live_at: datetime | None = None
    ) -> Snapshot:
        return await believed(self, scopes, known_at, live_at, dimension=self._space.dimension, bm25=self._bm25)

    async def _filtered(self, where: Where, statement: str, *values: Any) -> list[Any]:
        """The rows of a statement for the scopes and conditions of `where`; `values` are its parameters from $4 on."""
        asked = filter_of(where)
        given = (*places_of(where.tenant, where.scopes), *values, *asked.values())
        return await self._rows(where.tenant, filtered(statement, tuple(asked)), *given)

    async def _rows(self, tenant: str, statement: str, *values: Any) -> list[Any]:
        await Step(partial(self._session.enter, tenant))
        rows: list[Any] = await Step(partial(self._session.fetch, statement, *values))
        return rows


def _scored(rows: Sequence[Any]) -> list[Scored]:
    return [Scored(memory_id=memory_id, score=score) for memory_id, score in rows]


def _signals_of(row: Any) -> Signals:
    words, asking, oneself, timed = CUES.unpack(row["cues"])
    happened_at = from_micros(row["happened_at"])
    assert happened_at is not None
    return Signals(
        memory_id=row["memory_id"],
        happened_at=happened_at,
        session=_text(row["session"]),
        turn=-1 if row["turn"] is None else row["turn"],
        speaker=_text(row["speaker"]),
        cues=Cues(words=words, asking=asking, oneself=oneself, timed=timed),
    )


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()
