"""Vector spaces over rows: the current one, and one that is being filled."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.errors import InvalidInput, SpaceMismatch, StoreUnavailable
from mnemic.ports.database_backend import RowChange, RowReads
from mnemic.stores.codec import DAMAGED, checked_vector, vector_check
from mnemic.stores.encryption import Sealer
from mnemic.stores.row_store_adapter.memories import (
    RowCodec,
    next_key,
    next_vector,
    places_of,
    rows_at,
    without_next_vector,
)
from mnemic.stores.row_store_adapter.tables import MEMORY, NEXT_VECTOR, PLACE, SCOPE, SPACE, PlaceRow
from mnemic.stores.row_store_adapter.transaction import present
from mnemic.types import Memory, Vector, VectorSpace


async def claim(rows: RowChange, space: VectorSpace | None) -> VectorSpace:
    """Return the store's space; `space` if it has none yet. Raises SpaceMismatch, StoreUnavailable."""
    found = await present(rows)
    if found is not None:
        if space not in (None, found):
            name = f"{found.model} of dimension {found.dimension}"
            hint = f"open it with the model {name}, or export the memories and import them into a new store"
            raise SpaceMismatch(hint=hint)
        return found
    if space is None:
        raise StoreUnavailable("empty", hint="nothing was ever stored here, so it has no vector space")
    await rows.put(SPACE, [("present", space.model, space.dimension)])
    return space


async def begin(rows: RowChange, space: VectorSpace) -> None:
    """Implement the port's `begin_space`."""
    if await present(rows, "next") != space:
        await _drop(rows)
        await rows.put(SPACE, [("next", space.model, space.dimension)])


async def memories_without_vector(rows: RowReads, memories: RowCodec, limit: int) -> list[Memory]:
    """Implement the port's `unfilled`."""
    return [memories.read_fields(row) for row in await without_next_vector(rows, limit)]


async def fill(rows: RowChange, sealer: Sealer, filled: Sequence[tuple[Memory, Vector]]) -> int:
    """Implement the port's `fill`."""
    space = await _filling(rows)
    done = 0
    for memory, vector in filled:
        if memory.content != DAMAGED:
            checked_vector(vector, space.dimension)
        places = [PlaceRow(*row) for row in await rows.get(PLACE, [(memory.scope.tenant, memory.memory_id)])]
        there = [row for row in await rows_at(rows, places) if row.version == memory.version]
        await rows.put(NEXT_VECTOR, [next_vector(sealer, row, memory, vector) for row in there])
        done += len(there)
    return done


async def switch(rows: RowChange) -> VectorSpace | None:
    """Implement the port's `switch_space`: the space that is the present one now, or None."""
    space = await _filling(rows)
    if await without_next_vector(rows, 1):
        return None
    stored = await rows_at(rows, await places_of(rows, ()))
    following = {row[:3]: row[3] for row in await rows.get(NEXT_VECTOR, [next_key(row) for row in stored])}
    for row in stored:
        vector = following[next_key(row)]
        await rows.put(MEMORY, [row._replace(vector=vector, vector_check=vector_check(vector))])
    await rows.put(SCOPE, [(*row[:-1], row[-1] + 1) for row in await rows.scan(SCOPE, ())])
    await _drop(rows)
    await rows.put(SPACE, [("present", space.model, space.dimension)])
    return space


async def _filling(rows: RowReads) -> VectorSpace:
    space = await present(rows, "next")
    if space is None:
        raise InvalidInput("space", hint="no vector space is being filled")
    return space


async def _drop(rows: RowChange) -> None:
    """Drop the space that is being filled."""
    await rows.remove(NEXT_VECTOR, [row[:3] for row in await rows.scan(NEXT_VECTOR, ())])
    await rows.remove(SPACE, [("next",)])
