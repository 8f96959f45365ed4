"""Every row rewritten: for another vector space, or to seal it or seal it with another key."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mnemic.errors import InvalidInput, SpaceMismatch, StoreUnavailable
from mnemic.ports import Reseal
from mnemic.ports.database_backend import RowChange, RowReads
from mnemic.stores.codec import DAMAGED, body_check, checked_vector, vector_check
from mnemic.stores.encryption import Sealer, body_anew, vector_anew
from mnemic.stores.row_store_adapter.memories import (
    RowCodec,
    earlier_of,
    home_of,
    next_key,
    next_vector,
    places_of,
    rows_at,
    stored_in,
    without_next_vector,
)
from mnemic.stores.row_store_adapter.tables import EARLIER, MEMORY, NEXT_VECTOR, PLACE, SCOPE, SPACE, PlaceRow
from mnemic.stores.row_store_adapter.transaction import present
from mnemic.types import Memory, Vector, VectorSpace
from mnemic.types.scope import scope_named


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


_Home = tuple[str, str, str]
_Again = Callable[[str, _Home], str | None]
"""The body to put in the place of a body of the scope with this key; None if it stays."""


async def seal(rows: RowChange, sealer: Sealer, tenant: str) -> int:
    """Return the port's `seal`."""

    def seal_body(body: str, scope: _Home) -> str | None:
        return None if sealer.is_sealed(body) else sealer.body(sealer.memory(body, scope_named(*scope), None))

    for row in await stored_in(rows, (tenant,)):
        if row.vector is not None and not sealer.is_sealed(row.body):
            memory = sealer.memory(row.body, scope_named(*home_of(row)), None)
            vector = sealer.vector_beside(sealer.body(memory), memory, row.vector)
            await rows.put(MEMORY, [row._replace(vector=vector, vector_check=vector_check(vector))])
    return await _rewrite_bodies(rows, tenant, seal_body)


async def reseal(rows: RowChange, tenant: str, anew: Reseal) -> int:
    """Return the port's `reseal`."""
    for row in await stored_in(rows, (tenant,)):
        if _is_sealed(row.body):
            vector = vector_anew(row.memory_id, row.vector, anew)
            await rows.put(MEMORY, [row._replace(vector=vector, vector_check=vector_check(vector))])
            for following in await rows.get(NEXT_VECTOR, [next_key(row)]):
                await rows.put(NEXT_VECTOR, [(*following[:3], vector_anew(row.memory_id, following[3], anew))])
    return await _rewrite_bodies(rows, tenant, lambda body, _: body_anew(body, anew))


async def _rewrite_bodies(rows: RowChange, tenant: str, again: _Again) -> int:
    """Replace every body by the result of `again`; return their number."""
    done = 0
    for row in await stored_in(rows, (tenant,)):
        if (body := again(row.body, home_of(row))) is not None:
            await rows.put(MEMORY, [row._replace(body=body, checksum=body_check(*home_of(row), body))])
            done += 1
    homes = {place.memory_id: home_of(place) for place in await places_of(rows, (tenant,))}
    for old in await earlier_of(rows, (tenant,)):
        home = homes[old.memory_id]
        if (body := again(old.body, home)) is not None:
            await rows.put(EARLIER, [old._replace(body=body, checksum=body_check(*home, body))])
            done += 1
    return done


def _is_sealed(body: str) -> bool:
    return body_anew(body, lambda sealed, _: sealed) is not None
