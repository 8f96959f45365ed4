"""What a user says of a memory that was found or shown: useful or wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from mnemic.types.json_forms import Serialisable
from mnemic.types.memory import Memory

Verdict = Literal["useful", "wrong", "none"]
VERDICTS: tuple[Verdict, ...] = ("useful", "wrong", "none")
"""`none` withdraws a rating."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating(Serialisable):
    """A user's verdict on a memory, given at `version` of it."""

    memory_id: str
    verdict: Verdict
    version: int
    rated_at: datetime

    def counts_for(self, memory: Memory) -> bool:
        """Return True if it still bears on the memory: one that was corrected or told again is no longer wrong."""
        return self.memory_id == memory.memory_id and (self.verdict == "useful" or self.version == memory.version)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatedMemory(Serialisable):
    """A rating and what it does now: `shift` is added to the memory's score in this user's searches, 0 if it no longer
    counts. `memory` is None if it is gone or out of reach.
    """

    rating: Rating
    memory: Memory | None
    shift: float
