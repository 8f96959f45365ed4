"""Outbox in the file: the entries that each projection has not consumed yet."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from mnemic.stores.codec import dump
from mnemic.stores.sqlite.failures import immediate
from mnemic.stores.sqlite.rows import fetch
from mnemic.types import Level, OutboxEntry, Scope

_PENDING = """
    SELECT sequence, tenant, level, owner, action, memory_id, version FROM outbox
    WHERE :projection IS NULL OR :projection NOT IN (SELECT value FROM json_each(taken))
    ORDER BY sequence LIMIT :limit
"""
_REMOVE = "DELETE FROM outbox WHERE sequence IN (SELECT value FROM json_each(:sequences))"
_TAKE = """
    UPDATE outbox SET taken = json_insert(taken, '$[#]', :projection)
    WHERE sequence IN (SELECT value FROM json_each(:sequences))
    AND :projection NOT IN (SELECT value FROM json_each(taken))
"""
_TAKEN_BY_ALL = """
    NOT EXISTS (
        SELECT 1 FROM projection p
        WHERE p.name IS NOT :projection AND p.name NOT IN (SELECT value FROM json_each(outbox.taken))
    )
"""
_REMOVE_TAKEN = f"{_REMOVE} AND {_TAKEN_BY_ALL}"
_REMOVE_LEFT = f"""
    DELETE FROM outbox
    WHERE :projection NOT IN (SELECT value FROM json_each(taken))
    AND EXISTS (SELECT 1 FROM projection) AND {_TAKEN_BY_ALL}
"""  # noqa: S608
_UNREGISTER = (
    "DELETE FROM projection WHERE name = :projection",
    _REMOVE_LEFT,
    "UPDATE outbox SET taken = (SELECT json_group_array(value) FROM json_each(taken) WHERE value <> :projection)",
)
_PROJECTIONS = """
    SELECT p.name, (
        SELECT count(*) FROM outbox o WHERE p.name NOT IN (SELECT value FROM json_each(o.taken))
    ) FROM projection p ORDER BY p.name
"""


def pending(connection: apsw.Connection, projection: str | None, limit: int) -> list[OutboxEntry]:
    """Return the port's `pending`."""
    rows = fetch(connection, _PENDING, {"projection": projection, "limit": max(0, limit)})
    return [
        OutboxEntry(
            sequence=sequence,
            scope=Scope(tenant=tenant, level=Level(level), owner=owner),
            action=action,
            memory_id=memory_id,
            version=version,
        )
        for sequence, tenant, level, owner, action, memory_id, version in rows
    ]


def acknowledge(connection: apsw.Connection, sequences: Sequence[int], projection: str | None) -> None:
    """Implement the port's `acknowledge`."""
    wanted = {"sequences": dump(list(sequences)), "projection": projection}
    with immediate(connection):
        if projection is None:
            connection.execute(_REMOVE, wanted)
        else:
            connection.execute(_REMOVE_TAKEN, wanted)
            connection.execute(_TAKE, wanted)


def register(connection: apsw.Connection, projection: str) -> None:
    """Implement the port's `register`."""
    with immediate(connection):
        connection.execute("INSERT OR IGNORE INTO projection (name) VALUES (?)", (projection,))


def unregister(connection: apsw.Connection, projection: str) -> None:
    """Implement the port's `unregister`."""
    with immediate(connection):
        for statement in _UNREGISTER:
            connection.execute(statement, {"projection": projection})


def projections(connection: apsw.Connection) -> dict[str, int]:
    """Return the port's `projections`."""
    return dict(fetch(connection, _PROJECTIONS))
