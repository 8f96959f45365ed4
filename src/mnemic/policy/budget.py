"""The limits of one run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import timedelta

from mnemic.errors import BudgetSpent, InvalidAnswer, InvalidConfig
from mnemic.reason_codes import MAX_SECONDS
from mnemic.types import Deadline

MODELS_SHARE = 0.8
"""Share of the remaining time for a model that reads: what it reads is to be written, too."""
_CEILINGS = {
    "max_capture_items": 1_000,
    "max_retrieve_top_k": 100,
    "max_query_chars": 8_192,
    "max_answer_chars": 100_000,
    "max_value_chars": 8_192,
}
_LONGEST_RUN = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of one run: memories proposed and found, characters, seconds.

    Every limit is a whole number from 1 up (not a bool); `max_seconds` may have a fraction. Raises InvalidConfig
    (`invalid_config:<limit>`) otherwise.
    """

    max_capture_items: int = 6
    max_retrieve_top_k: int = 6
    max_query_chars: int = 240
    max_answer_chars: int = 700
    max_value_chars: int = 120
    max_seconds: float = 25

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if limit.name == MAX_SECONDS:
                _check_seconds(value)
            elif not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _CEILINGS[limit.name]:
                raise InvalidConfig(limit.name, hint=f"a whole number from 1 to {_CEILINGS[limit.name]}")

    def deadline(self, monotonic: Callable[[], float]) -> Deadline:
        """Return the moment at which a run that starts now has used up `max_seconds`."""
        return Deadline.after(timedelta(seconds=self.max_seconds), monotonic)


def check_time(deadline: Deadline) -> None:
    """Raise BudgetSpent (`max_seconds`) once the deadline has passed; called between the phases of a run."""
    if deadline.expired:
        raise BudgetSpent(MAX_SECONDS)


def check_answer_length(answer: str, budget: Budget) -> None:
    """Raise InvalidAnswer (`invalid_answer:too_long`) for more than `max_answer_chars` characters."""
    if len(answer) > budget.max_answer_chars:
        raise InvalidAnswer("too_long")


def _check_seconds(value: object) -> None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not math.isfinite(float(value)) or not 0 < float(value) <= _LONGEST_RUN:  # type: ignore[arg-type]
        raise InvalidConfig(MAX_SECONDS, hint=f"seconds, more than 0 and at most {_LONGEST_RUN}")
