"""The live memories of a user, newest first, as a run's report shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from mnemic.ports import RecordStore
from mnemic.types import Actor, Memory, Where

STATE_LIMIT = 50


async def memory_state(
    store: RecordStore, actor: Actor, levels: frozenset[str], *, now: datetime, hidden: frozenset[str]
) -> tuple[dict[str, Any], ...]:
    """Return the newest memories at the granted `levels`, without the `hidden` keys. Raises StoreFailed."""
    reached = [level for level in sorted(levels) if getattr(actor, level, None) is not None]
    if not reached:
        return ()
    where = Where(scopes=actor.scopes(reached), live_at=now, hidden_keys=hidden)
    return tuple(_entry(memory, now) for memory in await store.newest(where, limit=STATE_LIMIT))


def _entry(memory: Memory, now: datetime) -> dict[str, Any]:
    left = None if memory.expires_at is None else (memory.expires_at - now).total_seconds()
    return {
        "key": memory.key,
        "value": memory.content,
        "scope": memory.scope.level.value,
        "source": memory.source.session or memory.source.origin.value,
        "confidence": memory.confidence,
        "ttl_left_days": None if left is None else round(left / 86400, 1),
    }
