"""Short-term memory: the conversation in progress. It may be lost, and it ends by itself after an hour of silence."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.catalog import CATALOG
from mnemic.errors import InvalidInput
from mnemic.ports import SessionStore
from mnemic.types import Kind, Message, Scope

ROLES = frozenset({"user", "assistant", "tool"})
"""Roles that may be replayed to a model. A `system` message never comes from a conversation."""

KEEP = 200
MAX_TAIL = 200


class ShortTermMemory:
    """The messages of one session."""

    def __init__(self, sessions: SessionStore, scope: Scope, *, keep: int = KEEP) -> None:
        self._sessions = sessions
        self._scope = scope
        self._keep = keep
        retention = CATALOG[Kind.SHORT_TERM].retention
        assert retention is not None
        self._ttl = retention

    async def append(self, message: Message) -> None:
        """Add a message; the oldest beyond the limit fall out, and the session's hour starts anew.

        Raises InvalidInput (`invalid_input:role`, `invalid_input:content:empty`).
        """
        if message.role not in ROLES:
            raise InvalidInput("role", hint=f"one of {', '.join(sorted(ROLES))}")
        if not message.content.strip():
            raise InvalidInput("content:empty")
        await self._sessions.append(self._scope, message, ttl=self._ttl, keep=self._keep)

    async def tail(self, limit: int = 10) -> Sequence[Message]:
        """The newest `limit` (0 to 200) messages, oldest of them first."""
        if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit <= MAX_TAIL:
            raise InvalidInput("limit", hint=f"0 to {MAX_TAIL}")
        return await self._sessions.tail(self._scope, limit=limit)

    async def clear(self) -> None:
        """End the session."""
        await self._sessions.clear(self._scope)
