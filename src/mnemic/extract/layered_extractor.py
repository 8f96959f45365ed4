"""Extraction by rules first, and by a model on top.

What the rules read with certainty is proposed whatever the model answers; the model adds statements, and labels those
that the rules have read of the same words. A model that is silent, slow, wrong or down leaves what the rules read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from mnemic.errors import InvalidConfig, InvalidInput, MnemicError, ModelFailed
from mnemic.extract import Extraction, Extractor, WindowExtractor, is_other_person, is_users_own
from mnemic.extract.conversation_context import TURNS_BEFORE, talk_before
from mnemic.extract.message_context import ALONE, InformedExtractor, MessageContext
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.extract.typed_facts import says_more
from mnemic.language.questions.small_talk import is_small_talk
from mnemic.language.text.normalise import canonical_value
from mnemic.policy.budget import MODELS_SHARE, Budget
from mnemic.policy.key_rules import Policy
from mnemic.policy.proposal_check import CAPTURE_CATEGORIES, drop_duplicates
from mnemic.reason_codes import NOT_UNDERSTOOD
from mnemic.types import Candidate, Deadline, Message, Skipped

INSTRUCTION = "instruction"
_UNREADABLE = (ModelFailed, InvalidInput, InvalidConfig)
"""Errors of a model's reading that say nothing against the message: the rules have read it."""


@dataclass(frozen=True, slots=True)
class LayeredExtractor:
    """`rules` first, and `model` on top of what they read."""

    model: InformedExtractor
    rules: Extractor = field(default_factory=RuleExtractor)

    asks_model = True
    reads_known = True

    @property
    def _words_only(self) -> bool:
        return bool(getattr(self.model, "quotes_only", False))

    async def extract(
        self, message: Message, *, policy: Policy, budget: Budget, deadline: Deadline, around: MessageContext = ALONE
    ) -> Extraction:
        """As `Extractor`; `degraded` if only the rules could read it: the model failed, or cannot be asked for want of
        its key or its client. Raises that error only if policy stops the run then.
        """
        turns = [*around.before, message]
        certain = await self._certain(turns, len(around.before), policy, budget, deadline, around)
        # "ok thanks" states nothing, and costs no call.
        if not is_users_own(message) or is_small_talk(message.content):
            return replace(certain, certain=certain.candidates)
        try:
            found = await self.model.extract(
                message, policy=policy, budget=budget, deadline=_share(deadline, policy), around=around
            )
        except _UNREADABLE as failure:
            if policy.on_model_failure == "stop":
                raise
            return replace(certain, certain=certain.candidates, degraded=failure.reason)
        return join_extractions(certain, found, words_only=self._words_only)

    async def extract_window(
        self,
        messages: Sequence[Message],
        *,
        policy: Policy,
        budget: Budget,
        deadline: Deadline,
        around: MessageContext = ALONE,
    ) -> list[Extraction | MnemicError]:
        """As `WindowExtractor`; messages of a call that failed have what the rules read."""
        turns = [*around.before, *messages]
        certain = [
            await self._certain_or_error(turns, place, policy, budget, deadline, around)
            for place in range(len(around.before), len(turns))
        ]
        read = await self.model.extract_window(
            messages, policy=policy, budget=budget, deadline=_share(deadline, policy), around=around
        )
        stops = policy.on_model_failure == "stop"
        return [
            _join_outcomes(rules, one, stops=stops, words_only=self._words_only)
            for rules, one in zip(certain, read, strict=True)
        ]

    async def _certain(
        self,
        turns: Sequence[Message],
        place: int,
        policy: Policy,
        budget: Budget,
        deadline: Deadline,
        around: MessageContext,
    ) -> Extraction:
        """Return what the rules read in the turn at `place`."""
        talk = talk_around(self.rules, turns, place, between_people=around.between_people)
        return await self.rules.extract(turns[place], policy=policy, budget=budget, deadline=deadline, **talk)

    async def _certain_or_error(
        self,
        turns: Sequence[Message],
        place: int,
        policy: Policy,
        budget: Budget,
        deadline: Deadline,
        around: MessageContext,
    ) -> Extraction | MnemicError:
        try:
            return await self._certain(turns, place, policy, budget, deadline, around)
        # An error belongs to its message: the others of the window are still read.
        except MnemicError as refused:
            return refused


