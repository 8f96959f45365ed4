"""Work of jobs on the file: walks over a whole tenant, counts, and proof that something is gone."""

from __future__ import annotations

import mmap
import re
from collections.abc import Collection, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import apsw

from mnemic.identity import first_id
from mnemic.stores.audit_chain import Chain
from mnemic.stores.codec import Sign, decode_event, dump, moment_of, to_micros
from mnemic.stores.sqlite.rows import MEMORY, SOURCES, Rows, fetch
from mnemic.types import AuditEvent, KeptRequest, Kind, Memory, Scope, Usage

_HELD = f"""
    SELECT {MEMORY} FROM {SOURCES}
    WHERE m.tenant = :tenant AND (:after IS NULL OR m.memory_id > :after)
    AND (:expired_by IS NULL OR m.expires_at <= :expired_by)
    AND (:memory_ids IS NULL OR m.memory_id IN (SELECT value FROM json_each(:memory_ids)))
    AND (:level IS NULL OR (c.level = :level AND c.owner = :owner))
    AND (:author IS NULL OR CASE WHEN json_valid(m.body) THEN m.body ->> '$.author' END = :author OR EXISTS (
        SELECT 1 FROM memory_version v
        WHERE v.tenant = m.tenant AND v.memory_id = m.memory_id
        AND CASE WHEN json_valid(v.body) THEN v.body ->> '$.author' END = :author
    ))
    AND {{status}} ORDER BY m.memory_id LIMIT :limit
"""  # noqa: S608
_BY_STATUS = _HELD.format(status="m.status IN (SELECT value FROM json_each(:statuses))")
_PENDING = _HELD.format(status="m.status = 'pending_review'")
"""The same for the review queue alone, which has an index."""

_WAITING = "SELECT count(*) FROM memory WHERE tenant = :tenant AND status = 'pending_review'"
_USAGE = """
    SELECT u.kind, sum(u.rows), sum(u.bytes) FROM usage u JOIN scope c ON c.scope_id = u.scope_id
    WHERE u.tenant = :tenant AND (:level IS NULL OR (c.level = :level AND c.owner = :owner)) GROUP BY u.kind
"""
_RECENT = """
    SELECT m.kind, count(*) FROM memory m JOIN scope c ON c.scope_id = m.scope_id
    WHERE m.tenant = :tenant AND m.memory_id >= :first
    AND CASE WHEN json_valid(m.body) THEN m.body ->> '$.created_at' END >= :since
    AND (:level IS NULL OR (c.level = :level AND c.owner = :owner)) GROUP BY m.kind
"""
_REQUESTS = """
    SELECT idempotency_key, receipt, at FROM request
    WHERE tenant = :tenant AND (:after IS NULL OR idempotency_key > :after) ORDER BY idempotency_key LIMIT :limit
"""
_TRACES = {
    "memory": """
        SELECT count(*) FROM memory WHERE tenant = :tenant AND (
            memory_id IN (SELECT value FROM json_each(:memory_ids))
            OR fingerprint IN (SELECT value FROM json_each(:fingerprints)))
    """,
    "memory_version": """
        SELECT count(*) FROM memory_version WHERE tenant = :tenant AND (
            memory_id IN (SELECT value FROM json_each(:memory_ids))
            OR CASE WHEN json_valid(body) THEN body ->> '$.fingerprint' END
                IN (SELECT value FROM json_each(:fingerprints)))
    """,
    "outbox": """
        SELECT count(*) FROM outbox
        WHERE tenant = :tenant AND memory_id IN (SELECT value FROM json_each(:memory_ids))
    """,
    "request": """
        SELECT count(*) FROM request WHERE tenant = :tenant AND EXISTS (
            SELECT 1 FROM json_tree(receipt) said
            WHERE said.type = 'text' AND said.atom IN (SELECT value FROM json_each(:memory_ids)))
    """,
    "graph": """
        SELECT
            (SELECT count(*) FROM graph_node
             WHERE tenant = :tenant AND memory_id IN (SELECT value FROM json_each(:memory_ids)))
            + (SELECT count(*) FROM graph_relation
               WHERE tenant = :tenant AND memory_id IN (SELECT value FROM json_each(:memory_ids)))
    """,
    "facet": """
        SELECT count(*) FROM facet f JOIN scope c ON c.scope_id = f.scope_id
        WHERE c.tenant = :tenant AND f.memory_id IN (SELECT value FROM json_each(:memory_ids))
    """,
}
_AUDIT = """
    SELECT sequence, CAST(event AS BLOB), CAST(hash AS BLOB) FROM audit WHERE tenant = ? ORDER BY sequence
"""
_LINES = "SELECT event, hash FROM audit WHERE tenant = ? AND sequence > ? ORDER BY sequence LIMIT ?"
_LAST_LINES = """
    SELECT event, hash FROM audit WHERE tenant = ? AND sequence > ? AND sequence < ? ORDER BY sequence DESC LIMIT ?
"""
_HASH = re.compile(rb"(?=([0-9a-f]{64}))")
_IDENTIFIER = re.compile(
    rb"(upsert|remove|\"memory_id\": \"|.)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})", re.DOTALL
)


