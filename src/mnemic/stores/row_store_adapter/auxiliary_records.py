"""Records other than memories, over rows: secrets, marks, and the receipts of requests."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from datetime import datetime
from typing import Any

from mnemic.errors import IdempotencyConflict
from mnemic.ports.database_backend import Row, RowChange, RowReads
from mnemic.stores.codec import (
    checked_marks,
    checked_request,
    checked_secret,
    load,
    moment_of,
    text_check,
    to_micros,
)
from mnemic.stores.row_store_adapter.tables import MARK, REQUEST, TENANT
from mnemic.types import StoredAnswer


async def secret(rows: RowChange, tenant: str, given: bytes | None = None) -> bytes:
    """Implement the port's `secret`: the existing one, else `given`, else a new one."""
    known = await rows.get(TENANT, [(tenant,)])
    if not known:
        made = given or secrets.token_bytes(32)
        known = [(tenant, made, text_check(tenant, made))]
        await rows.put(TENANT, known)
    return checked_secret(*known[0])


async def find_mark(rows: RowReads, tenant: str, name: str) -> str | None:
    """Implement the port's `find_mark`."""
    return checked_marks(row[1:] for row in await rows.get(MARK, [(tenant, name)])).get(name)


async def put_mark(rows: RowChange, tenant: str, name: str, value: str | None) -> None:
    """Implement the port's `put_mark`."""
    if value is None:
        await rows.remove(MARK, [(tenant, name)])
    else:
        await rows.put(MARK, [(tenant, name, value, text_check(name, value))])


async def marks(rows: RowReads, tenant: str, prefix: str, after: str | None, limit: int | None) -> dict[str, str]:
    """Implement the port's `marks`."""
    first: list[Row] = []
    if limit is None and prefix.endswith("/") and (after is None or after < prefix):
        # One question instead of two: little sorts between the prefix without its slash and the prefix.
        found = await rows.scan(MARK, (tenant,), after=prefix[:-1], before=_next_prefix(prefix))
        return checked_marks(row[1:] for row in found if row[1].startswith(prefix))
    if after is None or after < prefix:
        after = prefix
        first = await rows.get(MARK, [(tenant, prefix)]) if limit != 0 else []
    left = None if limit is None else limit - len(first)
    if left != 0:
        first += await rows.scan(MARK, (tenant,), after=after, before=_next_prefix(prefix), limit=left)
    return checked_marks(row[1:] for row in first)


def _next_prefix(prefix: str) -> str | None:
    """Return the first text, byte by byte, after all that begin with `prefix`; None if there is none."""
    start = prefix.rstrip("\U0010ffff")
    if not start:
        return None
    following = ord(start[-1]) + 1
    return start[:-1] + chr(0xE000 if following == 0xD800 else following)


async def find_request(rows: RowReads, tenant: str, idempotency_key: str) -> tuple[str, str] | None:
    """Implement the port's `find_request`."""
    for _, _, digest, receipt, _, checksum in await rows.get(REQUEST, [(tenant, idempotency_key)]):
        return checked_request(digest, receipt, checksum)
    return None


async def remember_request(
    rows: RowChange, tenant: str, idempotency_key: str, digest: str, receipt: str, at: datetime
) -> None:
    """Implement the port's `remember_request`."""
    if await rows.get(REQUEST, [(tenant, idempotency_key)]):
        raise IdempotencyConflict
    row = (tenant, idempotency_key, digest, receipt, to_micros(at), text_check(digest, receipt))
    await rows.put(REQUEST, [row])


async def remove_requests(rows: RowChange, tenant: str, memory_ids: Collection[str], owner: str | None) -> int:
    """Implement the port's `remove_requests`."""
    named = [
        row[:2]
        for row in await rows.scan(REQUEST, (tenant,))
        if (owner is not None and row[1].rpartition(":")[:2] == (owner, ":"))
        or not texts_of(load(row[3])).isdisjoint(memory_ids)
    ]
    await rows.remove(REQUEST, named)
    return len(named)


async def requests(rows: RowReads, tenant: str, after: str | None, limit: int) -> list[StoredAnswer]:
    """Implement the port's `requests`."""
    found = await rows.scan(REQUEST, (tenant,), after=after, limit=max(0, limit))
    return [StoredAnswer(idempotency_key=key, receipt=receipt, at=moment_of(at)) for _, key, _, receipt, at, _ in found]


def texts_of(value: Any) -> set[str]:
    """Every text in JSON data, the names of fields left out."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return set().union(*map(texts_of, value))
    return {value} if isinstance(value, str) else set()
