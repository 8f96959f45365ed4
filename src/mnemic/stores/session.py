"""Conversations in progress, in this process: what may be lost."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta

from mnemic.ports import Clock
from mnemic.types import Message, Scope


class InProcessSessions:
    """A `SessionStore` in a dictionary. A session that has ended is forgotten at the next call, whoever makes it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sessions: dict[Scope, tuple[datetime, deque[Message]]] = {}

    async def append(self, scope: Scope, message: Message, *, ttl: timedelta, keep: int) -> None:
        self._sweep()
        _, messages = self._sessions.pop(scope, (None, ()))
        self._sessions[scope] = (self._clock.now() + ttl, deque((*messages, message), maxlen=max(0, keep)))

    async def tail(self, scope: Scope, *, limit: int) -> list[Message]:
        self._sweep()
        _, messages = self._sessions.get(scope, (None, ()))
        return list(messages)[-limit:] if limit > 0 else []

    async def clear(self, scope: Scope) -> None:
        self._sessions.pop(scope, None)

    async def close(self) -> None:
        self._sessions.clear()

    def _sweep(self) -> None:
        now = self._clock.now()
        for scope in [scope for scope, (ends_at, _) in self._sessions.items() if ends_at <= now]:
            del self._sessions[scope]
