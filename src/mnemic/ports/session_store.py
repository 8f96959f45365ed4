"""Port of the session store, which contains the messages of a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Protocol

from mnemic.types import Message, Scope


class SessionStore(Protocol):
    """Store of active conversations, which are volatile and expire."""

    async def append(self, scope: Scope, message: Message, *, ttl: timedelta, keep: int) -> None:
        """Add a message, keep the newest `keep`, and let the session end `ttl` from now, in one atomic step."""

    async def tail(self, scope: Scope, *, limit: int) -> list[Message]:
        """Return the newest `limit` messages, oldest of them first; empty for 0."""

    async def fold(self, scope: Scope, folded: Sequence[Message], into: Message) -> bool:
        """Put `into` in the place of the session's oldest messages, in one atomic step, if they are `folded`; else
        change nothing and return False. The end of the session stays.
        """

    async def spoken_in(self, tenant: str, user: str | None) -> list[Scope]:
        """Return the open sessions that contain messages of the user; None: all of the tenant."""

    async def clear(self, scope: Scope) -> None:
        """End the session."""

    async def close(self) -> None:
        """Release everything. May be called twice."""
