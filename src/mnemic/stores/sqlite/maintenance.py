"""Work of jobs on the file: walks over a whole tenant, counts, and proof that something is gone."""

from __future__ import annotations

import mmap
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import apsw

from mnemic.stores.audit_chain import Chain, Sign
from mnemic.stores.codec import dump, to_micros
from mnemic.stores.relational import maintenance
from mnemic.stores.relational.statements import Ask, load
from mnemic.stores.sqlite.index_files import files_beside
from mnemic.stores.sqlite.rows import MEMORY, SOURCES, Rows, asking, fetch
from mnemic.stores.store_verbs import Scan, run_through
from mnemic.types import Kind, Memory, Scope, Status, Usage

T = TypeVar("T")

_JOBS = load("jobs", "sqlite")
OUTBOX = load("outbox", "sqlite")
_SCANNED = f"""
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
_BY_STATUS = _SCANNED.format(status="m.status IN (SELECT value FROM json_each(:statuses))")
_PENDING = _SCANNED.format(status="m.status = 'pending_review'")
"""The same for the review queue alone, which has an index."""

_AUDIT = """
    SELECT sequence, CAST(event AS BLOB), CAST(hash AS BLOB) FROM audit WHERE tenant = ? ORDER BY sequence
"""
_HASH = re.compile(rb"(?=([0-9a-f]{64}))")
_IDENTIFIER = re.compile(
    rb"(upsert|remove|\"memory_id\": \"|.)([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})", re.DOTALL
)


def scan(connection: apsw.Connection, rows: Rows, wanted: Scan) -> list[Memory]:
    """Return the memories that the port's `scan` asks for. A damaged row is returned with the fields known without its
    body, so that a job can remove it.
    """
    asked = {
        "tenant": wanted.tenant,
        "statuses": dump(sorted(wanted.statuses)),
        "expired_by": to_micros(wanted.expired_by),
        "author": wanted.author,
        "memory_ids": None if wanted.memory_ids is None else dump(sorted(wanted.memory_ids)),
        "after": wanted.after,
        "limit": wanted.limit,
        "level": None if wanted.scope is None else wanted.scope.level.value,
        "owner": None if wanted.scope is None else wanted.scope.owner,
    }
    statement = _PENDING if wanted.statuses == {Status.PENDING_REVIEW} else _BY_STATUS
    return [rows.read_fields(connection, row) for row in fetch(connection, statement, asked)]


def jobs(connection: apsw.Connection, work: Callable[[Ask], Awaitable[T]]) -> T:
    """Return the result of `work` with the statements for jobs."""
    return run_through(work, asking(connection, _JOBS))


async def usage(connection: apsw.Connection, tenant: str, since: datetime, scope: Scope | None) -> Mapping[Kind, Usage]:
    """Return the port's `usage`, in a transaction."""
    return await maintenance.usage(asking(connection, _JOBS), tenant, since, scope)


def broken_audit(connection: apsw.Connection, tenant: str, sign: Sign | None = None) -> tuple[int, int | None, str]:
    """Return the port's `broken_audit`."""
    chain = Chain(tenant, sign)
    for sequence, event, digest in connection.execute(_AUDIT, (tenant,)):
        # Read as bytes: a damaged value may not be valid text.
        chain.take(sequence, *(bytes(value).decode("utf-8", "replace") for value in (event, digest)))
    return chain.found


_PIECE_BYTES, _OVERLAP = 64 * 1024, 128
_FEW = 64
"""Number of names that are looked up individually first, which is many times faster than reading every identifier."""


def bytes_found(path: Path, memory_ids: Collection[str], fingerprints: Collection[str]) -> int:
    """Count how often the raw files show one of these memories: its fingerprint anywhere, or its identifier as a row,
    an index, an outbox entry or a request's receipt would have it.

    Identifiers inside JSON are left out: only the audit and the lineage of other memories contain them.
    """
    hashes = {text.encode() for text in fingerprints if text}
    names = {text.encode() for text in memory_ids}
    return sum(_search_file(file, hashes, names) for file in files_of(path))


def files_of(path: Path) -> Iterator[Path]:
    """Return the files in which something of the store can be read."""
    files = (path, Path(f"{path}-wal"), Path(f"{path}-journal"), *files_beside(path))
    return (file for file in files if file.is_file())


def _search_file(file: Path, hashes: set[bytes], names: set[bytes]) -> int:
    """Search the file by pieces: a regular expression blocks the interpreter until it has read its text."""
    size = file.stat().st_size
    if not size:
        return 0
    found: int = 0
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        for begin in range(0, size, _PIECE_BYTES):
            # An occurrence may span two pieces, so the end of the previous piece is searched again.
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
