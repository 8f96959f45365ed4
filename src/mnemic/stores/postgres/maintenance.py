"""Work of jobs on the database: walks over a whole tenant, counts, and proof of removal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, TypeVar

import asyncpg

from mnemic.ports.record_store import Damage
from mnemic.stores.audit_chain import Chain, Sign
from mnemic.stores.codec import checked_marks, to_micros
from mnemic.stores.postgres.audit_chain import broken_lane, is_shortened
from mnemic.stores.postgres.connections import DRIVER_ERRORS, Connections, Session, as_mnemic_error, connect
from mnemic.stores.postgres.rows import Bodies, raw, storable
from mnemic.stores.postgres.statements import load
from mnemic.stores.relational.statements import load as load_shared
from mnemic.stores.store_verbs import Scan
from mnemic.types import Memory, Status

_UPKEEP = load("upkeep")
JOBS = load_shared("jobs", "postgres")
_PAGE = 1000


async def scan(session: Session, bodies: Bodies, wanted: Scan) -> list[Memory]:
    """Return the memories that the port's `scan` asks for."""
    await session.enter(wanted.tenant)
    named = None if wanted.memory_ids is None else storable(wanted.memory_ids)
    place = (None, None) if wanted.scope is None else (wanted.scope.level.value, wanted.scope.owner)
    since, author = to_micros(wanted.expired_by), raw(wanted.author)
    asked = (wanted.tenant, wanted.after, since, author, named, wanted.limit, *place)
    if wanted.statuses == {Status.PENDING_REVIEW}:
        rows = await session.fetch(_UPKEEP["scan_pending"], *asked)
    else:
        rows = await session.fetch(_UPKEEP["scan"], *asked, [status.value for status in wanted.statuses])
    return [bodies.read_fields(row) for row in rows]


async def marks(
    connections: Connections, tenant: str, prefix: str, after: str | None, limit: int | None
) -> dict[str, str]:
    """Return the port's `marks`."""
    return checked_marks(await connections.ask(_UPKEEP["marks"], tenant, prefix, after, limit))


async def now(session: Session) -> datetime:
    """Return the server's time."""
    moment: datetime = (await session.fetch(_UPKEEP["now"]))[0][0]
    return moment


async def vacuum(connection: Any) -> None:
    """Vacuum the tables with content: afterwards no page contains rows that were removed before, unless an open
    transaction might still see them.
    """
    for (name,) in await connection.fetch(_UPKEEP["content_tables"]):
        await connection.execute(f"VACUUM {name}")


async def count_unvacuumed(session: Session, since: datetime) -> int:
    """Return the port's `unvacuumed`."""
    count: int = (await session.fetch(_UPKEEP["unvacuumed"], since))[0][0]
    return count


async def broken_audit(session: Session, tenant: str, sign: Sign | None = None) -> tuple[int, int | None, str]:
    """Return the result of the port's `broken_audit`, page by page. A broken lane, and lines missing at the end, count
    as the line after the last.
    """
    await session.enter(tenant)
    chain, last = Chain(tenant, sign), 0
    while page := await session.fetch(JOBS["audit"], tenant, last, _PAGE):
        for last, event, digest in page:
            chain.take(last, event, digest)
    lines, broken, last_hash = chain.found
    if broken is None and (
        await is_shortened(session, tenant, (lines, last_hash)) or await broken_lane(session, tenant, sign)
    ):
        broken = lines + 1
    return lines, broken, last_hash


T = TypeVar("T")


class OwnerConnection:
    """One connection that sees every tenant (`mnemic.upkeep`), opened at first use and reopened if it was lost.

    It belongs to one loop, and runs one piece of work at a time.
    """

    def __init__(self, dsn: str, seconds: float, search_path: str) -> None:
        self._dsn = dsn
        self._seconds = seconds
        self._settings = {"application_name": "mnemic", "search_path": search_path, "mnemic.upkeep": "on"}
        self._connection: Any = None
        self._turn = asyncio.Lock()

    async def run(self, work: Callable[[Any], Awaitable[T]]) -> T:
        """Return the result of `work` on the connection. Raises StoreFailed."""
        async with self._turn:
            if self._connection is None or self._connection.is_closed():
                self._connection = await connect(self._dsn, self._seconds, self._settings)
            try:
                return await work(self._connection)
            except DRIVER_ERRORS as error:
                raise as_mnemic_error(error) from None

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.terminate()


_CHECK = """
    SELECT quote_ident(n.nspname) || '.bt_index_check' AS name
    FROM pg_extension e
    JOIN pg_proc p ON p.pronamespace = e.extnamespace AND p.proname = 'bt_index_check' AND p.pronargs = 2
    JOIN pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'amcheck' AND has_function_privilege(p.oid, 'EXECUTE')
"""
_INDEXES = """
    SELECT c.oid, c.relname AS name
    FROM pg_class c
    JOIN pg_am a ON a.oid = c.relam AND a.amname = 'btree'
    JOIN pg_index i ON i.indexrelid = c.oid AND i.indisready AND i.indisvalid
    WHERE c.relkind = 'i' AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'memory'::regclass)
    ORDER BY c.relname
"""


async def find_index_damage(connection: Any) -> list[Damage]:
    """Return the indexes that lack an entry of their table, or have one out of place; each table is read. None if the
    extension is missing, or this login may not call it.
    """
    check = await connection.fetchval(_CHECK)
    if check is None:
        return []
    found = []
    for row in await connection.fetch(_INDEXES):
        try:
            await connection.execute(f"SELECT {check}($1::oid::regclass, true)", row["oid"])
        except (asyncpg.DataCorruptedError, asyncpg.IndexCorruptedError):
            found.append(Damage("index", row["name"]))
    return found
