"""Extraction from single texts, as a user's message under the default policy; if a model fails, rules take its
place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

from mnemic.extract import Extraction, Extractor
from mnemic.extract.layered_extractor import LayeredExtractor
from mnemic.extract.model_extractor import ModelExtractor
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.ports import Clock, Completer, Embedder
from mnemic.providers.minilm import MiniLmEmbedder
from mnemic.runtime.clock import SystemClock
from mnemic.types import Deadline, Message

_POLICY = Policy(on_model_failure="rules")
_BUDGET = Budget()


@dataclass(frozen=True, slots=True)
class Reader:
    """Extracts from texts one by one, by rules or with a language model. `longest` is the time limit of one text."""

    completer: Completer | None = None
    longest: timedelta = timedelta(seconds=60)
    clock: Clock = SystemClock()
    embedder: Embedder = field(default_factory=MiniLmEmbedder)
    _extractor: Extractor = field(init=False)

    def __post_init__(self) -> None:
        asked = self.completer
        rules = RuleExtractor(self.embedder)
        made = rules if asked is None else LayeredExtractor(ModelExtractor(asked), rules)
        object.__setattr__(self, "_extractor", made)

    @property
    def model(self) -> str | None:
        """The name of the model; None for rules."""
        return None if self.completer is None else self.completer.model

    async def read(self, text: str) -> Extraction:
        """Return the extraction of `text`. Raises RunStopped if a model's answer breaks the contract."""
        deadline = Deadline.after(self.longest, self.clock.monotonic)
        message = Message(role="user", content=text)
        return await self._extractor.extract(message, policy=_POLICY, budget=_BUDGET, deadline=deadline)

    async def close(self) -> None:
        """Close the models."""
        await self.embedder.close()
        if self.completer is not None:
            await self.completer.close()
