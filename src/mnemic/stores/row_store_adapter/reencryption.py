"""Sealing of memories, and sealing with other keys, over rows: all memories of a tenant in one transaction."""

from __future__ import annotations

from collections.abc import Callable

from mnemic.ports import Reseal
from mnemic.ports.database_backend import RowChange
from mnemic.stores.codec import body_check, vector_check
from mnemic.stores.encryption import Sealer, body_anew, vector_anew
from mnemic.stores.row_store_adapter.memories import earlier_of, home_of, next_key, places_of, stored_in
from mnemic.stores.row_store_adapter.tables import EARLIER, MEMORY, NEXT_VECTOR
from mnemic.types.scope import scope_named

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
