"""Conditions that a memory file must meet whatever happened to its writers, checked on the file alone, by plain SQL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import apsw

from mnemic.stores.audit_chain import decode_event, first_broken
from mnemic.types import Status

_MEMORIES = """
    SELECT m.tenant, m.memory_id, m.version, m.status, m.body, s.vector IS NOT NULL
    FROM memory m LEFT JOIN memory_search s ON s.row_id = m.row_id
"""
_BUSY_MILLISECONDS = 5000
_NOTHING = {
    "search_entry_without_memory": "SELECT row_id FROM memory_search EXCEPT SELECT row_id FROM memory",
    "history_with_gap": """
        SELECT memory_id FROM memory m WHERE version - 1 <> (
            SELECT count(*) FROM memory_version v
            WHERE v.tenant = m.tenant AND v.memory_id = m.memory_id AND v.version < m.version
        )
    """,
    "history_without_memory": """
        SELECT memory_id FROM memory_version v
        WHERE NOT EXISTS (SELECT 1 FROM memory m WHERE m.tenant = v.tenant AND m.memory_id = v.memory_id)
    """,
    "scope_behind_its_rows": """
        SELECT scope_id FROM scope s
        WHERE changes < (SELECT max(changed) FROM memory m WHERE m.scope_id = s.scope_id)
    """,
    "foreign_key": "PRAGMA foreign_key_check",
}
"""Each of these queries finds nothing in a file that is whole."""


@dataclass(frozen=True, slots=True)
class Stored:
    """Content of one row about a memory."""

    version: int
    status: str
    content: str
    supersedes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """A file as any later process finds it. `damage`: the findings of SQLite's own check and of the audit's chain.

    `halves` are incomplete records: a memory without its version, audit line, outbox entry or search entry, or one of
    these without a memory.
    """

    memories: dict[str, Stored]
    damage: tuple[str, ...] = ()
    halves: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        """True if nothing is damaged or incomplete."""
        return not self.damage and not self.halves


def examine(path: Path, *, outbox_emptied: bool = False) -> Examined:
    """Open the file as a later process does, and check all of it. A file whose creation was interrupted is empty.

    `outbox_emptied`: entries may have been taken off the outbox, so that a missing one means nothing.
    """
    with closing(apsw.Connection(str(path))) as connection:
        connection.set_busy_timeout(_BUSY_MILLISECONDS)
        try:
            return _examine_file(connection, outbox_emptied)
        except (apsw.CorruptError, apsw.NotADBError) as error:
            return Examined(memories={}, damage=(type(error).__name__,))


def _examine_file(connection: apsw.Connection, outbox_emptied: bool) -> Examined:
    checked = connection.execute("PRAGMA integrity_check(5)").fetchall()
    damage = tuple(f"integrity:{text}" for (text,) in checked if text != "ok")
    if damage or not _has_schema(connection):
        return Examined(memories={}, damage=damage)
    rows = connection.execute("SELECT memory_id, version, status, body FROM memory")
    return Examined(
        memories={memory_id: _stored_state(version, status, body) for memory_id, version, status, body in rows},
        damage=tuple(f"audit_chain:{tenant}" for tenant in _broken_chains(connection)),
        halves=(
            *(name for name, query in _NOTHING.items() if connection.execute(query).fetchone()),
            *(name for name in _trail_halves(connection) if not (outbox_emptied and name.endswith("_without_outbox"))),
        ),
    )


def _stored_state(version: int, status: str, body: str) -> Stored:
    fields = json.loads(body)
    return Stored(version, status, fields["content"], tuple(fields.get("supersedes", ())))


def _has_schema(connection: apsw.Connection) -> bool:
    """Check whether the last migration was applied; a file whose creation was interrupted may lack it."""
    return bool(connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'request'").fetchone())


def _broken_chains(connection: apsw.Connection) -> Iterator[str]:
    tenants: Any = connection.execute("SELECT DISTINCT tenant FROM audit").fetchall()
    for (tenant,) in tenants:
        lines = connection.execute("SELECT event, hash FROM audit WHERE tenant = ? ORDER BY sequence", (tenant,))
        events = [decode_event(text, digest) for text, digest in lines]
        if events[0].sequence != 1 or first_broken(events) is not None:
            yield tenant


def _trail_halves(connection: apsw.Connection) -> Iterator[str]:
    """Compare memories with the audit, the outbox and the receipts."""
    rows = connection.execute(_MEMORIES).fetchall()
    here = {(tenant, memory_id): version for tenant, memory_id, version, *_ in rows}
    old = connection.execute("SELECT tenant, memory_id, version, body ->> 'status', body, 1 FROM memory_version")
    versions = {(row[0], row[1], row[2]): row[3] for row in chain(rows, old)}
    lines: Any = connection.execute("SELECT tenant, event FROM audit").fetchall()
    events = [(tenant, json.loads(text)) for tenant, text in lines]
    # Lines about a consent, a key or an erasure name no memory; those of an erased one do not name it.
    erased = {tenant for tenant, event in events if event["action"] == "erasing"}
    fields = {
        (tenant, event["memory_id"], event["version"]) for tenant, event in events if event["version"] is not None
    }
    gone = {(tenant, event["memory_id"]) for tenant, event in events if event["action"] == "forgotten"}
    sent = connection.execute("SELECT tenant, memory_id, version, action FROM outbox").fetchall()

    if not all(complete for *_, complete in rows):
        yield "memory_without_search_entry"
    if not versions.keys() <= fields:
        yield "version_without_audit"
    lost = {(tenant, memory_id) for tenant, memory_id, _ in fields} - here.keys() - gone
    if any(tenant not in erased for tenant, _ in lost) or here.keys() & gone:
        yield "audit_without_memory"
    if any(version > here.get((tenant, memory_id), version) for tenant, memory_id, version in fields):
        yield "audit_ahead_of_memory"
    if not {(tenant, memory_id, version) for tenant, memory_id, version, _ in sent} <= fields:
        yield "outbox_without_audit"
    due = {place for place, status in versions.items() if _is_sent(place[2], status)}
    if not due <= {(tenant, memory_id, version) for tenant, memory_id, version, _ in sent}:
        yield "version_without_outbox"
    if not gone <= {(tenant, memory_id) for tenant, memory_id, _, action in sent if action == "remove"}:
        yield "removal_without_outbox"
    receipts = connection.execute("SELECT tenant, receipt ->> 'memory_id' FROM request").fetchall()
    if not {(tenant, memory_id) for tenant, memory_id in receipts if memory_id} <= here.keys() | gone:
        yield "receipt_without_memory"


def _is_sent(version: int, status: str) -> bool:
    """Projections are notified of active memories and of the end of those they contain."""
    return status == Status.ACTIVE or (version > 1 and status != Status.PENDING_REVIEW)
