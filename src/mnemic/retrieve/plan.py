"""From a goal to a retrieval intent: by rules, or by a model. Both only propose; policy and grant decide."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Protocol

from mnemic.clock import SystemClock
from mnemic.guard.budget import Budget
from mnemic.guard.contract import parse_json
from mnemic.guard.intent import DEFAULT_TOP_K
from mnemic.ports import Clock, Completer
from mnemic.ports.metering import metered
from mnemic.prompts import intent_prompt
from mnemic.types import Deadline


class Planner(Protocol):
    """Proposes what to look for."""

    async def plan(self, goal: str, *, levels: Sequence[str], budget: Budget, deadline: Deadline) -> Any:
        """A raw retrieval intent, unchecked. Raises ModelFailed."""


_OPENING = re.compile(
    r"^\s*(?:please\s+)?(?:can you\s+|could you\s+|would you\s+)?"
    r"(?:draft|write|prepare|create|compose|give me|tell me|show me|find me|find|list|summari[sz]e|redacta|escribe"
    r"|prepara)\b\s*",
    re.IGNORECASE,
)
_FILLER = re.compile(r"\b(?:today's|todays|today|please|now|the|a|an|for me)\b\s*", re.IGNORECASE)


class RulePlanner:
    """The goal itself as the query, without its opening verb and filler words."""

    async def plan(self, goal: str, *, levels: Sequence[str], budget: Budget, deadline: Deadline) -> Any:
        """An intent with one query of at most `budget.max_query_chars` characters and the default scopes."""
        compact = _FILLER.sub("", _OPENING.sub("", goal, count=1))
        query = " ".join(compact.split()).rstrip(".!? ") or goal.strip()
        return {
            "kind": "retrieve_memory",
            "query": query[: budget.max_query_chars].rstrip(),
            "top_k": min(DEFAULT_TOP_K, budget.max_retrieve_top_k),
        }


class ModelPlanner:
    """A language model writes the intent: what to look for, in which parts, kinds and times."""

    asks_model = True

    def __init__(self, completer: Completer, clock: Clock | None = None) -> None:
        self._completer = metered(completer)
        self._clock = clock or SystemClock()

    async def plan(self, goal: str, *, levels: Sequence[str], budget: Budget, deadline: Deadline) -> Any:
        """The model's JSON as it came. Raises ModelFailed, also for text that is not strict JSON."""
        today = self._clock.now().date()
        prompt = intent_prompt(goal, levels, budget.max_retrieve_top_k, today=today)
        completion = await self._completer.complete(prompt, deadline=deadline)
        return parse_json(completion.text)
