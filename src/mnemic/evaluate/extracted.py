"""One text through the rule extractor, as a user's message under the default policy."""

from __future__ import annotations

from mnemic.clock import SystemClock
from mnemic.extract.rules import RuleExtractor
from mnemic.guard.budget import Budget
from mnemic.guard.policy import Policy
from mnemic.types import Candidate, Deadline, Message

_SECONDS = 60.0
_RULES = RuleExtractor()
_POLICY = Policy()
_BUDGET = Budget()
_CLOCK = SystemClock()


async def extracted(text: str) -> tuple[Candidate, ...]:
    """What the rules find in `text`."""
    deadline = Deadline(_CLOCK.monotonic() + _SECONDS, _CLOCK.monotonic)
    found = await _RULES.extract(Message(role="user", content=text), policy=_POLICY, budget=_BUDGET, deadline=deadline)
    return tuple(found.candidates)
