"""One entry of a conversation's file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from mnemic.errors import InvalidInput
from mnemic.maintenance.archive import ArchivedConsent, ArchivedMemory
from mnemic.types import Candidate, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A message to record, a memory to store or to restore, a consent, or the reason why there is none.

    Exactly one of `content`, `skipped` (left out on purpose: the reason) and `problem` (cannot be used) is set. `place`
    is its position in the file: `line 12`, or `message 3 of session_2`.
    """

    place: str
    conversation: str
    content: Message | Candidate | ArchivedMemory | ArchivedConsent | None = field(default=None, repr=False)
    skipped: str | None = None
    problem: InvalidInput | None = None


def entry(place: str, conversation: str, build: Callable[[], Message | ArchivedMemory]) -> Item:
    """Return the item of the result of `build`: skipped if it has no content, a problem if it cannot be read."""
    try:
        content = build()
    except InvalidInput as problem:
        return Item(place=place, conversation=conversation, problem=problem)
    if isinstance(content, Message) and not content.content.strip():
        return Item(place=place, conversation=conversation, skipped="empty")
    return Item(place=place, conversation=conversation, content=content)
