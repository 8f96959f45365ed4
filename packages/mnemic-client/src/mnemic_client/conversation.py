"""The conversation in progress at a service; see `mnemic.kinds.short_term`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace

from mnemic.kinds.short_term import Compaction, ShortTermMemory
from mnemic.runtime.sync_facade import M, verb
from mnemic.types import Message, Origin, from_json
from mnemic_client.kinds import RemoteView
from mnemic_client.request_bodies import lower
from mnemic_client.verb_parameters import like, verb_at


class RemoteConversation(RemoteView[M]):
    """The messages of the session: that of the token, or the one that a manager or a client was opened with."""

    @verb
    @like(ShortTermMemory.append)
    async def append(self, given: SimpleNamespace) -> Message:
        """Add a message and return it as it is kept: redacted."""
        return await self.add_async(**vars(given))

    async def add_async(
        self, role: str, content: str, *, speaker: str | None = None, origin: Origin | None = None
    ) -> Message:
        """Return the same, awaited."""
        body = {"role": role, "content": content, "speaker": speaker, "origin": lower(origin)}
        return from_json(Message, await self._remote.call("POST", "/v1/session/messages", body))

    @verb
    @like(ShortTermMemory.tail)
    async def tail(self, given: SimpleNamespace) -> Sequence[Message]:
        """Return the newest `limit` (0 to 200) messages, oldest of them first."""
        return await self.newest(given.limit)

    async def newest(self, limit: int) -> list[Message]:
        """Return the same, awaited."""
        answer = await self._remote.call("GET", "/v1/session/messages", params={"limit": limit})
        return [from_json(Message, one) for one in answer["messages"]]

    compact = verb(verb_at(ShortTermMemory.compact, "POST /v1/session/compaction", partial(from_json, Compaction)))
    clear = verb(verb_at(ShortTermMemory.clear, "DELETE /v1/session", lambda _: None))
