"""The search indexes of the scopes in use, fed from the database and limited to a budget of memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from mnemic.errors import MnemicError
from mnemic.stores.codec import blob_check, cues_of
from mnemic.stores.encryption import NOTHING, SearchData
from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.loop_thread import Tasks
from mnemic.stores.postgres.rows import (
    Bodies,
    HashedTerms,
    ScopeState,
    Words,
    Written,
    column_values,
    decode_vector,
    digest,
    lock_of,
    place_of,
    words_are_whole,
)
from mnemic.stores.postgres.statements import load
from mnemic.stores.scope_index import IndexCache, IndexEntry, ScopeIndex
from mnemic.types import Memory, Scope, Where

CATCH_UP = 256
"""Maximum changes that a reader applies itself; more are loaded in the background."""

_INDEXING = load("indexing")
_ALL = 2**63 - 1
"""No limit."""

_PAGE = 1000
_LOADS = 2
"""Maximum scopes loaded at the same time."""
_LOAD_SECONDS = 60.0
"""Seconds that loading one scope may take."""
_BESIDE_VECTOR = 1800
"""Approximate bytes of a memory in an index in addition to its vector: terms, columns, identifiers."""
_Again = tuple[Words, Words, Memory]
_log = logging.getLogger("mnemic.stores.postgres")


class Indexes:
    """Indexes of the scopes in use. Everything here runs on the loop of the connections, so that no two callers use an
    index at once.

    Before each use an index is brought up to date in the user's own transaction, by the scope's count of changes. One
    that is missing or far out of date is loaded in the background; until then, and for scopes that do not fit into half
    of `budget` bytes, the database searches.
    """

    def __init__(
        self, connections: Connections, *, bodies: Bodies, terms: HashedTerms, dimension: int, budget: int
    ) -> None:
        self._connections = connections
        self._bodies = bodies
        self._terms = terms
        self._dimension = dimension
        self._cache = IndexCache(dimension=dimension, budget=budget)
        # Half of the budget at most for one scope: a single large one would otherwise evict all others at every use.
        self._most = budget // 2 // (4 * dimension + _BESIDE_VECTOR)
        self.loads = Tasks()
        self._turns = asyncio.Semaphore(_LOADS)

    def fits(self, place: ScopeState) -> bool:
        """Return True if a scope of this size is indexed in memory at all."""
        return place.active <= self._most

    async def current(self, session: Session, tenant: str, place: ScopeState) -> ScopeIndex | None:
        """Return the scope's index as of the session's transaction, or newer; None if the database must search."""
        if not self.fits(place):
            return None
        slot = self._cache.slot((tenant, place.scope_id))
        far = _count_behind(place, slot.index) > CATCH_UP
        # Loading happens in the background. The caller is answered by the database now, and by the index next time.
        if far or slot.index.wasteful:
            self.loads.start(self._load(tenant, place.scope_id), key=(tenant, place.scope_id))
        if far:
            return None
        if slot.index.seen < place.changes:
            await self._catch_up(session, tenant, place, slot.index)
        # Another reader may have brought the index further than this snapshot sees: harmless on the primary, checked on
        # a replica.
        session.overtaken |= slot.index.seen > place.changes
        return slot.index

    async def _catch_up(self, session: Session, tenant: str, place: ScopeState, index: ScopeIndex) -> None:
        seen = index.seen
        rows = await session.fetch(_INDEXING["entries"], tenant, place.scope_id, seen + 1, 0, _ALL)
        entries = await self._entries(session, tenant, rows)
        kept = None
        # Removed rows can no longer be read, so the remaining numbers are listed.
        if seen < place.removed_at:
            kept = [number for (number,) in await session.fetch(_INDEXING["numbers"], tenant, place.scope_id)]
        if place.changes <= index.seen:
            return  # another reader was faster, and has seen at least as much
        index.put(entries)
        if kept is not None:
            index.keep(kept)
        index.seen = place.changes
        self._cache.weigh((tenant, place.scope_id), index.nbytes)

    def take_in(self, places: Mapping[Scope, ScopeState | None], written: Mapping[Scope, Sequence[Written]]) -> None:
        """Add the committed changes of a transaction to the indexes of its scopes, which it locked in the states
        `places`. An index that lacks earlier changes, or has these, stays unchanged, and reads missing ones at its next
        use.
        """
        for scope, memories in written.items():
            place = places[scope]
            if place is not None and self.fits(place):
                self._take_in((scope.tenant, place.scope_id), memories)

    def _take_in(self, name: tuple[str, int], memories: Sequence[Written]) -> None:
        index = self._cache.slot(name).index
        changes = [written.row["changed"] for written in memories]
        # Before its first use an index is empty, even of memories from before changes were counted. In a gap a memory
        # was removed.
        if not index.seen or changes != list(range(index.seen + 1, index.seen + 1 + len(memories))):
            return
        # A memory changed twice counts in its present state.
        last = {written.row["number"]: written for written in memories}
        index.put([entry_of(written, self._dimension) for written in last.values()])
        self._bodies.recall(index, [written.memory for written in last.values()])
        index.seen = changes[-1]
        self._cache.weigh(name, index.nbytes)

    async def _load(self, tenant: str, scope_id: int) -> None:
        async with self._turns:
            try:
                work = partial(self._whole, tenant, scope_id)
                index = await self._connections.read(work, seconds=_LOAD_SECONDS)
            except MnemicError as error:
                _log.warning("a scope was not loaded into memory: %s", error.reason)
                return
        slot = self._cache.slot((tenant, scope_id))
        # A reader may have caught up further than the load began.
        if slot.index.seen < index.seen or slot.index.wasteful:
            slot.index = index
        self._cache.weigh((tenant, scope_id), slot.index.nbytes)

    async def _whole(self, tenant: str, scope_id: int, session: Session) -> ScopeIndex:
        await session.enter(tenant)
        counted = await session.fetch(_INDEXING["changes"], tenant, scope_id)
        index = self._cache.empty()
        last = (0, 0)
        while rows := await session.fetch(_INDEXING["entries"], tenant, scope_id, *last, _PAGE):
            index.put(await self._entries(session, tenant, rows))
            last = (rows[-1]["changed"], rows[-1]["number"])
        index.seen = counted[0]["changes"]
        return index

    async def _entries(self, session: Session, tenant: str, rows: Sequence[Any]) -> list[IndexEntry]:
        """Return the entries of these memories. Damaged words are computed again from the memory's content."""
        damaged = [row["memory_id"] for row in rows if not words_are_whole(row)]
        again = {}
        if damaged:
            bodies = await session.fetch(_INDEXING["bodies"], tenant, damaged)
            again = {
                memory.memory_id: (*self._terms.hash_terms(memory), memory) for memory in self._bodies.whole(bodies)
            }
        return entries_of(rows, self._dimension, again)


