"""What is known of a user, line by line with its proof."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from mnemic.types.json_forms import Serialisable
from mnemic.types.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileLine(Serialisable):
    """One thing that holds of a user: `section` is `identity`, `constraint`, `preference`, `relation`, `event` or
    `fact`, `topic` what it is about: `you`, `home`, `work`, `health`, `tastes`, `people` or `plans`. `memory` is its
    proof, with source and quote; to correct or forget the line, correct or forget that. A line that a model wrote has
    the memories that it says in `proof`: correct or forget those.
    """

    section: str
    topic: str = "you"
    text: str = field(repr=False)
    memory: Memory
    proof: tuple[Memory, ...] = ()

    @property
    def since(self) -> datetime:
        """The time from which it is true, or at which it was said."""
        return self.memory.valid_from or self.memory.happened_at


@dataclass(frozen=True, slots=True, kw_only=True)
class UserProfile(Serialisable):
    """Who a user is and what holds now, most important first, as a sequence of lines. `text` is a block for a model's
    input, to be put there as data; empty if nothing is known. `without_room`: lines that had no room.
    """

    lines: tuple[ProfileLine, ...] = ()
    text: str = field(default="", repr=False)
    without_room: int = 0

    def __iter__(self) -> Iterator[ProfileLine]:
        return iter(self.lines)

    def __len__(self) -> int:
        return len(self.lines)
