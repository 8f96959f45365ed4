"""Short-term memory: the conversation in progress. It may be lost, and it ends by itself after an hour of silence."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from mnemic.catalog import CATALOG
from mnemic.errors import InvalidInput, NotSupported
from mnemic.face import M, verb
from mnemic.identity import new_id
from mnemic.kinds.view import KindView
from mnemic.ports import SessionStore
from mnemic.types import Kind, Level, Message, Origin, Scope

ROLES = frozenset({"user", "assistant", "tool"})
"""Roles that may be replayed to a model. A `system` message never comes from a conversation."""

_CHANNELS = {"user": Origin.USER_STATED, "assistant": Origin.AGENT_INFERRED, "tool": Origin.TOOL_OUTPUT}
KEEP = 200
MAX_TAIL = 200


class ShortTermMemory(KindView[M]):
    """The messages of the actor's session, at most 200."""

    @verb
    async def append(
        self, role: str, content: str, *, speaker: str | None = None, origin: Origin | None = None
    ) -> Message:
        """Add a message, as it is kept; the oldest beyond the limit fall out, and the session's hour starts anew.

        Raises InvalidInput (`invalid_input:role`, `invalid_input:content:empty`).
        """
        if role not in ROLES:
            raise InvalidInput("role", hint=f"one of {', '.join(sorted(ROLES))}")
        if not isinstance(content, str) or not content.strip():
            raise InvalidInput("content:empty")
        now = self._engine.clock.now()
        message = Message(
            role=role,
            content=content,
            message_id=new_id(now),
            session=self._actor.session,
            speaker=speaker,
            sent_at=now,
            origin=origin or _CHANNELS[role],
        )
        await self._sessions.append(self._scope, message, ttl=self._ttl, keep=KEEP)
        return message

    @verb
    async def tail(self, limit: int = 10) -> Sequence[Message]:
        """The newest `limit` (0 to 200) messages, oldest of them first."""
        if isinstance(limit, bool) or not isinstance(limit, int) or not 0 <= limit <= MAX_TAIL:
            raise InvalidInput("limit", hint=f"0 to {MAX_TAIL}")
        return await self._sessions.tail(self._scope, limit=limit)

    @verb
    async def clear(self) -> None:
        """End the session."""
        await self._sessions.clear(self._scope)

    @property
    def _sessions(self) -> SessionStore:
        if self._engine.sessions is None:
            raise NotSupported("short_term", hint="this engine was built without a session store")
        return self._engine.sessions

    @property
    def _scope(self) -> Scope:
        return self._actor.scope(Level.SESSION)

    @property
    def _ttl(self) -> timedelta:
        retention = CATALOG[Kind.SHORT_TERM].retention
        assert retention is not None
        return retention
