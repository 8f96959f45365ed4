"""Memories as rows, and the memories of whole scopes, which are searched in this process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from datetime import UTC, datetime
from itertools import groupby
from operator import itemgetter
from typing import Protocol, runtime_checkable

from mnemic.errors import StoreCorrupt
from mnemic.ports.database_backend import Row, RowReads
from mnemic.stores.codec import (
    DAMAGED,
    LoggedDamage,
    blob_check,
    body_check,
    damage_error,
    earlier,
    to_micros,
    vector_check,
)
from mnemic.stores.encryption import Sealer
from mnemic.stores.in_memory_reads import StoredMemories
from mnemic.stores.row_store_adapter.tables import (
    EARLIER,
    MEMORY,
    NEXT_VECTOR,
    PLACE,
    SCOPE,
    EarlierRow,
    MemoryRow,
    PlaceRow,
)
from mnemic.types import Kind, Memory, Scope, Status, Vector
from mnemic.types.scope import scope_named

MAX_CACHED = 100_000
"""Maximum number of memories cached in this process; the least recently used scopes are evicted first."""

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


def place_of(scope: Scope) -> tuple[str, str, str]:
    """Return the key of a scope."""
    return scope.tenant, scope.level.value, scope.owner


def key_of(memory: Memory) -> Row:
    """Return the key of a memory's row."""
    return (*place_of(memory.scope), memory.memory_id)


def home_of(row: MemoryRow | PlaceRow) -> tuple[str, str, str]:
    """Return the key of the scope of a row."""
    return row.tenant, row.level, row.owner


def column_values(memory: Memory) -> tuple[str, int, str, str, str | None, str]:
    """Return the fields of the memory that a row's columns give, from its identifier to its fingerprint."""
    kind, status = memory.kind.value, memory.status.value
    return memory.memory_id, memory.version, kind, status, memory.key, memory.fingerprint


async def find_row(rows: RowReads, key: Row) -> MemoryRow | None:
    """Return the row of the memory with this key."""
    found = await rows.get(MEMORY, [key])
    return MemoryRow(*found[0]) if found else None


async def stored_in(
    rows: RowReads, prefix: Row, *, after: str | None = None, limit: int | None = None
) -> list[MemoryRow]:
    """Return the rows of the memories of a scope, or of a tenant."""
    return [MemoryRow(*row) for row in await rows.scan(MEMORY, prefix, after=after, limit=limit)]


async def earlier_of(rows: RowReads, prefix: Row) -> list[EarlierRow]:
    """Return the earlier versions of a memory, or of a tenant's."""
    return [EarlierRow(*row) for row in await rows.scan(EARLIER, prefix)]


class RowCodec:
    """Conversion of memories to rows and back. Bodies and vectors are encrypted if the store encrypts, and each row is
    compared with its checksums.
    """

    def __init__(self, sealer: Sealer) -> None:
        self.sealer = sealer
        self._noted = LoggedDamage()

    def row(self, memory: Memory, turn: int | None) -> MemoryRow:
        """Return the row of `MEMORY`."""
        body = self.sealer.body(memory)
        vector = memory.vector and self.sealer.vector_beside(body, memory, memory.vector)
        home = place_of(memory.scope)
        checksum = body_check(*home, body)
        return MemoryRow._make((*home, *column_values(memory), body, checksum, vector, vector_check(vector), turn))

    def place(self, memory: Memory) -> PlaceRow:
        """Return the row of `PLACE`."""
        tenant, level, owner = place_of(memory.scope)
        columns = (memory.kind.value, memory.status.value, to_micros(memory.created_at) or 0)
        return PlaceRow(tenant, memory.memory_id, level, owner, *columns)

    def memory(self, row: MemoryRow) -> Memory:
        """Return the memory of a row of `MEMORY`. A damaged vector is dropped; raises StoreCorrupt (`memory`) if
        anything else differs from what was written.
        """
        vector = row.vector
        if vector is not None and row.vector_check != blob_check(vector):
            self._noted.note(row.memory_id)
            vector = None
        memory = self.sealer.decode_checked(row.body.encode(), row.checksum, scope_named(*home_of(row)), vector)
        if column_values(memory) != row[3:9]:
            raise damage_error("memory")
        return memory

    def read_fields(self, row: MemoryRow) -> Memory:
        """Return the memory of a row; of a damaged one as much as is known without its body, so that it can be
        removed.
        """
        try:
            return self.memory(row)
        except StoreCorrupt:
            self._noted.note(row.memory_id)
            return Memory(
                memory_id=row.memory_id,
                scope=scope_named(*home_of(row)),
                version=row.version,
                kind=Kind(row.kind),
                status=Status(row.status),
                key=row.key,
                fingerprint=row.fingerprint,
                content=DAMAGED,
                created_at=_NEVER,
                updated_at=_NEVER,
            )

    def earlier(self, row: EarlierRow, current: Memory) -> Memory:
        """Return the earlier version of a row of `EARLIER`; of a damaged one as much as is known."""
        return earlier(self.sealer, row.body.encode(), row.checksum, row.version, current)


