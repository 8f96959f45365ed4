"""Outbox in the database: the entries that each projection has not consumed yet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.statements import load
from mnemic.types import Level, OutboxEntry, Scope

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
        await connections.write(partial(_remove_entries, sequences=sequences))
    else:
        await connections.ask(_OUTBOX["take"], list(sequences), projection)


async def _remove_entries(session: Session, sequences: Sequence[int]) -> None:
    await session.enter_drain()
    await session.fetch(_OUTBOX["remove"], list(sequences))


async def register(connections: Connections, projection: str) -> None:
    """Implement the port's `register`."""
    await connections.write(partial(_register_projection, projection=projection))


async def unregister(connections: Connections, projection: str) -> None:
    """Implement the port's `unregister`."""
    await connections.write(partial(_unregister_projection, projection=projection))


async def _register_projection(session: Session, projection: str) -> None:
    await session.fetch(_OUTBOX["register"], projection)


async def _unregister_projection(session: Session, projection: str) -> None:
    await session.enter_drain()
    for name in ("unregister", "remove_left", "forget_taken"):
        await session.fetch(_OUTBOX[name], projection)


async def projections(connections: Connections) -> dict[str, int]:
    """Return the port's `projections`."""
    return await connections.read(_projections)


async def _projections(session: Session) -> dict[str, int]:
    await session.enter_drain()
    return {row["name"]: row["waiting"] for row in await session.fetch(_OUTBOX["projections"])}
