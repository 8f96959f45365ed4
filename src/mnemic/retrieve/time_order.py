"""Memories in the order of their times, for a question about the order of events."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, time

from mnemic.language.questions.named_dates import named_date
from mnemic.types import Hit, Memory

_READ = 2_000
"""Characters of a question that are read."""
_ASKS_ORDER = re.compile(
    r"\bin (?:what|which) (?:\w{1,20} )?order\b|\bthe (?:right|correct|exact) order\b|\border (?:of events|in which)\b"
    r"|\bchronolog\w{1,20}|\btimeline\b|\bsequence of events\b|\bfrom (?:the )?(?:first|earliest|oldest) to\b"
    r"|\bover (?:time|the (?:weeks|months|years))\b"
    r"|\b(?:which|what|who)\b.{1,80}\b(?:(?:first|earlier|earliest)\b|last\s?[?.!])"
    r"|\b(?:did|was|were|had)\b.{1,80}\b(?:before or after|earlier or later|before|after) (?:I|my|we|our|the)\b",
    re.IGNORECASE,
)


def asks_order(query: str) -> bool:
    """Return True if the answer needs the order of several events."""
    return _ASKS_ORDER.search(query[:_READ]) is not None


def in_time_order(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the pinned ones unchanged, followed by the others, the earliest first."""
    pinned = (hit for hit in hits if hit.pinned)
    rest = sorted((hit for hit in hits if not hit.pinned), key=lambda hit: (_told_of(hit.memory), hit.memory.memory_id))
    return (*pinned, *rest)


def _told_of(memory: Memory) -> datetime:
    """Return the time of a memory's event: the date in its words, else when it happened or was said."""
    if memory.occurred_at is None and (named := named_date(memory.content[:_READ])) is not None:
        first, _ = named.days
        if first is not None:
            return datetime.combine(first, time(), UTC)
    return memory.happened_at