def _count_behind(place: ScopeState, index: ScopeIndex) -> int:
    """Return the number of memories to read. The state before changes were counted counts as one change."""
    return place.changes - index.seen if index.seen else max(place.changes, place.active)


def encode_filter(where: Where) -> Where:
    """Return the filter as an index of this store understands it: keys and categories by their digests, as they are
    stored.
    """
    return replace(
        where,
        keys=_codes(where.keys),
        categories=_codes(where.categories),
        hidden_keys=_codes(where.hidden_keys) or frozenset(),
    )


def _codes(texts: frozenset[str] | None) -> frozenset[str] | None:
    return None if texts is None else frozenset(filter(None, (_code(digest(text)) for text in texts)))


def _code(stored: bytes | None) -> str | None:
    return None if stored is None else stored.hex()


def entries_of(
    rows: Sequence[Any], dimension: int, again: Mapping[str, _Again] = MappingProxyType({})
) -> list[IndexEntry]:
    """Return the entries of these memories for an index; `again` has the words of those where they are damaged. A
    vector of another space, put there by another process, counts as none, as does a damaged one.
    """
    entries = [_read_search_data(row, again) for row in rows]
    contents = _term_lists([searched.content for searched in entries])
    contexts = _term_lists([searched.context for searched in entries])
    return [
        IndexEntry(
            row["number"],
            row["memory_id"],
            row["kind"],
            row["status"],
            _code(row["key"]),
            _code(row["category"]),
            row["happened_at"],
            row["began_at"],
            row["ended_at"],
            row["expires_at"],
            _vector(row, dimension),
            content,
            context,
            _text(row["session"]),
            row["turn"],
            searched.speaker,
            searched.cues,
        )
        for row, searched, content, context in zip(rows, entries, contents, contexts, strict=True)
    ]


