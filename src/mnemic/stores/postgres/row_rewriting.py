"""Every row rewritten while others read and write: for another vector space, or to seal it or seal it with another key.

A second vector space is filled while the current one is in use, then activated in one step. All of it needs the owner's
rights: it concerns every tenant, and changes the table. Bodies are sealed a batch in each transaction.
"""

from __future__ import annotations

import asyncio
from asyncio import sleep
from collections.abc import Sequence
from typing import Any

from mnemic.errors import InvalidInput, StoreBusy
from mnemic.ports import Reseal
from mnemic.stores.codec import DAMAGED, body_check, checked_vector, vector_check
from mnemic.stores.encryption import ERASED, Sealer, body_anew, whole_text
from mnemic.stores.postgres.rows import Bodies, floats
from mnemic.stores.postgres.schema import LONGEST_INDEXED
from mnemic.types import Level, Memory, Scope, Vector, VectorSpace

_NEXT = "SELECT model, dimension FROM next_space"
_BEGIN = """
    DROP INDEX IF EXISTS memory_unfilled, memory_by_next_vector;
    DELETE FROM next_space;
    ALTER TABLE memory DROP COLUMN next_vector;
    ALTER TABLE memory ADD COLUMN next_vector vector({dimension});
    ALTER TABLE memory ALTER COLUMN next_vector SET STORAGE EXTERNAL;
    CREATE INDEX memory_unfilled ON memory (tenant, memory_id) WHERE next_vector IS NULL;
"""
_UNFILLED = """
    SELECT textsend(v.body) AS body, v.checksum, NULL AS vector, NULL AS vector_check, s.tenant, s.level, s.owner,
        m.memory_id, m.version, m.kind, m.status, m.happened_at, m.expires_at
    FROM memory m
    JOIN scope s ON s.tenant = m.tenant AND s.scope_id = m.scope_id
    JOIN memory_version v ON v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version = m.version
    WHERE m.next_vector IS NULL
    ORDER BY m.tenant, m.memory_id
    LIMIT $1
"""
_FILL = """
    UPDATE memory m
    SET next_vector = given.vector::vector, next_vector_check = given.sum
    FROM unnest($1::text[], $2::text[], $3::integer[], $4::text[], $5::bigint[])
        AS given (tenant, memory_id, version, vector, sum)
    WHERE m.tenant = given.tenant AND m.memory_id = given.memory_id AND m.version = given.version
    RETURNING 1
"""
_HALF_BUILT = """
    SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('mnemic.memory_by_next_vector') AND NOT indisvalid
"""
_INDEX = """
    CREATE INDEX CONCURRENTLY IF NOT EXISTS memory_by_next_vector
    ON memory USING hnsw (next_vector vector_ip_ops) WHERE large
"""
_SWITCH = """
    DROP INDEX memory_unfilled;
    ALTER TABLE memory DROP COLUMN vector;
    ALTER TABLE memory RENAME COLUMN next_vector TO vector;
    ALTER TABLE memory DROP COLUMN vector_check;
    ALTER TABLE memory RENAME COLUMN next_vector_check TO vector_check;
    ALTER TABLE memory ADD COLUMN next_vector_check bigint;
    ALTER TABLE memory ADD COLUMN next_vector vector;
    ALTER INDEX IF EXISTS memory_by_next_vector RENAME TO memory_by_vector;
    DELETE FROM space;
    INSERT INTO space (model, dimension) SELECT model, dimension FROM next_space;
    DELETE FROM next_space;
"""


_LACKING = "SELECT 1 FROM memory WHERE next_vector IS NULL LIMIT 1"


async def present(connection: Any) -> VectorSpace | None:
    """Return the database's vector space; None if nothing was ever stored."""
    if await connection.fetchval("SELECT to_regclass('mnemic.space')") is None:
        return None
    return await _space(connection, "SELECT model, dimension FROM mnemic.space")


async def _space(connection: Any, sql: str) -> VectorSpace | None:
    row = await connection.fetchrow(sql)
    return None if row is None else VectorSpace(model=row["model"], dimension=row["dimension"])


async def begin(connection: Any, space: VectorSpace) -> None:
    """Start to fill `space`, or continue; vectors for another one are dropped."""
    if await _space(connection, _NEXT) == space:
        return
    async with connection.transaction():
        await connection.execute("SET LOCAL lock_timeout = '5s'")
        await connection.execute(_BEGIN.format(dimension=int(space.dimension)))
        await connection.execute(
            "INSERT INTO next_space (model, dimension) VALUES ($1, $2)", space.model, space.dimension
        )


async def _filled_space(connection: Any) -> VectorSpace:
    space = await _space(connection, _NEXT)
    if space is None:
        raise InvalidInput("space", hint="no vector space is being filled")
    return space


async def memories_without_vector(connection: Any, bodies: Bodies, limit: int) -> list[Memory]:
    """Implement the port's `unfilled`."""
    if await _space(connection, _NEXT) is None:
        return []
    return [bodies.read_fields(row) for row in await connection.fetch(_UNFILLED, max(0, limit))]


async def fill(connection: Any, filled: Sequence[tuple[Memory, Vector]]) -> int:
    """Implement the port's `fill`. Content that can no longer be decrypted gets a zero vector, which is near to
    nothing. Raises InvalidInput (`space`).
    """
    space = await _filled_space(connection)
    nothing = bytes(4 * space.dimension)
    rows = []
    for memory, vector in filled:
        near = nothing if memory.content in (ERASED, DAMAGED) else checked_vector(vector, space.dimension)
        rows.append((memory.scope.tenant, memory.memory_id, memory.version, spelt(near), vector_check(near)))
    columns = [[row[place] for row in rows] for place in range(5)]
    return len(await connection.fetch(_FILL, *columns))


def spelt(vector: Vector | None) -> str:
    """Return a vector in pgvector's text form; nine digits represent a float32 exactly."""
    assert vector is not None
    return "[" + ",".join(format(value, ".9g") for value in floats(vector)) + "]"


async def switch(connection: Any) -> VectorSpace | None:
    """Make the filled space the present one, and return it; do nothing and return None if a memory still has no vector
    in it. Raises InvalidInput (`space`).

    The index is built before, while others write; the change of names itself waits for no more than 5 seconds.
    """
    space = await _filled_space(connection)
    if await connection.fetchval(_LACKING):
        return None
    if space.dimension <= LONGEST_INDEXED:
        await _index(connection)
    async with connection.transaction():
        await connection.execute("SET LOCAL lock_timeout = '5s'")
        await connection.execute("LOCK TABLE memory IN ACCESS EXCLUSIVE MODE")
        if await connection.fetchval(_LACKING):
            return None
        await connection.execute(_SWITCH)
    return space


async def _index(connection: Any) -> None:
    """Build the index unless it exists. An index with interrupted creation would never be used or removed."""
    if await connection.fetchval(_HALF_BUILT):
        await connection.execute("DROP INDEX CONCURRENTLY memory_by_next_vector")
    await connection.execute(_INDEX)


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
