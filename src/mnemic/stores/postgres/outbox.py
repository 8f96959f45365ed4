"""Outbox in the database: the entries that each projection has not consumed yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import chain, islice, zip_longest

from mnemic.stores.postgres.connections import Connections, Session
from mnemic.stores.postgres.direct_connections import Servers
from mnemic.stores.postgres.statements import load
from mnemic.types import Level, OutboxEntry, Scope

_OUTBOX = load("outbox")


async def pending(members: Servers, projection: str | None, limit: int) -> list[OutboxEntry]:
    """Return the port's `pending`. Entries of several servers are taken in turn, so that none waits for the others."""
    found = await members.reached(partial(_pending, projection=projection, limit=limit))
    if len(found) == 1:
        return found[0]
    in_turn: Iterable[OutboxEntry | None] = chain.from_iterable(zip_longest(*found))
    return list(islice((entry for entry in in_turn if entry is not None), max(0, limit)))


async def _pending(connections: Connections, projection: str | None, limit: int) -> list[OutboxEntry]:
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


async def acknowledge(members: Servers, sequences: Sequence[int], projection: str | None) -> None:
    """Implement the port's `acknowledge` on every server: no two use the same number, and an entry may have moved."""
    await members.reached(partial(_acknowledged, sequences=sequences, projection=projection))


async def _acknowledged(connections: Connections, sequences: Sequence[int], projection: str | None) -> None:
    if projection is None:
        await connections.write(partial(_removed, sequences=sequences))
    else:
        await connections.ask(_OUTBOX["take"], list(sequences), projection)


async def _removed(session: Session, sequences: Sequence[int]) -> None:
    await session.enter_drain()
    await session.fetch(_OUTBOX["remove"], list(sequences))


async def register(members: Servers, projection: str) -> None:
    """Implement the port's `register`."""
    await members.each(lambda connections: connections.write(partial(_registered, projection=projection)))


async def unregister(members: Servers, projection: str) -> None:
    """Implement the port's `unregister`."""
    await members.each(lambda connections: connections.write(partial(_unregistered, projection=projection)))


async def _registered(session: Session, projection: str) -> None:
    await session.fetch(_OUTBOX["register"], projection)


async def _unregistered(session: Session, projection: str) -> None:
    await session.enter_drain()
    for name in ("unregister", "remove_left", "forget_taken"):
        await session.fetch(_OUTBOX[name], projection)


async def projections(members: Servers) -> dict[str, int]:
    """Return the port's `projections`, of the servers that answer."""
    found: dict[str, int] = {}
    for waiting in await members.reached(lambda connections: connections.read(_projections)):
        for name, count in waiting.items():
            found[name] = found.get(name, 0) + count
    return found


async def _projections(session: Session) -> dict[str, int]:
    await session.enter_drain()
    return {row["name"]: row["waiting"] for row in await session.fetch(_OUTBOX["projections"])}
