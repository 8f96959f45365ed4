"""From a goal to a retrieval intent: by rules, or by a model. Both only propose; policy and grant decide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from mnemic.policy.budget import Budget
from mnemic.policy.proposal_check import parse_json
from mnemic.ports import Clock, Completer
from mnemic.ports.providers import count_calls
from mnemic.prompts import intent_prompt
from mnemic.runtime.clock import SystemClock
from mnemic.types import Deadline
from mnemic.types.recall_limits import DEFAULT_MAX_ENTRIES


class Planner(Protocol):
    """Planner of searches."""

    async def plan(self, goal: str, *, levels: Sequence[str], budget: Budget, deadline: Deadline) -> Any:
        """Return a raw retrieval intent, unchecked. Raises ModelFailed."""


class RulePlanner:
    """The goal itself as the query: the same words find the same memories on every path."""

    async def plan(self, goal: str, *, levels: Sequence[str], budget: Budget, deadline: Deadline) -> Any:
        """Return an intent with one query of at most `budget.max_query_chars` characters and the default scopes."""
        query = " ".join(goal.split())
        return {
            "kind": "retrieve_memory",
            "query": query[: budget.max_query_chars].rstrip(),
            "top_k": min(DEFAULT_MAX_ENTRIES, budget.max_retrieve_top_k),
        }


class ModelPlanner:
    """Planner by a language model: it writes the query, its parts, kinds and times."""

    asks_model = True

    def __init__(self, completer: Completer, clock: Clock | None = None) -> None:
        self._completer = count_calls(completer)
        self._clock = clock or SystemClock()

    async def plan(self, goal: str, *, levels: Sequence[str], budget: Budget, deadline: Deadline) -> Any:
        """Return the model's JSON unchanged. Raises ModelFailed, also for text that is not strict JSON."""
        today = self._clock.now().date()
        prompt = intent_prompt(goal, levels, budget.max_retrieve_top_k, today=today)
        completion = await self._completer.complete(prompt, deadline=deadline)
        return parse_json(completion.text)
