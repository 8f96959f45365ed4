"""Extraction by a model with a fallback to rules, if policy allows it (`on_model_failure = "rules"`); the result
reports the fallback.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

from mnemic.errors import MnemicError, ModelFailed
from mnemic.extract import Extraction, Extractor, WindowExtractor, is_other_person, is_users_own
from mnemic.extract.conversation_context import TURNS_BEFORE, talk_before
from mnemic.extract.message_context import ALONE, InformedExtractor, MessageContext
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.types import Deadline, Message

MODELS_SHARE = 0.8
"""Share of the remaining time for the model: rules need some of it, too."""


@dataclass(frozen=True, slots=True)
class FallbackExtractor:
    """`model` first, `rules` if it fails."""

    model: InformedExtractor
    rules: Extractor = field(default_factory=RuleExtractor)

    asks_model = True
    reads_known = True

    async def extract(
        self, message: Message, *, policy: Policy, budget: Budget, deadline: Deadline, around: MessageContext = ALONE
    ) -> Extraction:
        """As `Extractor`. Raises ModelFailed only if policy stops the run then."""
        # No rules follow, so the model may have all of the time.
        if policy.on_model_failure == "stop":
            return await self.model.extract(message, policy=policy, budget=budget, deadline=deadline, around=around)
        try:
            within = _share(deadline)
            return await self.model.extract(message, policy=policy, budget=budget, deadline=within, around=around)
        # Other errors, such as a refusal by policy, would meet the rules in the same way.
        except ModelFailed as failure:
            talk = talk_around(self.rules, [*around.before, message], len(around.before))
            return await self._by_rules(message, failure, policy, budget, deadline, talk)

    async def extract_window(
        self,
        messages: Sequence[Message],
        *,
        policy: Policy,
        budget: Budget,
        deadline: Deadline,
        around: MessageContext = ALONE,
    ) -> list[Extraction | MnemicError]:
        """As `WindowExtractor`; the messages of a call that failed are read by rules one by one."""
        # The rules that follow a failed call need the rest of the time.
        stops = policy.on_model_failure == "stop"
        within = deadline if stops else _share(deadline)
        read = await self.model.extract_window(messages, policy=policy, budget=budget, deadline=within, around=around)
        if stops:
            return read
        turns = [*around.before, *messages]
        for place, one in enumerate(read):
            if isinstance(one, ModelFailed):
                talk = talk_around(self.rules, turns, len(around.before) + place)
                read[place] = await self._by_rules(messages[place], one, policy, budget, deadline, talk)
        return read

    async def _by_rules(
        self,
        message: Message,
        failure: ModelFailed,
        policy: Policy,
        budget: Budget,
        deadline: Deadline,
        talk: Mapping[str, Any],
    ) -> Extraction:
        found = await self.rules.extract(message, policy=policy, budget=budget, deadline=deadline, **talk)
        return replace(found, degraded=failure.reason)


def _share(deadline: Deadline) -> Deadline:
    return Deadline.after(timedelta(seconds=MODELS_SHARE * deadline.remaining()), deadline.monotonic)


def talk_around(
    extractor: Extractor, turns: Sequence[Message], place: int, *, between_people: bool = False
) -> Mapping[str, Any]:
    """Return the talk around the turn at `place` as an argument of `extract`; none for an extractor that does not read
    it. `between_people`: another person takes part, though perhaps not in `turns`.
    """
    if not getattr(extractor, "reads_talk", False):
        return {}
    before = turns[max(0, place - TURNS_BEFORE) : place]
    return {"talk": talk_before(turns[place], before, people=between_people or any(map(is_other_person, turns)))}


async def read_all(
    extractor: Extractor,
    messages: Sequence[Message],
    *,
    policy: Policy,
    budget: Budget,
    deadline: Deadline,
    around: MessageContext = ALONE,
    before: Sequence[Message] = (),
    between_people: bool = False,
) -> list[Extraction | MnemicError | None]:
    """Extract from each of `messages`: by windows if the extractor reads those, else one by one, with the turns before
    it for one that reads those; None for those that are not the user's own. `between_people`: another person takes
    part, though perhaps not in these.
    """
    asked: dict[str, Any] = {"policy": policy, "budget": budget, "deadline": deadline}
    if isinstance(extractor, InformedExtractor):
        asked["around"] = around
    # A window sees its own turns, so it needs no talk around each message.
    if isinstance(extractor, WindowExtractor):
        found = await extractor.extract_window(messages, **asked)
        return [one if is_users_own(message) else None for one, message in zip(found, messages, strict=True)]
    read: list[Extraction | MnemicError | None] = []
    turns = [*before, *messages]
    for place, message in enumerate(messages, start=len(before)):
        one: Extraction | MnemicError | None = None
        if is_users_own(message):
            talk = talk_around(extractor, turns, place, between_people=between_people)
            try:
                one = await extractor.extract(message, **asked, **talk)
            # An error belongs to its message: the others of the conversation are still read.
            except MnemicError as stop:
                one = stop
        read.append(one)
    return read
