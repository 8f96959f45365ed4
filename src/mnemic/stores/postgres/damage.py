"""Damaged rows of a tenant."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from mnemic.ports.record_store import Damage
from mnemic.stores.codec import UNREADABLE, body_check, in_columns, text_check, vector_check
from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.rows import column_values, decode_vector, words_are_whole
from mnemic.stores.postgres.statements import load as statements
from mnemic.types.scope import scope_named

MOST = 100
"""Maximum damaged rows returned; there may be more."""

_PAGE = 500
_DAMAGE = statements("damage")


async def find_damage(session: Session, tenant: str) -> list[Damage]:
    """Return the damaged rows of the tenant, at most `MOST` of them."""
    await session.enter(tenant)
    found: list[Damage] = []
    for rows in (_memories(session, tenant), _versions(session, tenant), _check_rows(session, tenant)):
        async for one in rows:
            found.append(one)
            if len(found) >= MOST:
                return found
    return found


async def damaged_bodies(session: Session, tenant: str) -> list[Damage]:
    """Damaged rows whose content is affected: memories in all versions, marks and requests."""
    await session.enter(tenant)
    return [one for rows in (_versions(session, tenant), _check_rows(session, tenant)) async for one in rows]


async def _memories(session: Session, tenant: str) -> AsyncIterator[Damage]:
    """Yield the damaged memories: columns that contradict the body, and damaged search data."""
    last = ""
    while rows := await session.fetch(_DAMAGE["memories"], tenant, last, _PAGE):
        last = rows[-1]["memory_id"]
        for row in rows:
            if _is_body(row) and not _columns_agree(row):
                yield Damage("memory", row["memory_id"])
            sums = ((decode_vector(row[name]), row[f"{name}_check"]) for name in ("vector", "next_vector"))
            if any(check != vector_check(given) for given, check in sums) or not words_are_whole(row):
                yield Damage("memory", f"{row['memory_id']} (search)")


async def _versions(session: Session, tenant: str) -> AsyncIterator[Damage]:
    last = ("", 0)
    while rows := await session.fetch(_DAMAGE["versions"], tenant, *last, _PAGE):
        last = rows[-1]["memory_id"], rows[-1]["version"]
        for row in rows:
            if not _is_body(row):
                earlier = "" if row["version"] == row["present"] else f" version {row['version']}"
                yield Damage("memory_version", f"{row['memory_id']}{earlier}")


async def _check_rows(session: Session, tenant: str) -> AsyncIterator[Damage]:
    for table in ("mark", "request", "tenant"):
        for first, second, checksum in await session.fetch(_DAMAGE[table], tenant):
            if checksum != text_check(first, second):
                yield Damage(table, "a row")


def _is_body(row: Any) -> bool:
    return bool(row["checksum"] == body_check(row["tenant"], row["level"], row["owner"], row["body"]))


def _columns_agree(row: Any) -> bool:
    try:
        memory, _ = in_columns(row["body"], scope_named(*_place(row)))
    except UNREADABLE:
        return False
    return all(row[name] == value for name, value in column_values(memory).items())


def _place(row: Any) -> tuple[str, str, str]:
    return row["tenant"], row["level"], row["owner"]
