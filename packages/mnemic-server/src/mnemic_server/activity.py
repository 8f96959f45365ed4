"""Daily activity of a tenant: memories written and forgotten, turns in which memory was shown to a model, and its
tokens, counted from the audit log.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import Any

from mnemic.engine.turn import RAN
from mnemic.inject.injection_log import INJECTED
from mnemic.ports import RecordStore
from mnemic.types import AuditEvent
from mnemic.types.writes import AUDIT_END

PAGE = 1000
LINES_READ = 20_000
"""Maximum number of audit lines read for one response, which bounds its cost."""
_CAME = frozenset({"created", "pending_review"})
"""Of a memory that is new: a replacement is `created`, and what it replaces `superseded` in a line of its own."""
_GONE = frozenset({"forgotten", "deleted", "removed", "purged", "expired", "erased", "erasure", "evicted"})


async def activity(store: RecordStore, tenant: str, now: datetime, days: int) -> dict[str, Any]:
    """Return one entry for each of the last `days` days (UTC), oldest first; and the sums of those days (`period`) and
    of as many days before them (`period_before`; None where nothing is older), with the milliseconds within which half
    and 95 % of the prompts got their memory. `complete` is False if there were more lines than are read: the earliest
    days then count too little.
    """
    first = now.astimezone(UTC).date() - timedelta(days=days - 1)
    earliest = first - timedelta(days=days)
    counted: dict[date, Counter[str]] = {earliest + timedelta(days=one): Counter() for one in range(2 * days)}
    took: dict[bool, list[float]] = {True: [], False: []}
    end, read, older = AUDIT_END, 0, False
    while read < LINES_READ and (lines := await store.audit(tenant, before=end, limit=PAGE)):
        end, read = lines[0].sequence, read + len(lines)
        for event in lines:
            day, name = event.at.astimezone(UTC).date(), _name(event)
            older = older or day < first
            if name is not None and day in counted:
                counted[day][name] += 1
                counted[day]["tokens"] += _tokens(event)
                took[day >= first] += _milliseconds(event)
        if lines[0].at.astimezone(UTC).date() < earliest:
            break
    recent = {day: count for day, count in counted.items() if day >= first}
    before = {day: count for day, count in counted.items() if day < first}
    return {
        "days": [{"day": day.isoformat(), **_named(count)} for day, count in recent.items()],
        "period": _sums(recent, took[True]),
        "period_before": _sums(before, took[False]) if older else None,
        "complete": read < LINES_READ,
    }


_NAMES = ("written", "forgotten", "used", "tokens")


def _named(count: Counter[str]) -> dict[str, int]:
    return {name: count[name] for name in _NAMES}


def _sums(days: dict[date, Counter[str]], took: list[float]) -> dict[str, Any]:
    """Return the sums of some days, and what half and 95 % of the prompts took at most; None without any."""
    took = sorted(took)
    typical, slow = (took[int(part * (len(took) - 1))] if took else None for part in (0.5, 0.95))
    return {**_named(sum(days.values(), Counter())), "typical_ms": typical, "slow_ms": slow}


def _milliseconds(event: AuditEvent) -> list[float]:
    """Return how long the memory of a prompt was looked for, where its line says it."""
    ms = event.detail.get("ms") if event.action == INJECTED else None
    return [float(ms)] if isinstance(ms, int | float) else []


def _tokens(event: AuditEvent) -> int:
    """Return the tokens that an injection added to a prompt, where its line has them."""
    tokens = event.detail.get("tokens") if event.action == INJECTED else None
    return tokens if isinstance(tokens, int) else 0


def _name(event: AuditEvent) -> str | None:
    """Return the category of a line; None for a line that no chart shows."""
    if event.action in (INJECTED, RAN):
        return "used" if event.action == INJECTED else None
    if event.memory_id is None:
        return None
    return "forgotten" if event.action in _GONE else "written" if event.action in _CAME else None
