"""The outbox in the database: what each projection has yet to take."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mnemic.types import Level, OutboxEntry, Scope
from mnemic_postgres.connections import Connections, Session
from mnemic_postgres.statements import load

_OUTBOX = load("outbox")


async def pending(connections: Connections, projection: str | None, limit: int) -> list[OutboxEntry]:
    """Return the port's `pending`."""
    rows = await connections.ask(_OUTBOX["pending"], projection, max(0, limit))
    return [
        OutboxEntry(
            sequence=row["sequence"],
            scope=Scope(tenant=row["tenant"], level=Level(row["level"]), owner=row["owner"]),
            action=row["action"],
            memory_id=row["memory_id"],
            version=row["version"],
        )
        for row in rows
    ]


async def acknowledge(connections: Connections, sequences: Sequence[int], projection: str | None) -> None:
    """Implement the port's `acknowledge`."""
    if projection is None:
        await connections.write(partial(_removed, sequences=sequences))
    else:
        await connections.ask(_OUTBOX["take"], list(sequences), projection)


async def _removed(session: Session, sequences: Sequence[int]) -> None:
    await session.enter_drain()
    await session.fetch(_OUTBOX["remove"], list(sequences))


async def register(session: Session, projection: str) -> None:
    """Implement the port's `register`."""
    await session.fetch(_OUTBOX["register"], projection)


async def unregister(session: Session, projection: str) -> None:
    """Implement the port's `unregister`."""
    await session.enter_drain()
    for name in ("unregister", "remove_left", "forget_taken"):
        await session.fetch(_OUTBOX[name], projection)


async def projections(session: Session) -> dict[str, int]:
    """Return the port's `projections`."""
    await session.enter_drain()
    return {row["name"]: row["waiting"] for row in await session.fetch(_OUTBOX["projections"])}
