"""Sealing of existing memories, and sealing with another key: bodies are rewritten, a batch in each transaction, while
others read and write.
"""

from __future__ import annotations

import asyncio
from asyncio import sleep
from collections.abc import Sequence
from typing import Any

from mnemic.errors import StoreBusy
from mnemic.ports import Reseal
from mnemic.stores.codec import body_check
from mnemic.stores.encryption import Sealer, body_anew, whole_text
from mnemic.types import Level, Scope

BATCH = 256
LOOK_SECONDS = 0.02
WAIT_SECONDS = 30.0

_PAGE = """
    SELECT v.memory_id, v.version, textsend(v.body) AS body, v.checksum, s.level, s.owner
    FROM memory_version v
    JOIN memory m ON m.tenant = v.tenant AND m.memory_id = v.memory_id
    JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
    WHERE v.tenant = $1 AND (v.memory_id, v.version) > ($2, $3)
    ORDER BY v.memory_id, v.version
    LIMIT $4
    FOR UPDATE OF v
"""
_SEAL = """
    UPDATE memory_version v SET body = given.body, checksum = given.sum
    FROM unnest($2::text[], $3::integer[], $4::text[], $5::bigint[]) AS given (memory_id, version, body, sum)
    WHERE v.tenant = $1 AND v.memory_id = given.memory_id AND v.version = given.version
"""

_UNDER_WAY = """
    SELECT l.virtualtransaction FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.locktype = 'virtualxid' AND l.pid <> pg_backend_pid()
        AND a.datid = (SELECT oid FROM pg_database WHERE datname = current_database())
"""


async def reseal(connection: Any, tenant: str, anew: Reseal) -> int:
    """Return the port's `reseal`."""
    await _others_ended(connection)
    resealed, last = 0, ("", 0)
    while True:
        async with connection.transaction():
            rows = await connection.fetch(_PAGE, tenant, *last, BATCH)
            given = ((row, body_anew(_text(row, tenant), anew)) for row in rows)
            changed = [(row, body) for row, body in given if body is not None]
            await connection.execute(_SEAL, tenant, *_columns(changed, tenant))
        resealed += len(changed)
        if not rows:
            return resealed
        last = rows[-1]["memory_id"], rows[-1]["version"]


async def _others_ended(connection: Any) -> None:
    """Wait for every open transaction of this database: it may have encrypted data that it has not written yet."""
    loop = asyncio.get_running_loop()
    until = loop.time() + WAIT_SECONDS
    waiting = {row[0] for row in await connection.fetch(_UNDER_WAY)}
    while waiting:
        if loop.time() > until:
            raise StoreBusy(hint="a transaction does not end; run it again")
        await sleep(LOOK_SECONDS)
        waiting &= {row[0] for row in await connection.fetch(_UNDER_WAY)}


async def seal(connection: Any, sealer: Sealer, tenant: str) -> int:
    """Encrypt the plain versions of the tenant's memories; return their number. After an interruption it is called
    again.

    Finally the table is rewritten, because its old pages contain the plain rows; it cannot be read meanwhile. The
    rewrite happens even if nothing was left to encrypt, since an earlier call may have been interrupted before it.
    """
    sealed, last = 0, ("", 0)
    while True:
        async with connection.transaction():
            rows = await connection.fetch(_PAGE, tenant, *last, BATCH)
            plain = [row for row in rows if not sealer.is_sealed(_text(row, tenant))]
            anew = [(row, _body(sealer, tenant, row)) for row in plain]
            await connection.execute(_SEAL, tenant, *_columns(anew, tenant))
        sealed += len(plain)
        if not rows:
            break
        last = rows[-1]["memory_id"], rows[-1]["version"]
    await connection.execute("VACUUM (FULL) memory_version")
    return sealed


def _body(sealer: Sealer, tenant: str, row: Any) -> str:
    return sealer.body(sealer.decode_checked(row["body"], row["checksum"], _home(row, tenant), None))


def _text(row: Any, tenant: str) -> str:
    """Return the body of a row. Raises StoreCorrupt if it is damaged: encrypted, the damage could not be detected."""
    return whole_text(row["body"], row["checksum"], _home(row, tenant))


def _home(row: Any, tenant: str) -> Scope:
    return Scope(tenant=tenant, level=Level(row["level"]), owner=row["owner"])


def _columns(changed: Sequence[tuple[Any, str]], tenant: str) -> tuple[list[str], list[int], list[str], list[int]]:
    """Return the rows with their new bodies, as the parameters of the statement from $2 on."""
    return (
        [row["memory_id"] for row, _ in changed],
        [row["version"] for row, _ in changed],
        [body for _, body in changed],
        [body_check(tenant, row["level"], row["owner"], body) for row, body in changed],
    )
