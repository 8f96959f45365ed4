"""The end of each tenant's audit, where every write goes: its line waits for the one before."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from mnemic.stores.audit_format import Sign, next_line
from mnemic.types import AuditEvent
from mnemic_postgres.recent import Recent
from mnemic_postgres.rows import columns

Ask = Callable[..., Awaitable[list[Any]]]
"""The rows of a statement of `writing.sql`, by name."""

_MOST = 10_000
"""Ends that are remembered at a time; those of the tenants that wrote longest ago are forgotten first."""


class Trails:
    """Appends lines, and remembers where they ended. As long as no other process writes for the tenant that saves the
    question where the audit ends, and its lock is held for one statement; else for three.
    """

    def __init__(self) -> None:
        self._ends: Recent[str, tuple[int, str]] = Recent(_MOST)

    async def append(
        self,
        ask: Ask,
        tenant: str,
        events: Sequence[AuditEvent],
        entries: Sequence[tuple[Any, ...]],
        sign: Sign | None = None,
    ) -> None:
        """Events behind the tenant's last, and outbox entries with them."""
        known = self._ends.get(tenant)
        if known is not None and await self._appended(ask, tenant, known, events, entries, sign):
            return
        head = await ask("audit_head", tenant)
        if not head:
            await ask("make_audit_head", tenant)
            head = await ask("audit_head", tenant)
        await self._appended(ask, tenant, (head[0]["sequence"], head[0]["hash"]), events, entries, sign)

    async def _appended(
        self,
        ask: Ask,
        tenant: str,
        end: tuple[int, str],
        events: Sequence[AuditEvent],
        entries: Sequence[tuple[Any, ...]],
        sign: Sign | None,
    ) -> bool:
        """Append to the audit and the outbox if `end` is still the end; otherwise write nothing and return False."""
        sequence, previous = end
        lines = []
        for event in events:
            sequence, line, previous = next_line(event, sequence, previous, sign)
            lines.append((sequence, line, previous))
        given = (*columns(lines, 3), sequence, previous, *columns(entries, 5), *end)
        if not await ask("append_trail", tenant, *given):
            return False
        # Should the transaction come to nothing after all, this is no end, and the next one finds that out.
        self._ends.put(tenant, (sequence, previous))
        return True
