"""Conversations in progress, in this process: bounded in number, and lost when it ends."""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING

from mnemic.types import Message, Scope

if TYPE_CHECKING:
    from mnemic.ports import Clock

MAX_SESSIONS = 10_000
"""Maximum number of sessions; beyond it, the one that was idle longest ends."""


@dataclass(slots=True)
class _Session:
    messages: deque[Message] = field(default_factory=deque)
    ends_at: float = 0.0


class InProcessSessions:
    """A `SessionStore` in a dictionary. Sessions end by the monotonic clock, so that a changed wall clock ends none."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._sessions: OrderedDict[Scope, _Session] = OrderedDict()
        self._lock = threading.Lock()

    async def append(self, scope: Scope, message: Message, *, ttl: timedelta, keep: int) -> None:
        """Add a message, drop all but the newest `keep`, and set the end of the session to `ttl` from now."""
        with self._lock:
            session = self._live(scope) or _Session()
            session.messages.append(message)
            while len(session.messages) > max(0, keep):
                session.messages.popleft()
            session.ends_at = self._clock.monotonic() + ttl.total_seconds()
            self._sessions[scope] = session
            self._sessions.move_to_end(scope)
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)

    async def tail(self, scope: Scope, *, limit: int) -> list[Message]:
        """Return the newest `limit` messages, oldest of them first; empty for 0."""
        with self._lock:
            session = self._live(scope)
            return list(session.messages)[-limit:] if session is not None and limit > 0 else []

    async def fold(self, scope: Scope, folded: Sequence[Message], into: Message) -> bool:
        """`into` in the place of the oldest messages, if they are `folded`."""
        with self._lock:
            session = self._live(scope)
            if session is None or not folded or list(islice(session.messages, len(folded))) != list(folded):
                return False
            for _ in folded:
                session.messages.popleft()
            session.messages.appendleft(into)
            return True

    async def spoken_in(self, tenant: str, user: str | None) -> list[Scope]:
        """Return the open sessions that contain messages of the user; None: all of the tenant."""
        with self._lock:
            own = [scope for scope in self._sessions if scope.tenant == tenant]
            open_ones = {scope: session for scope in own if (session := self._live(scope)) is not None}
        return [
            scope
            for scope, session in open_ones.items()
            if user is None or any(message.author == user for message in tuple(session.messages))
        ]

    async def clear(self, scope: Scope) -> None:
        """End the session."""
        with self._lock:
            self._sessions.pop(scope, None)

    async def close(self) -> None:
        """Forget every session."""
        with self._lock:
            self._sessions.clear()

    def _live(self, scope: Scope) -> _Session | None:
        session = self._sessions.get(scope)
        if session is not None and session.ends_at <= self._clock.monotonic():
            del self._sessions[scope]
            return None
        return session