def held(connection: apsw.Connection, rows: Rows, wanted: dict[str, Any], *, pending: bool) -> list[Memory]:
    """The port's `held`; `pending`: of the review queue alone. Of a damaged row as much as is known without its body: a
    job that removes must reach it.
    """
    return [rows.named(connection, row) for row in fetch(connection, _PENDING if pending else _BY_STATUS, wanted)]


def within(scope: Scope | None) -> dict[str, str | None]:
    """The parameters that keep a walk over a tenant to one scope; None: to none."""
    return {"level": None if scope is None else scope.level.value, "owner": None if scope is None else scope.owner}


def waiting(connection: apsw.Connection, tenant: str) -> int:
    """The port's `waiting`."""
    count: int = fetch(connection, _WAITING, {"tenant": tenant})[0][0]
    return count


def usage(connection: apsw.Connection, tenant: str, since: datetime, scope: Scope | None) -> dict[Kind, Usage]:
    """The port's `usage`: what is held from the counters, what is recent from the index of identifiers."""
    wanted = {"tenant": tenant, "first": first_id(since), "since": to_micros(since), **within(scope)}
    recent = dict(fetch(connection, _RECENT, wanted))
    rows = fetch(connection, _USAGE, wanted)
    return {Kind(kind): Usage(count, size, recent.get(kind, 0)) for kind, count, size in rows if count}


def requests(connection: apsw.Connection, tenant: str, after: str | None, limit: int) -> list[KeptRequest]:
    """The port's `requests`."""
    wanted = {"tenant": tenant, "after": after, "limit": max(0, limit)}
    rows = fetch(connection, _REQUESTS, wanted)
    return [KeptRequest(idempotency_key=key, receipt=receipt, at=moment_of(at)) for key, receipt, at in rows]


def traces(
    connection: apsw.Connection, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]
) -> dict[str, int]:
    """The rows of the port's `traces`."""
    wanted = {
        "tenant": tenant,
        "memory_ids": dump(sorted(memory_ids)),
        "fingerprints": dump(sorted(filter(None, fingerprints))),
    }
    return {place: fetch(connection, sql, wanted)[0][0] for place, sql in _TRACES.items()}


def audit(connection: apsw.Connection, tenant: str, after: int, before: int | None, limit: int) -> list[AuditEvent]:
    """The port's `audit`."""
    if before is None:
        rows = fetch(connection, _LINES, (tenant, after, max(0, limit)))
    else:
        rows = fetch(connection, _LAST_LINES, (tenant, after, before, max(0, limit)))[::-1]
    return [decode_event(event, digest) for event, digest in rows]


def broken_audit(connection: apsw.Connection, tenant: str, sign: Sign | None = None) -> tuple[int, int | None, str]:
    """The port's `broken_audit`."""
    chain = Chain(tenant, sign)
    for sequence, event, digest in connection.execute(_AUDIT, (tenant,)):
        # As bytes: a changed one may leave no valid text behind.
        chain.take(sequence, *(bytes(value).decode("utf-8", "replace") for value in (event, digest)))
    return chain.found


_PIECE_BYTES, _OVERLAP = 64 * 1024, 128
_FEW = 64
"""So few names are looked for one by one first, which is many times faster than reading every identifier there is."""


def bytes_found(path: Path, memory_ids: Collection[str], fingerprints: Collection[str]) -> int:
    """Count how often the raw files show one of these memories: its fingerprint anywhere, or its identifier where a
    row, an index, an outbox entry or a request's receipt would have it.

    Identifiers inside JSON are left out: the audit and the lineage of other memories keep them, and nothing else.
    """
    hashes = {text.encode() for text in fingerprints if text}
    names = {text.encode() for text in memory_ids}
    return sum(_found(file, hashes, names) for file in files_of(path))


def files_of(path: Path) -> Iterator[Path]:
    """The files in which something of the store can be read."""
    return (file for file in (path, Path(f"{path}-wal"), Path(f"{path}-journal")) if file.is_file())


def _found(file: Path, hashes: set[bytes], names: set[bytes]) -> int:
    """The file is searched by pieces: an expression keeps the interpreter to itself until it has read its text."""
    size = file.stat().st_size
    if not size:
        return 0
    found: int = 0
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for begin in range(0, size, _PIECE_BYTES):
            # What begins in a piece may end in the next one; a look behind needs what came before.
            piece, before = data[max(0, begin - _OVERLAP) : begin + _PIECE_BYTES + _OVERLAP], min(begin, _OVERLAP)
            if len(hashes) + len(names) <= _FEW and not any(one in piece for one in (*hashes, *names)):
                continue
            places = range(before, before + _PIECE_BYTES)
            if hashes:
                found += sum(one[1] in hashes and one.start() in places for one in _HASH.finditer(piece))
            found += sum(
                one[2] in names and one[1] != b'"' and one.start(2) in places for one in _IDENTIFIER.finditer(piece)
            )
    return found
