"""Work of jobs on the tables of one tenant: counts, pages, and proof that something is gone (`sql/jobs.sql`)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from mnemic.stores.audit_chain import decode_event
from mnemic.stores.codec import moment_of, to_micros
from mnemic.stores.relational.statements import Ask
from mnemic.types import AuditEvent, Kind, Scope, StoredAnswer, Usage
from mnemic.types.identity import first_id

NOTHING: Mapping[str, tuple[int, int]] = {}
_PLACES = ("memory", "memory_version", "outbox", "request", "graph", "facet")


async def usage(
    ask: Ask, tenant: str, since: datetime, scope: Scope | None, more: Mapping[str, tuple[int, int]] = NOTHING
) -> dict[Kind, Usage]:
    """Return the port's `usage`: totals from the counters, recent writes from the index of identifiers. `more` has the
    memories and bytes by kind that are not in the tenant's counters yet.
    """
    place = (tenant, None, None) if scope is None else (tenant, scope.level.value, scope.owner)
    recent = dict(await ask("recent_usage", *place, first_id(since), to_micros(since)))
    rows = await ask("usage_of_tenant", tenant) if scope is None else await ask("usage", *place)
    usage = {kind: (count, size) for kind, count, size in rows}
    for kind, (count, size) in more.items():
        before = usage.get(kind, (0, 0))
        usage[kind] = (before[0] + count, before[1] + size)
    return {Kind(kind): Usage(count, size, recent.get(kind, 0)) for kind, (count, size) in usage.items() if count > 0}


async def waiting(ask: Ask, tenant: str) -> int:
    """Return the port's `waiting`."""
    ((count,),) = await ask("waiting", tenant)
    return int(count)


async def requests(ask: Ask, tenant: str, after: str | None, limit: int) -> list[StoredAnswer]:
    """Return the port's `requests`."""
    rows = await ask("requests", tenant, after, max(0, limit))
    return [StoredAnswer(idempotency_key=key, receipt=receipt, at=moment_of(at)) for key, receipt, at in rows]


async def traces(ask: Ask, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]) -> dict[str, int]:
    """Return the port's `traces`: the rows."""
    named, prints = sorted(memory_ids), sorted(filter(None, fingerprints))
    (counts,) = await ask("traces", tenant, named, prints, in_json(named))
    return dict(zip(_PLACES, counts, strict=True))


async def audit(ask: Ask, tenant: str, after: int, before: int | None, limit: int) -> list[AuditEvent]:
    """Return the port's `audit`."""
    if before is None:
        lines = await ask("audit", tenant, after, max(0, limit))
    else:
        lines = [*reversed(await ask("audit_end", tenant, after, before, max(0, limit)))]
    return [decode_event(event, digest) for _, event, digest in lines]


def in_json(memory_ids: Collection[str]) -> list[str]:
    """Return the identifiers as JSON texts, in both spellings of non-ASCII characters."""
    spelt: Any = (json.dumps(each, ensure_ascii=ascii_only) for each in memory_ids for ascii_only in (True, False))
    return sorted(set(spelt))
