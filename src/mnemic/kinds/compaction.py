"""Compaction of a conversation: its older part summarised, with every line traceable to the messages.

A summary is derived: its role is `summary`, its channel `agent_inferred`, and it names its source messages. Neither
rules nor models extract facts from it; those were extracted from the messages themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from mnemic.inject.token_budget import estimated_tokens
from mnemic.types import Message

MAX_LINEAGE = 1_000
_OVERHEAD_TOKENS = 4
"""Role and separators around one message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """Result of a compaction: the number of messages that were folded into `summary` (None: nothing had to be), the
    estimated tokens of the session before and after, by what, and why a model that was asked did not do it.
    """

    summary: Message | None = field(default=None, repr=False)
    folded: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    by: Literal["model", "extract"] | None = None
    degraded: str | None = None


def tokens_of(messages: Sequence[Message]) -> int:
    """About how many tokens the messages cost in a prompt."""
    return sum(estimated_tokens(message.content) + _OVERHEAD_TOKENS for message in messages)


def split(messages: Sequence[Message], *, max_tokens: int, keep: int) -> int:
    """Return the number of oldest messages that must go so that the rest costs at most `max_tokens`; the newest `keep`
    never.
    """
    left, cut = max_tokens, len(messages)
    for place in range(len(messages) - 1, -1, -1):
        left -= tokens_of(messages[place : place + 1])
        if left < 0 and len(messages) - place > keep:
            break
        cut = place
    return cut


def lineage(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return the messages that a summary of `messages` comes from, through summaries before it; the newest 1,000."""
    names = [name for one in messages for name in (one.derived_from or ((one.message_id,) if one.message_id else ()))]
    return tuple(names[-MAX_LINEAGE:])
