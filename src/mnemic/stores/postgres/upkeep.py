"""Work of jobs on the database: walks over a whole tenant, counts, and proof that something is gone."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any

from mnemic.identity import first_id
from mnemic.stores.audit_chain import Chain
from mnemic.stores.codec import Sign, checked_marks, decode_event, moment_of, to_micros
from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.rows import Bodies, raw, storable
from mnemic.stores.postgres.statements import load
from mnemic.types import AuditEvent, KeptRequest, Kind, Memory, Scope, Status, Usage

_UPKEEP = load("upkeep")
_PAGE = 1000


async def held(
    session: Session,
    bodies: Bodies,
    tenant: str,
    *,
    statuses: Collection[Status],
    expired_by: datetime | None,
    author: str | None,
    memory_ids: Collection[str] | None,
    scope: Scope | None,
    after: str | None,
    limit: int,
) -> list[Memory]:
    """The port's `held`."""
    await session.enter(tenant)
    wanted = None if memory_ids is None else storable(memory_ids)
    place = (None, None) if scope is None else (scope.level.value, scope.owner)
    asked = (tenant, after, to_micros(expired_by), raw(author), wanted, max(0, limit), *place)
    if set(statuses) == {Status.PENDING_REVIEW}:
        rows = await session.fetch(_UPKEEP["held_pending"], *asked)
    else:
        rows = await session.fetch(_UPKEEP["held"], *asked, [status.value for status in statuses])
    return [bodies.named(row) for row in rows]


async def usage(session: Session, tenant: str, since: datetime, scope: Scope | None) -> dict[Kind, Usage]:
    """The port's `usage`: what is held from the counters, what is recent from the index of identifiers."""
    await session.enter(tenant)
    place = (tenant, None, None) if scope is None else (tenant, scope.level.value, scope.owner)
    recent = dict(await session.fetch(_UPKEEP["recent_usage"], *place, first_id(since), to_micros(since)))
    rows = await session.fetch(_UPKEEP["usage"], *place)
    return {Kind(kind): Usage(count, size, recent.get(kind, 0)) for kind, count, size in rows}


async def waiting(session: Session, tenant: str) -> int:
    """The port's `waiting`."""
    await session.enter(tenant)
    count: int = (await session.fetch(_UPKEEP["waiting"], tenant))[0][0]
    return count


async def marks(connections: Connections, tenant: str, prefix: str) -> dict[str, str]:
    """The port's `marks`."""
    return checked_marks(await connections.ask(_UPKEEP["marks"], tenant, prefix))


async def requests(session: Session, tenant: str, after: str | None, limit: int) -> list[KeptRequest]:
    """The port's `requests`."""
    await session.enter(tenant)
    rows = await session.fetch(_UPKEEP["requests"], tenant, after, max(0, limit))
    return [KeptRequest(idempotency_key=key, receipt=receipt, at=moment_of(at)) for key, receipt, at in rows]


async def traces(
    session: Session, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]
) -> dict[str, int]:
    """The port's `traces`: rows alone, for the files are the server's."""
    await session.enter(tenant)
    named = storable(memory_ids)
    prints = storable(filter(None, fingerprints))
    rows = await session.fetch(_UPKEEP["traces"], tenant, named, prints, in_json(named))
    return dict(rows[0])


async def now(session: Session) -> datetime:
    """The server's time."""
    moment: datetime = (await session.fetch(_UPKEEP["now"]))[0][0]
    return moment


async def vacuum(connection: Any) -> None:
    """Vacuum the tables that hold content: afterwards no page shows what was removed before, as far as no transaction
    that is under way might still see it.
    """
    for (name,) in await connection.fetch(_UPKEEP["content_tables"]):
        await connection.execute(f"VACUUM {name}")


async def unvacuumed(session: Session, since: datetime) -> int:
    """The port's `unvacuumed`."""
    count: int = (await session.fetch(_UPKEEP["unvacuumed"], since))[0][0]
    return count


async def audit(session: Session, tenant: str, after: int, before: int | None, limit: int) -> list[AuditEvent]:
    """The port's `audit`."""
    await session.enter(tenant)
    if before is None:
        rows = await session.fetch(_UPKEEP["audit"], tenant, after, max(0, limit))
    else:
        rows = [*reversed(await session.fetch(_UPKEEP["audit_end"], tenant, after, before, max(0, limit)))]
    return [decode_event(row["event"], row["hash"]) for row in rows]


async def broken_audit(session: Session, tenant: str, sign: Sign | None = None) -> tuple[int, int | None, str]:
    """The port's `broken_audit`, page by page."""
    await session.enter(tenant)
    chain, last = Chain(tenant, sign), 0
    while page := await session.fetch(_UPKEEP["audit"], tenant, last, _PAGE):
        for last, event, digest in page:
            chain.take(last, event, digest)
    return chain.found


def in_json(memory_ids: Collection[str]) -> list[str]:
    """The identifiers as JSON texts, in both spellings of what is not ASCII."""
    spelt: Any = (json.dumps(each, ensure_ascii=ascii_only) for each in memory_ids for ascii_only in (True, False))
    return sorted(set(spelt))
