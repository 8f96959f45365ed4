"""Reads of one moment of the database, on one connection inside BEGIN and COMMIT."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from mnemic.errors import SpaceMismatch
from mnemic.language.text.analyse import parse_query
from mnemic.language.text.bm25 import BM25
from mnemic.ports import ScopeChanges, Snapshot
from mnemic.stores.codec import CUES, checked_vector, from_micros, with_fingerprint
from mnemic.stores.in_memory_reads import snapshot_known_at
from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.indexes import Indexes, encode_filter
from mnemic.stores.postgres.loose_reads import LooseSession
from mnemic.stores.postgres.rows import (
    ANY_FACET,
    Bodies,
    HashedTerms,
    ScopeState,
    filter_of,
    pack,
    place_of,
    places_of,
    storable,
    vector_parameter,
)
from mnemic.stores.postgres.statements import add_conditions, load
from mnemic.stores.scope_index import ScopeIndex
from mnemic.stores.store_verbs import Step
from mnemic.types import Cues, Level, Memory, Scope, Scored, Signals, Vector, VectorSpace, Where

_INDEXING = load("indexing")
_READING = load("reading")
_SEARCHING = load("searching")


class PostgresSnapshot:
    """The port's `Snapshot` on an open read-only transaction.

    Ranked lists come from the indexes in memory if they are loaded, and from the database for the other scopes.
    `scanned` collects the scopes of which the database has read every memory.
    """

    def __init__(
        self, session: Session, *, terms: HashedTerms, bodies: Bodies, space: VectorSpace, indexes: Indexes
    ) -> None:
        self._session = session
        self._terms = terms
        self._bodies = bodies
        self._space = space
        self._indexes = indexes
        self._present = space
        self._places: dict[Scope, ScopeState | None] = {}
        self._at_hand: dict[Scope, ScopeIndex | None] = {}
        self.scanned: dict[Scope, ScopeState] = {}

    async def get_many(self, memory_ids: Sequence[str], *, scopes: Sequence[Scope]) -> dict[str, Memory]:
        wanted = storable(memory_ids)
        found: dict[str, Memory] = {}
        for tenant in dict.fromkeys(scope.tenant for scope in scopes):
            given = (*places_of(tenant, scopes), wanted)
            if isinstance(self._session, LooseSession):
                rows: list[Any] = await Step(partial(self._session.get_many, *given))
            else:
                rows = await self._rows(tenant, _READING["get_many"], *given)
            found = {memory.memory_id: memory for memory in self._bodies.whole(rows)} | found
        return {memory_id: found[memory_id] for memory_id in memory_ids if memory_id in found}

    async def find_fingerprint(self, scope: Scope, fingerprint: str) -> Memory | None:
        rows = await self._rows(scope.tenant, _READING["find_fingerprint"], *place_of(scope), fingerprint)
        return with_fingerprint(fingerprint, self._bodies.memory(rows[0])) if rows else None

    async def find_fingerprints(self, scope: Scope, fingerprints: Sequence[str]) -> dict[str, Memory]:
        """Implement the capability `BatchedFingerprints`."""
        given = (*place_of(scope), storable(fingerprints))
        rows = await self._rows(scope.tenant, _READING["find_fingerprints"], *given)
        found = ((row["fingerprint"], self._bodies.memory(row)) for row in rows)
        return {fingerprint: with_fingerprint(fingerprint, memory) for fingerprint, memory in found}

    async def versions(self, memory_id: str, *, scopes: Sequence[Scope]) -> list[Memory]:
        for tenant in dict.fromkeys(scope.tenant for scope in scopes):
            known = await self._rows(tenant, _READING["get_many"], *places_of(tenant, scopes), storable([memory_id]))
            if known:
                current = self._bodies.read_fields(known[0])
                rows = await self._rows(tenant, _READING["versions"], tenant, memory_id, current.version)
                return [*(self._bodies.version(row, current) for row in rows), current]
        return []

    async def newest(
        self, where: Where, *, limit: int, before: str | None = None, facets: Sequence[frozenset[str]] = ()
    ) -> list[Memory]:
        if facets:
            return await self._newest_of(where, facets, before, limit)
        return await self._newest(where, _READING["newest"], before, limit)

    async def _newest(self, where: Where, statement: str, before: str | None, limit: int, *values: Any) -> list[Memory]:
        """Return the wanted number of entries, even if rows between them are damaged."""
        found: list[Memory] = []
        while True:
            wanted = max(0, limit) - len(found)
            rows = await self._filter_rows(where, statement, before, wanted, *values)
            found += self._bodies.whole(rows)
            if len(rows) < wanted or len(found) >= limit:
                return found
            before = rows[-1]["memory_id"]

    async def _newest_of(
        self, where: Where, facets: Sequence[frozenset[str]], before: str | None, limit: int
    ) -> list[Memory]:
        """Read the set with the fewest memories from the index, and check the others row by row, each by its number."""
        sets = [[ANY_FACET, *map(self._terms.number, one)] for one in facets]
        if len(sets) > 1:
            places = places_of(where.tenant, where.scopes)
            counted = await self._rows(where.tenant, _READING["having"], *places, *_pairs(sets))
            having = {row["number"]: row["held"] for row in counted}
            sets = [sets[number] for number in sorted(range(len(sets)), key=lambda number: having.get(number, 0))]
        first, *others = sets
        return await self._newest(where, _READING["newest_of"], before, limit, first, *_pairs(others), len(others))

    async def count(self, where: Where) -> int:
        found = await self._count_rows(where)
        if noted := self._bodies.noted.rows:
            skipped = where.among(noted)
            # Those that were noted for their vector alone, or restored since, are in lists.
            found -= await self._count_rows(skipped) - len(await self.newest(skipped, limit=len(noted)))
        return found

    async def _count_rows(self, where: Where) -> int:
        """Return the number of rows, damaged ones included."""
        rows = await self._filter_rows(where, _READING["count"])
        return int(rows[0][0])

    async def nearest(
        self, where: Where, vector: Vector, *, limit: int, space: VectorSpace | None = None
    ) -> list[Scored]:
        if space not in (None, self._space):
            raise _mismatch()
        checked_vector(vector, self._space.dimension)
        if limit <= 0:
            return []
        indexes, rest = await self._split(where)
        if self._present != self._space:
            raise _mismatch()
        found = [index.nearest(encode_filter(where), vector, limit=limit) for index in indexes]
        if rest is not None:
            found.append(await self._nearest_stored(rest, vector, limit))
        return _best(found, limit)

    async def _nearest_stored(self, where: Where, vector: Vector, limit: int) -> list[Scored]:
        exact, found = [], []
        for scope in where.scopes:
            place = self._places[scope]
            if place is None:
                continue
            near = await self._approximate(where, scope, vector, limit) if place.large else []
            if len(near) < limit:
                # The scope is not in the vector index, or the index gave up early: never return fewer than there are.
                exact.append(scope)
                near = []
            found.append(near)
            self._note_searched(scope, place)
        if exact:
            within = replace(where, scopes=tuple(exact))
            found.append(
                _read_scores(await self._filter_rows(within, _SEARCHING["nearest"], vector_parameter(vector), limit))
            )
        return _best(found, limit)

    async def _approximate(self, where: Where, scope: Scope, vector: Vector, limit: int) -> list[Scored]:
        await Step(partial(self._session.approximate, True))
        within = replace(where, scopes=(scope,))
        near = _read_scores(await self._filter_rows(within, _SEARCHING["approximate"], vector_parameter(vector), limit))
        await Step(partial(self._session.approximate, False))
        return near

    async def match(self, where: Where, query: str, *, limit: int) -> list[Scored]:
        words, phrases = parse_query(query)
        if not words:
            return []
        if phrases:
            return await self._match_stored(where, words, phrases, limit)
        indexes, rest = await self._split(where)
        wanted = [self._terms.number(word) & 0xFFFFFFFF for word in words]
        found = [index.match(encode_filter(where), wanted, limit=limit) for index in indexes]
        if rest is not None:
            found.append(await self._match_stored(rest, words, (), limit))
        return _best(found, limit)

    async def _match_stored(
        self, where: Where, words: Sequence[str], phrases: Sequence[Sequence[str]], limit: int
    ) -> list[Scored]:
        number = self._terms.number
        wanted = list(dict.fromkeys(map(number, words)))
        quoted = [pack(map(number, phrase)) for phrase in phrases]
        parameters = (BM25.k1, BM25.b, BM25.content_weight, BM25.context_weight)
        values = (wanted, *parameters, quoted, max(0, limit))
        await self._look(where)
        large: list[Scope] = []
        small: list[Scope] = []
        for scope in where.scopes:
            place = self._places[scope]
            if place is not None:
                (large if place.large else small).append(scope)
                self._note_searched(scope, place)
        found = []
        if large:
            within = replace(where, scopes=tuple(large))
            found.append(_read_scores(await self._filter_rows(within, _SEARCHING["match"], *values)))
        if small:
            within, packed = replace(where, scopes=tuple(small)), [pack([term]) for term in wanted]
            found.append(_read_scores(await self._filter_rows(within, _SEARCHING["match_scanned"], *values, packed)))
        return _best(found, limit)

    def _note_searched(self, scope: Scope, place: ScopeState) -> None:
        """Record that the database has read every memory of a scope."""
        if not place.large:
            self.scanned[scope] = place

    async def recent(self, where: Where, *, limit: int) -> list[Scored]:
        indexes, rest = await self._split(where)
        found = [index.recent(encode_filter(where), limit=limit) for index in indexes]
        if rest is not None:
            rows = await self._filter_rows(rest, _SEARCHING["recent"], max(0, limit))
            found.append([Scored(memory_id=memory_id, score=happened_at / 1e6) for memory_id, happened_at in rows])
        return _best(found, limit)

    async def signals(self, where: Where, memory_ids: Sequence[str]) -> dict[str, Signals]:
        indexes, rest = await self._split(where)
        found = {memory_id: signals for index in indexes for memory_id, signals in index.signals(memory_ids).items()}
        if rest is not None:
            given = (*places_of(rest.tenant, rest.scopes), storable(memory_ids))
            rows = await self._rows(rest.tenant, _READING["signals"], *given)
            found |= {signals.memory_id: signals for signals in map(_signals_of, rows)}
        return found

    async def speakers(self, where: Where) -> frozenset[str]:
        indexes, rest = await self._split(where)
        found = {name for index in indexes for name in index.speakers()}
        if rest is not None:
            rows = await self._rows(rest.tenant, _READING["speakers"], *places_of(rest.tenant, rest.scopes))
            found |= {row["speaker"].decode() for row in rows}
        return frozenset(found)

    async def _split(self, where: Where) -> tuple[list[ScopeIndex], Where | None]:
        """Return the loaded indexes, and the filter for the other scopes, None if there are none."""
        await self._look(where)
        for scope in where.scopes:
            place = self._places[scope]
            if place is not None and scope not in self._at_hand:
                current = partial(self._indexes.current, self._session, scope.tenant, place)
                self._at_hand[scope] = await Step(current)
        scopes = [scope for scope in dict.fromkeys(where.scopes) if self._places[scope] is not None]
        at_hand = [index for scope in scopes if (index := self._at_hand[scope]) is not None]
        rest = tuple(scope for scope in scopes if self._at_hand[scope] is None)
        return at_hand, replace(where, scopes=rest) if rest else None

    async def _look(self, where: Where) -> None:
        """Look up the scopes of a filter that have an unknown state."""
        unknown = [scope for scope in where.scopes if scope not in self._places]
        if not unknown:
            return
        rows = await Step(partial(self._session.enter_scopes, *places_of(where.tenant, unknown)))
        self._places |= dict.fromkeys(unknown)
        for model, dimension, level, owner, *columns in rows:
            self._present = VectorSpace(model=model, dimension=dimension)
            self._places[Scope(tenant=where.tenant, level=Level(level), owner=owner)] = ScopeState(*columns)

    async def changes_since(self, scope: Scope, seen: int) -> ScopeChanges:
        """Implement the capability `ChangeFeed`."""
        found = await self._rows(scope.tenant, _INDEXING["place"], *place_of(scope))
        if not found or found[0]["changes"] <= seen:
            return ScopeChanges(seen=seen)
        scope_id, changes, removed_at = found[0]
        rows = await self._rows(scope.tenant, _INDEXING["changed"], scope.tenant, scope_id, seen)
        data = {row["memory_id"]: said for row in rows if (said := self._bodies.data(row, scope)) is not None}
        kept = None
        if 0 < seen < removed_at:
            names = await self._rows(scope.tenant, _INDEXING["names"], scope.tenant, scope_id)
            kept = frozenset(one for (one,) in names)
        return ScopeChanges(seen=changes, data=data, kept=kept)

    async def as_known_at(
        self, scopes: Sequence[Scope], known_at: datetime, *, live_at: datetime | None = None
    ) -> Snapshot:
        return await snapshot_known_at(self, scopes, known_at, live_at, space=self._space)

    async def _filter_rows(self, where: Where, statement: str, *values: Any) -> list[Any]:
        """Return the rows of a statement for the scopes and conditions of `where`; `values` are its parameters from $4
        on.
        """
        asked = filter_of(where)
        given = (*places_of(where.tenant, where.scopes), *values, *asked.values())
        return await self._rows(where.tenant, add_conditions(statement, tuple(asked)), *given)

    async def _rows(self, tenant: str, statement: str, *values: Any) -> list[Any]:
        await Step(partial(self._session.enter, tenant))
        rows: list[Any] = await Step(partial(self._session.fetch, statement, *values))
        return rows


def _pairs(sets: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """Return every facet of the sets with the number of its set."""
    return [facet for one in sets for facet in one], [number for number, one in enumerate(sets) for _ in one]


def _best(lists: Sequence[list[Scored]], limit: int) -> list[Scored]:
    """Return the best of several sorted lists."""
    if len(lists) == 1:
        return lists[0]
    found = (entry for entries in lists for entry in entries)
    return heapq.nlargest(max(0, limit), found, key=lambda entry: (entry.score, entry.memory_id))


def _read_scores(rows: Sequence[Any]) -> list[Scored]:
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


def _mismatch() -> SpaceMismatch:
    return SpaceMismatch(hint="the vectors were made by another model; open the store with that one")
