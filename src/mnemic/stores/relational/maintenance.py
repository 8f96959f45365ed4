"""Verbs of jobs on the tables of one tenant: counts, pages, and proof that something is gone (`sql/jobs.sql`)."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, TypeVar

from mnemic.stores.audit_chain import decode_event
from mnemic.stores.codec import moment_of, to_micros
from mnemic.stores.relational.statements import Ask
from mnemic.types import AuditEvent, Kind, OutboxEntry, Scope, StoredAnswer, Usage
from mnemic.types.scope import first_id, scope_named

T = TypeVar("T")
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


def in_json(memory_ids: Collection[str]) -> list[str]:
    """Return the identifiers as JSON texts, in both spellings of non-ASCII characters."""
    spelt: Any = (json.dumps(each, ensure_ascii=ascii_only) for each in memory_ids for ascii_only in (True, False))
    return sorted(set(spelt))


class JobTables(ABC):
    """The part of the port's `RecordStore` that only jobs use."""

    @abstractmethod
    async def _jobs(self, tenant: str, work: Callable[[Ask], Awaitable[T]]) -> T:
        """Run `work` on the rows of the tenant as of one moment, with the statements of `sql/jobs.sql`."""

    @abstractmethod
    async def _read_outbox(self, name: str, *values: Any) -> list[Any]:
        """Return the rows of a statement of `sql/outbox.sql`."""

    @abstractmethod
    async def _change_outbox(self, *steps: tuple[Any, ...]) -> None:
        """Run these statements of `sql/outbox.sql`, each with its values, in one transaction."""

    @abstractmethod
    async def _take_entries(self, sequences: list[int], projection: str) -> None:
        """Note that the projection has taken these entries."""

    async def usage(self, tenant: str, *, since: datetime, scope: Scope | None = None) -> Mapping[Kind, Usage]:
        return await self._jobs(tenant, lambda ask: usage(ask, tenant, since, scope))

    async def waiting(self, tenant: str) -> int:
        ((count,),) = await self._jobs(tenant, lambda ask: ask("waiting", tenant))
        return int(count)

    async def requests(self, tenant: str, *, after: str | None = None, limit: int = 500) -> list[StoredAnswer]:
        rows = await self._jobs(tenant, lambda ask: ask("requests", tenant, after, max(0, limit)))
        return [StoredAnswer(idempotency_key=key, receipt=receipt, at=moment_of(at)) for key, receipt, at in rows]

    async def traces(self, tenant: str, memory_ids: Collection[str], fingerprints: Collection[str]) -> dict[str, int]:
        named, prints = sorted(memory_ids), sorted(filter(None, fingerprints))
        (counts,) = await self._jobs(tenant, lambda ask: ask("traces", tenant, named, prints, in_json(named)))
        return dict(zip(_PLACES, counts, strict=True))

    async def audit(
        self, tenant: str, *, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> list[AuditEvent]:
        if before is None:
            lines = await self._jobs(tenant, lambda ask: ask("audit", tenant, after, max(0, limit)))
        else:
            lines = (await self._jobs(tenant, lambda ask: ask("audit_end", tenant, after, before, max(0, limit))))[::-1]
        return [decode_event(event, digest) for _, event, digest in lines]

    async def pending(self, *, projection: str | None = None, limit: int = 100) -> list[OutboxEntry]:
        return [
            OutboxEntry(
                sequence=sequence,
                scope=scope_named(tenant, level, owner),
                action=action,
                memory_id=memory_id,
                version=version,
            )
            for sequence, tenant, level, owner, action, memory_id, version in await self._read_outbox(
                "pending", projection, max(0, limit)
            )
        ]

    async def acknowledge(self, sequences: Sequence[int], *, projection: str | None = None) -> None:
        if projection is None:
            await self._change_outbox(("remove", list(sequences)))
        else:
            await self._take_entries(list(sequences), projection)

    async def register(self, projection: str) -> None:
        await self._change_outbox(("register", projection))

    async def unregister(self, projection: str) -> None:
        await self._change_outbox(*((name, projection) for name in ("unregister", "remove_left", "forget_taken")))

    async def projections(self) -> dict[str, int]:
        return {name: int(waiting) for name, waiting in await self._read_outbox("projections")}
