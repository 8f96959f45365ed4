"""The surroundings of a message as the store has them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mnemic.errors import EmbedderFailed, SpaceMismatch
from mnemic.extract.message_context import MAX_KNOWN, MessageContext
from mnemic.extract.messages import recorded_message
from mnemic.ports import Embedder, RecordStore
from mnemic.types import Deadline, Kind, Memory, Message, Where

RECENT = 4
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
    newest = await store.newest(lasting, limit=RECENT * (1 + len(messages)))
    newest = [memory for memory in newest if not _was_read_in(memory, messages)][:RECENT]
    near = await _nearest_memories(store, embedder, messages, lasting, deadline)
    found = {memory.memory_id: memory for memory in [*newest, *near]}
    before = await recorded_before(store, messages[0], where)
    return MessageContext(known=tuple(found.values())[:MAX_KNOWN], before=before)


async def _nearest_memories(
    store: RecordStore, embedder: Embedder, messages: Sequence[Message], where: Where, deadline: Deadline
) -> list[Memory]:
    limit = MAX_KNOWN - RECENT
    try:
        vectors = await embedder.embed([one.content[:EMBEDDED_CHARS] or "-" for one in messages], deadline=deadline)
        found = [await store.nearest(where, one, limit=limit, space=embedder.space) for one in vectors]
    except (EmbedderFailed, SpaceMismatch):
        return []
    # The nearest of each message first: what one is about must not take the places of what another changes.
    places = [(place, -one.score, one.memory_id) for near in found for place, one in enumerate(near)]
    ids = list(dict.fromkeys(memory_id for _, _, memory_id in sorted(places)))
    known = await store.get_many(ids, scopes=where.scopes)
    return [known[one] for one in ids if one in known and not _was_read_in(known[one], messages)]


def _was_read_in(memory: Memory, messages: Sequence[Message]) -> bool:
    """Return True if a memory was read in one of the messages, which tell it anew: then it is not known beside them."""
    quote = memory.source.quote
    return quote is not None and any(memory.occurred_at == one.sent_at and quote in one.content for one in messages)


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