@runtime_checkable
class ListsChanges(Protocol):
    """Rows of a database across the network, which lists the last changes of a scope."""

    async def changed_since(self, place: Row, changes: int) -> list[str] | None:
        """Return the identifiers of the memories that have changed in a scope since this change count; None if they are
        too many to be listed.
        """

    async def get_changed(self, place: Row, memory_ids: Sequence[str]) -> tuple[list[Row], list[Row]]:
        """Return the rows of these memories of a scope, and of their earlier versions, in one question."""

    async def earlier_in(self, place: Row) -> list[Row]:
        """Return the rows of the earlier versions of all memories of a scope, in one question."""


class ScopeCache:
    """LRU cache of the memories of scopes, each as of one change count, bounded by the number of memories. With a
    keyring nothing is cached: content with a destroyed key must not be readable from a copy.
    """

    def __init__(self, rows: RowCodec) -> None:
        self.rows = rows
        self._kept: OrderedDict[Scope, tuple[int, StoredMemories]] = OrderedDict()
        self._count = 0

    async def state(self, rows: RowReads, scope: Scope) -> tuple[int, StoredMemories]:
        """Return the change count of the scope and its memories, which callers must not change."""
        known = await rows.get(SCOPE, [place_of(scope)])
        changes = known[0][-1] if known else 0
        kept = self._kept.get(scope)
        if kept is not None and kept[0] == changes:
            self._kept.move_to_end(scope)
            return kept
        state = None if kept is None or kept[0] > changes else await self._follow(rows, scope, *kept)
        if state is None:
            state = await self._read(rows, scope) if changes else StoredMemories()
        self.keep(scope, changes, state)
        return changes, state

    async def join_scopes(self, rows: RowReads, scopes: Sequence[Scope]) -> StoredMemories:
        """Return the memories of several scopes, which callers must not change."""
        return StoredMemories.join_memories([(await self.state(rows, scope))[1] for scope in dict.fromkeys(scopes)])

    async def _read(self, rows: RowReads, scope: Scope) -> StoredMemories:
        state = StoredMemories()
        found = await stored_in(rows, place_of(scope))
        # Most memories have one version.
        changed = [row for row in found if row.version > 1]
        if isinstance(rows, ListsChanges) and changed:
            earlier = [EarlierRow(*row) for row in await rows.earlier_in(place_of(scope))]
        else:
            earlier = [one for row in changed for one in await earlier_of(rows, (row.tenant, row.memory_id))]
        self._add(state, found, earlier)
        return state

    async def _follow(
        self, rows: RowReads, scope: Scope, changes: int, before: StoredMemories
    ) -> StoredMemories | None:
        """Return the memories of a scope by those of an earlier change count and what has changed since; None if that
        is not known.
        """
        if (
            not isinstance(rows, ListsChanges)
            or (changed := await rows.changed_since(place_of(scope), changes)) is None
        ):
            return None
        state = before.copy()
        for memory_id in changed:
            if (scope.tenant, memory_id) in state.memories:
                state.drop((scope.tenant, memory_id))
        found, earlier = await rows.get_changed(place_of(scope), changed)
        self._add(state, [MemoryRow(*row) for row in found], [EarlierRow(*row) for row in earlier])
        return state

    def _add(self, state: StoredMemories, found: Sequence[MemoryRow], earlier: Sequence[EarlierRow]) -> None:
        """Add memories, and their earlier versions, to a scope."""
        for row in found:
            place = (row.tenant, row.memory_id)
            memory = state.memories[place] = self.rows.read_fields(row)
            if memory.content is DAMAGED:
                state.damaged.add(place)
            if row.turn is not None:
                state.turns[place] = row.turn
        for (tenant, memory_id), versions in groupby(earlier, key=itemgetter(0, 1)):
            place = (tenant, memory_id)
            if place in state.memories:
                state.history[place] = tuple(self.rows.earlier(each, state.memories[place]) for each in versions)

    def keep(self, scope: Scope, changes: int, state: StoredMemories) -> None:
        """Cache the memories of the scope, unless newer ones are cached."""
        # A slower reader may come with an older state than the one that a writer has put here.
        if self.rows.sealer.opens or self._kept.get(scope, (-1,))[0] > changes:
            return
        if (before := self._kept.pop(scope, None)) is not None:
            self._count -= len(before[1].memories)
        self._kept[scope] = changes, state
        self._count += len(state.memories)
        # One scope stays, however large: it is being read right now.
        while self._count > MAX_CACHED and len(self._kept) > 1:
            _, (_, spent) = self._kept.popitem(last=False)
            self._count -= len(spent.memories)

    def clear(self) -> None:
        """Empty the cache: vectors have changed."""
        self._kept.clear()
        self._count = 0