def _join_outcomes(
    certain: Extraction | MnemicError, found: Extraction | MnemicError, *, stops: bool, words_only: bool
) -> Extraction | MnemicError:
    if isinstance(certain, MnemicError):
        return certain
    if isinstance(found, Extraction):
        return join_extractions(certain, found, words_only=words_only)
    if stops or not isinstance(found, _UNREADABLE):
        return found
    return replace(certain, certain=certain.candidates, degraded=found.reason)


def join_extractions(certain: Extraction, found: Extraction, *, words_only: bool = False) -> Extraction:
    """Return what the rules read with what a model read on top; of the same words the rules' reading stays, with the
    model's labels. `words_only`: the model was asked for words without labels. They say no more than that they matter:
    they settle what the rules left open, and what the rules read as no statement stays none.
    """
    kept = list(certain.candidates)
    for one in found.candidates:
        if words_only and _is_decided(one, certain.skipped):
            continue
        place = _place_of(one, certain.candidates)
        if place is None:
            kept.append(one)
        else:
            kept[place] = _add_labels(kept[place], one)
    read = {id(one) for one in kept[: len(certain.candidates)]}
    candidates, doubles = drop_duplicates(kept)
    spans = [one.source.span for one in candidates if one.source.span is not None]
    left = [one for one in certain.skipped if not _is_inside(one, spans)]
    return replace(
        certain,
        candidates=candidates,
        certain=tuple(one for one in candidates if id(one) in read),
        skipped=tuple(dict.fromkeys((*left, *found.skipped, *doubles))),
        cost=certain.cost + found.cost,
        degraded=certain.degraded or found.degraded,
    )


def _is_decided(one: Candidate, skipped: Sequence[Skipped]) -> bool:
    reasons = [other.reason for other in skipped if _touches(one.source.span, other.span)]
    return bool(reasons) and NOT_UNDERSTOOD not in reasons


def _place_of(one: Candidate, certain: Sequence[Candidate]) -> int | None:
    """Return the place of the rules' candidate that tells what a model's does; None if the model's tells more."""
    if one.key is not None:
        # Of two readings of one key the certain one stays, and is not replaced by its neighbour.
        return next((place for place, other in enumerate(certain) if other.key == one.key), None)
    beside = [place for place, other in enumerate(certain) if other.level == one.level and _overlap(one, other)]
    texts = [f"{certain[place].content} {certain[place].context}" for place in beside]
    if not beside or says_more(one.content, texts):
        return None
    # A value of an order is not the order, which is in force by its own words.
    if one.category == INSTRUCTION and all(certain[place].key is not None for place in beside):
        return None
    # A whole statement carries labels better than a value that was read of it.
    return next((place for place in beside if certain[place].key is None), beside[0])


def _overlap(one: Candidate, other: Candidate) -> bool:
    mine, theirs = one.source.span, other.source.span
    if mine is None or theirs is None:
        return canonical_value(one.content) == canonical_value(other.content)
    return _touches(mine, theirs)


def _touches(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    return one is not None and other is not None and one[0] < other[1] and other[0] < one[1]


def _add_labels(certain: Candidate, one: Candidate) -> Candidate:
    """Return the rules' candidate with what a model says about the same words."""
    category = certain.category
    if category != INSTRUCTION and one.category not in (CAPTURE_CATEGORIES - {INSTRUCTION}):
        category = one.category or category
    replaces = tuple(dict.fromkeys((*certain.replaces, *one.replaces)))
    ends = one.ends if one.replaces else certain.ends
    return replace(certain, category=category, replaces=replaces, ends=ends, context=certain.context or one.context)


def _is_inside(skipped: Skipped, spans: Sequence[tuple[int, int]]) -> bool:
    span = skipped.span
    return skipped.key is None and span is not None and any(a <= span[0] and span[1] <= b for a, b in spans)


def _share(deadline: Deadline, policy: Policy) -> Deadline:
    if policy.on_model_failure == "stop":
        return deadline
    return deadline.share(MODELS_SHARE)


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
        asked["around"] = replace(around, between_people=between_people)
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
