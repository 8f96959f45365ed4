"""Work of jobs on the database: walks over a whole tenant, counts, and proof of removal."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from mnemic.stores.audit_chain import Chain
from mnemic.stores.audit_format import Sign
from mnemic.stores.codec import checked_marks, to_micros
from mnemic.stores.postgres.audit_chain import broken_lane, is_shortened
from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.rows import Bodies, raw, storable
from mnemic.stores.postgres.statements import load
from mnemic.stores.relational.statements import load as load_shared
from mnemic.stores.single_reads import Scan
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