def entry_of(written: Written, dimension: int) -> IndexEntry:
    """Return the entry that `entries_of` would make of the memory's row."""
    memory, source = written.memory, written.memory.source
    values = column_values(memory)
    content, context = _term_lists([written.content.packed, written.context.packed])
    fits = memory.vector is not None and len(memory.vector) == 4 * dimension
    return IndexEntry(
        written.row["number"],
        memory.memory_id,
        values["kind"],
        values["status"],
        _code(values["key"]),
        _code(values["category"]),
        values["happened_at"],
        values["began_at"],
        values["ended_at"],
        values["expires_at"],
        memory.vector if fits else None,
        content,
        context,
        source.session,
        written.row["turn"],
        source.speaker,
        cues_of(memory),
    )


def _read_search_data(row: Any, again: Mapping[str, _Again]) -> SearchData:
    if words_are_whole(row):
        return SearchData(None, row["content"], row["context"], _text(row["speaker"]), row["cues"])
    if row["memory_id"] not in again:
        return NOTHING
    content, context, memory = again[row["memory_id"]]
    return SearchData(None, content.packed, context.packed, memory.source.speaker, cues_of(memory))


def _vector(row: Any, dimension: int) -> bytes | None:
    vector = decode_vector(row["vector"])
    fits = vector is not None and len(vector) == 4 * dimension and row["vector_check"] == blob_check(vector)
    return vector if fits else None


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()


def _term_lists(packed: Sequence[bytes]) -> list[bytes]:
    """Packed terms (`rows.pack`) as little-endian 32-bit numbers."""
    parts = np.frombuffer(b"".join(packed), np.uint8).reshape(-1, 5).astype(np.uint32)
    numbers = (parts[:, 0] & 0x0F) << 28 | parts[:, 1] << 21 | parts[:, 2] << 14 | parts[:, 3] << 7 | parts[:, 4]
    data = numbers.astype("<u4").tobytes()
    ends = np.cumsum([len(one) for one in packed]) // 5 * 4
    return [data[start:end] for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=False)]


_WRITING = load("writing")
_BATCH = 100


class Promotions:
    """Moves scopes in the background. A write into the approximate index costs more than a row, and postings are half
    the size of a memory, so small scopes have neither.

    Until the last memory has moved, searches of the scope stay exact; a move that fails or is interrupted continues at
    the next search.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self.moves = Tasks()

    def start(self, scope: Scope) -> None:
        """Start to move `scope`, unless it is being moved."""
        self.moves.start(self._move(scope), key=scope)

    async def _move(self, scope: Scope) -> None:
        last: str | None = ""
        try:
            while last is not None:
                last = await self._connections.write(partial(_move_batch, scope, last))
            await self._connections.write(partial(_move_rest, scope))
        except MnemicError as error:
            _log.warning("a scope was not moved into the vector index: %s", error.reason)


async def _move_batch(scope: Scope, after: str, session: Session) -> str | None:
    await session.enter(scope.tenant, lock_of(scope))
    found = await session.fetch(_WRITING["scope"], *place_of(scope))
    rows = await session.fetch(_WRITING["promote"], scope.tenant, found[0]["scope_id"], after, _BATCH)
    last: str | None = rows[0]["last"]
    return last


async def _move_rest(scope: Scope, session: Session) -> None:
    await session.enter(scope.tenant, lock_of(scope))
    found = await session.fetch(_WRITING["scope"], *place_of(scope))
    await session.fetch(_WRITING["promote_rest"], scope.tenant, found[0]["scope_id"])
