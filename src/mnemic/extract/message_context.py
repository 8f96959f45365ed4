"""The surroundings of a message: the memories that may concern it, and the turns before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

from mnemic.errors import MnemicError
from mnemic.extract import Extraction
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.prompts import PromptContext
from mnemic.types import Deadline, JsonValue, Memory, Message

WINDOW_TURNS = 12
"""Turns of a conversation that one call reads."""
MAX_KNOWN = 12
"""Memories that are shown with a message."""
MAX_DIGITS = 6
"""Digits of a number that a model gives as text."""
MAX_KNOWN_CHARS = 300
"""Characters that are shown of each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageContext:
    """`known`: live memories that may concern a message, `before`: the turns before it, oldest first, `instructions`:
    facts that the caller wants included or left out in this call, `between_people`: another person takes part in the
    talk, `now`: the time of a message that has none. In a model's answer a memory's id is its place in `known`, from 1.
    """

    known: tuple[Memory, ...] = ()
    before: tuple[Message, ...] = ()
    instructions: str = ""
    between_people: bool = False
    now: datetime | None = None

    def memory(self, number: object) -> Memory | None:
        """Return the memory that a model calls `number`, also as text ("1"); None for anything else."""
        place = whole_number(number)
        return self.known[place - 1] if place is not None and 1 <= place <= len(self.known) else None

    def prompt_context(
        self, shown: Sequence[tuple[str, str]], instructions: str, categories: Sequence[str], said_at: datetime | None
    ) -> PromptContext:
        """Return this context as a prompt shows it, with the turns before as `shown`. The `instructions` of the call
        replace those of the installation.
        """
        sent_at = said_at or self.now
        entries = [_entry(number, memory) for number, memory in enumerate(self.known, start=1)]
        return PromptContext(
            known=entries,
            before=shown,
            instructions=self.instructions.strip() or instructions,
            categories=categories,
            sent_on=None if sent_at is None else sent_at.date(),
        )


ALONE = MessageContext()
"""Context of a message without known memories."""


@runtime_checkable
class InformedExtractor(Protocol):
    """Protocol of an extractor that reads messages together with known memories; `reads_known` marks it."""

    reads_known: bool

    async def extract(
        self, message: Message, *, policy: Policy, budget: Budget, deadline: Deadline, around: MessageContext = ALONE
    ) -> Extraction:
        """As `Extractor`, with operations on the memories of `around`."""

    async def extract_window(
        self,
        messages: Sequence[Message],
        *,
        policy: Policy,
        budget: Budget,
        deadline: Deadline,
        around: MessageContext = ALONE,
    ) -> list[Extraction | MnemicError]:
        """As `WindowExtractor`, with operations on the memories of `around`."""


def whole_number(given: object) -> int | None:
    """Return the whole number that a model gives, as a number or as text ("2", "#2"); None for anything else."""
    if isinstance(given, str):
        digits = given.strip().removeprefix("#")
        return int(digits) if len(digits) <= MAX_DIGITS and digits.isascii() and digits.isdigit() else None
    if isinstance(given, bool) or not isinstance(given, int | float) or given != given // 1:
        return None
    return int(given)


def _entry(number: int, memory: Memory) -> dict[str, JsonValue]:
    return {
        "id": number,
        "key": memory.key,
        "text": memory.content[:MAX_KNOWN_CHARS],
        "since": memory.happened_at.date().isoformat(),
    }


def known_key(key: str, around: MessageContext, policy: Policy) -> str:
    """`key`, or the known one that it refers to: the same words in another order or spelling ("favourite_colour"), or a
    more general word for one known key ("city" for "home_city").
    """
    names = dict.fromkeys([*(policy.keys or ()), *(one.key for one in around.known if one.key is not None)])
    if key in names:
        return key
    words = _words(key)
    same = [name for name in names if sorted(_words(name)) == sorted(words)]
    wider = [name for name in names if _words(name)[-len(words) :] == words]
    meant = same or wider
    return meant[0] if len(meant) == 1 else key


def _words(key: str) -> list[str]:
    words = key.replace("our_", "or_").replace("favour", "favor").split("_")
    return ["color" if word == "colour" else word.removesuffix("s") or word for word in words]
