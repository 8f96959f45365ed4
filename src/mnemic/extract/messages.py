"""A conversation's messages as episodic candidates, each with the context that makes a short message findable."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.types import Candidate, Kind, Message, Source

MESSAGE_CATEGORY = "message"
CONTEXT_CHARS = 600


def message_candidates(messages: Sequence[Message]) -> list[Candidate]:
    """One candidate per message, in order; the context names speaker and date and holds the message before it.

    Messages without text give none. A message's context never reaches over the end of its session.
    """
    candidates = []
    previous: Message | None = None
    for message in messages:
        if message.content.strip():
            candidates.append(_candidate(message, previous))
            previous = message
    return candidates


def _candidate(message: Message, previous: Message | None) -> Candidate:
    return Candidate(
        content=message.content,
        kind=Kind.EPISODIC,
        category=MESSAGE_CATEGORY,
        context=_context(message, previous),
        source=Source(
            origin=message.origin,
            ref=message.message_id,
            session=message.session,
            speaker=message.speaker or message.role,
            quote=None,
        ),
        occurred_at=message.sent_at,
    )


def _context(message: Message, previous: Message | None) -> str:
    lines = []
    if message.sent_at is not None:
        lines.append(f"{message.sent_at:%d %B %Y}")
    lines.append(message.speaker or message.role)
    if previous is not None and previous.session == message.session:
        lines.append(f"{previous.speaker or previous.role}: {previous.content}"[:CONTEXT_CHARS])
    return "\n".join(lines)
