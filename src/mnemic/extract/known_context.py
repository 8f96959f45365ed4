"""The surroundings of a message as the store has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mnemic.errors import EmbedderFailed, SpaceMismatch
from mnemic.extract.message_context import MAX_KNOWN, MessageContext
from mnemic.extract.messages import recorded_message
from mnemic.ports import Embedder, RecordStore
from mnemic.types import Deadline, Kind, Memory, Message, Where

RECENT = 8
"""Number of the most recent memories among `MAX_KNOWN`: a message often concerns the one before it."""
EMBEDDED_CHARS = 2_000
TURNS_BEFORE = 4
_LOOKED_AT = 24
"""Messages of the last days among which those of the session are looked for."""


async def around_of(
    store: RecordStore, embedder: Embedder, messages: Sequence[Message], where: Where, *, deadline: Deadline
) -> MessageContext:
    """Find the long-term memories and recorded messages that `where` accepts and that may concern `messages`.

    Falls back to the most recent ones if the embedder fails. Raises StoreFailed.
    """
    lasting = replace(where, kinds=frozenset({Kind.LONG_TERM}))
    found = {memory.memory_id: memory for memory in await store.newest(lasting, limit=RECENT)}
    near = await _nearest_memories(store, embedder, messages, lasting, deadline)
    found |= {memory.memory_id: memory for memory in near}
    before = await recorded_before(store, messages[0], where)
    return MessageContext(known=tuple(found.values())[:MAX_KNOWN], before=before)


async def _nearest_memories(
    store: RecordStore, embedder: Embedder, messages: Sequence[Message], where: Where, deadline: Deadline
) -> list[Memory]:
    limit = max(4, (MAX_KNOWN - RECENT) // len(messages))
    try:
        vectors = await embedder.embed([one.content[:EMBEDDED_CHARS] or "-" for one in messages], deadline=deadline)
        found = [await store.nearest(where, one, limit=limit, space=embedder.space) for one in vectors]
    except (EmbedderFailed, SpaceMismatch):
        return []
    known = await store.get_many([one.memory_id for near in found for one in near], scopes=where.scopes)
    return list(known.values())


async def recorded_before(store: RecordStore, message: Message, where: Where) -> tuple[Message, ...]:
    """Return the last turns of the message's session that were recorded and that `where` accepts, oldest first; none
    for a message without a session. Raises StoreFailed.
    """
    if message.session is None:
        return ()
    episodes = await store.newest(replace(where, kinds=frozenset({Kind.EPISODIC})), limit=_LOOKED_AT)
    said = [
        one
        for one in episodes
        if one.source.session == message.session
        and one.content != message.content
        and (message.sent_at is None or one.happened_at < message.sent_at)
    ]
    return tuple(recorded_message(one) for one in reversed(said[:TURNS_BEFORE]))
