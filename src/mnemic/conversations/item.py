"""One entry of a conversation's file."""

from __future__ import annotations

from dataclasses import dataclass, field

from mnemic.errors import InvalidInput
from mnemic.maintain.archive import ArchivedConsent, ArchivedMemory
from mnemic.types import Candidate, Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A message to record, a memory to store or to bring back, a consent, or why there is neither.

    Exactly one of `content`, `skipped` (left out on purpose: the reason) and `problem` (cannot be used) is set. `place`
    says where it stands: `line 12`, or `message 3 of session_2`.
    """

    place: str
    conversation: str
    content: Message | Candidate | ArchivedMemory | ArchivedConsent | None = field(default=None, repr=False)
    skipped: str | None = None
    problem: InvalidInput | None = None
