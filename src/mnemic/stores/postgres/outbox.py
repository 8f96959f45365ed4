"""The outbox in the database: what each projection has yet to take."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.statements import load
from mnemic.types import Level, OutboxEntry, Scope

_OUTBOX = load("outbox")


async def pending(session: Session, projection: str | None, limit: int) -> list[OutboxEntry]:
    """The port's `pending`."""
    await session.enter_drain()
    return [
        OutboxEntry(
            sequence=row["sequence"],
            scope=Scope(tenant=row["tenant"], level=Level(row["level"]), owner=row["owner"]),
            action=row["action"],
            memory_id=row["memory_id"],
            version=row["version"],
        )
        for row in await session.fetch(_OUTBOX["pending"], projection, max(0, limit))
    ]


async def acknowledge(session: Session, sequences: Sequence[int], projection: str | None) -> None:
    """The port's `acknowledge`."""
    await session.enter_drain()
    if projection is None:
        await session.fetch(_OUTBOX["remove"], list(sequences))
        return
    await session.fetch(_OUTBOX["remove_taken"], list(sequences), projection)
    left = [row["sequence"] for row in await session.fetch(_OUTBOX["take"], list(sequences), projection)]
    if left:
        await session.fetch(_OUTBOX["remove_taken"], left, projection)


async def register(session: Session, projection: str) -> None:
    """The port's `register`."""
    await session.fetch(_OUTBOX["register"], projection)


async def unregister(session: Session, projection: str) -> None:
    """The port's `unregister`."""
    await session.enter_drain()
    for name in ("unregister", "remove_left", "forget_taken"):
        await session.fetch(_OUTBOX[name], projection)


async def projections(session: Session) -> dict[str, int]:
    """The port's `projections`."""
    await session.enter_drain()
    return {row["name"]: row["waiting"] for row in await session.fetch(_OUTBOX["projections"])}
