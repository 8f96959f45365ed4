"""The answer by a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mnemic.policy.proposal_check import parse_json
from mnemic.ports import Clock, Completer
from mnemic.ports.metering import count_calls
from mnemic.prompts import answer_prompt
from mnemic.types import Deadline


class ModelComposer:
    """Asks the model for one JSON object and returns it as it came."""

    asks_model = True

    def __init__(
        self, completer: Completer, clock: Clock | None = None, *, max_answer_chars: int | None = None
    ) -> None:
        self._completer = count_calls(completer)
        self._clock = clock
        self._max_answer_chars = max_answer_chars

    def with_limit(self, max_answer_chars: int) -> ModelComposer:
        """Return the composer of answers of at most this number of characters: a longer one is refused."""
        return ModelComposer(self._completer, self._clock, max_answer_chars=max_answer_chars)

    async def compose(
        self, goal: str, context: Mapping[str, Any], memories: Sequence[Mapping[str, Any]], *, deadline: Deadline
    ) -> Any:
        """Return the model's JSON, unchecked. Raises ModelFailed, also for text that is not strict JSON."""
        today = None if self._clock is None else self._clock.now().date()
        prompt = answer_prompt(goal, context, memories, max_answer_chars=self._max_answer_chars, today=today)
        completion = await self._completer.complete(prompt, deadline=deadline)
        return parse_json(completion.text)
