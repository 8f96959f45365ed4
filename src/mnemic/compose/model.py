"""The answer by a language model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mnemic.policy.proposal_check import parse_json
from mnemic.ports import Completer
from mnemic.ports.metering import metered
from mnemic.prompts import answer_prompt
from mnemic.types import Deadline


class ModelComposer:
    """Asks the model for one JSON object and returns it as it came."""

    asks_model = True

    def __init__(self, completer: Completer) -> None:
        self._completer = metered(completer)

    async def compose(
        self, goal: str, context: Mapping[str, Any], memories: Sequence[Mapping[str, Any]], *, deadline: Deadline
    ) -> Any:
        """Return the model's JSON, unchecked. Raises ModelFailed, also for text that is not strict JSON."""
        completion = await self._completer.complete(answer_prompt(goal, context, memories), deadline=deadline)
        return parse_json(completion.text)
