"""A conversation's messages as episodic candidates, each with the context that makes a short message findable."""

from __future__ import annotations

from collections.abc import Sequence

from mnemic.types import Candidate, Kind, Message, Source

MESSAGE_CATEGORY = "message"
SHORT_WORDS = 60
"""A message of more words stands for itself; shorter ones are found by what they answer, too."""


def message_candidates(messages: Sequence[Message]) -> list[Candidate]:
    """One candidate per message, in order; the context is the message before it.

    Messages without text give none, and summaries neither: what was derived was not said. A message's context never
    reaches over the end of its session.
    """
    candidates = []
    previous: Message | None = None
    for message in messages:
        if message.content.strip() and not message.derived_from:
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
    """The text before it, where both are short enough to need each other."""
    if previous is None or previous.session != message.session:
        return ""
    if max(len(message.content.split()), len(previous.content.split())) > SHORT_WORDS:
        return ""
    return previous.content