async def memories_of(rows: RowReads, tenant: str, after: str | None, limit: int) -> list[MemoryRow]:
    """Return the rows of the tenant's memories of every scope, in the order of their identifiers."""
    return await rows_at(rows, await places_of(rows, (tenant,), after=after, limit=limit))


async def places_of(
    rows: RowReads, prefix: Row, *, after: str | None = None, limit: int | None = None
) -> list[PlaceRow]:
    """Return the places of the memories of a tenant, or of all."""
    return [PlaceRow(*row) for row in await rows.scan(PLACE, prefix, after=after, limit=limit)]


async def rows_at(rows: RowReads, places: Sequence[PlaceRow]) -> list[MemoryRow]:
    """Return the rows of the memories at these places, in the order of their identifiers."""
    found = await rows.get(MEMORY, [(*home_of(place), place.memory_id) for place in places])
    return sorted((MemoryRow(*row) for row in found), key=lambda row: (row.tenant, row.memory_id))


async def without_next_vector(rows: RowReads, limit: int) -> list[MemoryRow]:
    """Rows of memories of every tenant that have no vector yet in the space that is being filled."""
    wanted = await rows_at(rows, await places_of(rows, ()))
    filled = {row[:3] for row in await rows.get(NEXT_VECTOR, [next_key(row) for row in wanted])}
    return [row for row in wanted if next_key(row) not in filled][: max(0, limit)]


def next_key(row: MemoryRow) -> Row:
    """Return the key in `NEXT_VECTOR` of a row of `MEMORY`."""
    return row.tenant, row.memory_id, row.version


def next_vector(sealer: Sealer, row: MemoryRow, memory: Memory, vector: Vector) -> Row:
    """Return the row of `NEXT_VECTOR` with this vector of the memory."""
    stored = b"" if memory.content == DAMAGED else sealer.vector_beside(row.body, memory, vector)
    return (*next_key(row), stored)
