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
    """Return one entry for each of the last `days` days (UTC), oldest first. `complete` is False if there were more
    lines than are read: the earliest days then count too little.
    """
    first = now.astimezone(UTC).date() - timedelta(days=days - 1)
    counted: dict[date, Counter[str]] = {first + timedelta(days=one): Counter() for one in range(days)}
    end, read = AUDIT_END, 0
    while read < LINES_READ and (lines := await store.audit(tenant, before=end, limit=PAGE)):
        end, read = lines[0].sequence, read + len(lines)
        for event in lines:
            day, name = event.at.astimezone(UTC).date(), _name(event)
            if name is not None and day in counted:
                counted[day][name] += 1
                counted[day]["tokens"] += _tokens(event)
        if lines[0].at.astimezone(UTC).date() < first:
            break
    else:
        return _answer(counted, complete=read < LINES_READ)
    return _answer(counted, complete=True)


def _answer(counted: dict[date, Counter[str]], *, complete: bool) -> dict[str, Any]:
    names = ("written", "forgotten", "used", "tokens")
    days = [{"day": day.isoformat(), **{name: count[name] for name in names}} for day, count in counted.items()]
    return {"days": days, "complete": complete}


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
