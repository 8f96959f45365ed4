"""The conversation in progress at a service; see `mnemic.kinds.short_term`."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.kinds.short_term import Compaction
from mnemic.runtime.sync_facade import M, verb
from mnemic.types import Message, Origin, from_json
from mnemic_client.kinds import RemoteView
from mnemic_client.request_bodies import lower


class RemoteConversation(RemoteView[M]):
    """The messages of the session: that of the token, or the one that a manager or a client was opened with."""

    @verb
    async def append(
        self, role: str, content: str, *, speaker: str | None = None, origin: Origin | None = None
    ) -> Message:
        """Add a message and return it as it is kept: redacted."""
        return await self.add_async(role, content, speaker=speaker, origin=origin)

    async def add_async(
        self, role: str, content: str, *, speaker: str | None = None, origin: Origin | None = None
    ) -> Message:
        """Return the same, awaited."""
        body = {"role": role, "content": content, "speaker": speaker, "origin": lower(origin)}
        return from_json(Message, await self._remote.call("POST", "/v1/session/messages", body))

    @verb
    async def tail(self, limit: int = 10) -> Sequence[Message]:
        """Return the newest `limit` (0 to 200) messages, oldest of them first."""
        return await self.newest(limit)

    async def newest(self, limit: int) -> list[Message]:
        """Return the same, awaited."""
        answer = await self._remote.call("GET", "/v1/session/messages", params={"limit": limit})
        return [from_json(Message, one) for one in answer["messages"]]

    @verb
    async def compact(self, *, max_tokens: int = 2_000, keep: int = 6) -> Compaction:
        """Fold the oldest messages into one summary if all of them cost more than `max_tokens` in a prompt."""
        body = {"max_tokens": max_tokens, "keep": keep}
        return from_json(Compaction, await self._remote.call("POST", "/v1/session/compaction", body))

    @verb
    async def clear(self) -> None:
        """End the session."""
        await self._remote.call("DELETE", "/v1/session")
