"""Existing memories sealed: bodies written anew, a batch in each transaction, while others read and write."""

from __future__ import annotations

from typing import Any

from mnemic.stores.sealing import Sealer
from mnemic.types import Level, Scope

BATCH = 256

_PAGE = """
    SELECT v.memory_id, v.version, v.body, s.level, s.owner
    FROM memory_version v
    JOIN memory m ON m.tenant = v.tenant AND m.memory_id = v.memory_id
    JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
    WHERE v.tenant = $1 AND (v.memory_id, v.version) > ($2, $3)
    ORDER BY v.memory_id, v.version
    LIMIT $4
    FOR UPDATE OF v
"""
_SEAL = """
    UPDATE memory_version v SET body = given.body
    FROM unnest($2::text[], $3::integer[], $4::text[]) AS given (memory_id, version, body)
    WHERE v.tenant = $1 AND v.memory_id = given.memory_id AND v.version = given.version
"""


async def seal(connection: Any, sealer: Sealer, tenant: str) -> int:
    """Seal the plain versions of the tenant's memories; how many. Cut off, it is called again.

    In the end their table is written anew, which nobody may read meanwhile: its old pages showed them. Also where there
    was nothing left to seal, for it may have been cut off before.
    """
    sealed, last = 0, ("", 0)
    while True:
        async with connection.transaction():
            rows = await connection.fetch(_PAGE, tenant, *last, BATCH)
            plain = [row for row in rows if not sealer.is_sealed(row["body"])]
            anew = [_body(sealer, tenant, row) for row in plain]
            given = ([row["memory_id"] for row in plain], [row["version"] for row in plain], anew)
            await connection.execute(_SEAL, tenant, *given)
        sealed += len(plain)
        if not rows:
            break
        last = rows[-1]["memory_id"], rows[-1]["version"]
    await connection.execute("VACUUM (FULL) memory_version")
    return sealed


def _body(sealer: Sealer, tenant: str, row: Any) -> str:
    home = Scope(tenant=tenant, level=Level(row["level"]), owner=row["owner"])
    return sealer.body(sealer.memory(row["body"], home, None))
