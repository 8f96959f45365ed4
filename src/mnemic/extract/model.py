"""Extraction by a language model. It only proposes: contract, policy and the user's own words decide.

One message a call, or a window of turns: several messages of one conversation, each read with what was said around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from mnemic.catalog import TRUST
from mnemic.errors import InvalidInput, MnemicError, ModelInvalidSchema, RunStopped
from mnemic.extract import Extraction, is_users_own
from mnemic.extract.grounding import ground
from mnemic.extract.vetting import UNSUPPORTED, veto
from mnemic.extract.when import timed
from mnemic.guard.budget import Budget
from mnemic.guard.contract import check_candidates, drop_duplicates, parse_json
from mnemic.guard.policy import Policy
from mnemic.ports import Completer
from mnemic.ports.metering import metered
from mnemic.prompts import capture_prompt, window_prompt
from mnemic.text.normalise import clean_content
from mnemic.types import Candidate, Cost, Deadline, Message, Skipped, Source, Trust

MAX_MESSAGE_CHARS = 32_768
WINDOW_TURNS = 12
"""Turns of one call."""
WINDOW_CHARS = 16_000
"""Characters of one call; a longer message has a call of its own."""
TURNS_BEFORE = 2
"""Turns of the window before that are shown, and not read again."""
MAX_CONTEXT_CHARS = 600
"""What is shown of a turn that is not the user's own."""

CONFIDENCE_CEILING: Mapping[Trust, float] = MappingProxyType({Trust.HIGH: 0.95, Trust.MEDIUM: 0.8, Trust.LOW: 0.5})
"""The most that a model's own number may claim, by the trust of the message's channel: a model that says 1.0 has still
only read one message. A cut is named in `Candidate.clamped`."""

Read = Extraction | MnemicError
"""What a message of a window gives, or why its run must stop."""


class ModelExtractor:
    """Asks a model for candidates and keeps those that the user's words support."""

    asks_model = True

    def __init__(self, completer: Completer) -> None:
        self._completer = metered(completer)

    async def extract(self, message: Message, *, policy: Policy, budget: Budget, deadline: Deadline) -> Extraction:
        """The grounded candidates of `message`; see `Extractor`.

        Messages that are not the user's own are not even shown to the model. Raises ModelFailed in its kinds
        (`llm_timeout`, `llm_unavailable`, `llm_invalid_json`, `llm_empty`), InvalidCandidates and the policy's
        reasons for a wrong payload.
        """
        if not is_users_own(message):
            return Extraction(skipped=(Skipped(reason="origin"),))
        text = clean_content(message.content)
        if not text:
            return Extraction()
        if len(text) > MAX_MESSAGE_CHARS:
            raise InvalidInput("message", hint=f"longer than {MAX_MESSAGE_CHARS} characters")
        prompt = capture_prompt(
            text,
            _keys(policy),
            sorted(policy.levels),
            allowed_values=_allowed_values(policy),
            max_items=budget.max_capture_items,
            max_value_chars=budget.max_value_chars,
        )
        completion = await self._completer.complete(prompt, deadline=deadline)
        checked = check_candidates(parse_json(completion.text), policy, budget)
        return replace(_grounded(checked.candidates, checked.skipped, message, policy), cost=Cost.of(completion))

    async def extract_window(
        self, messages: Sequence[Message], *, policy: Policy, budget: Budget, deadline: Deadline
    ) -> list[Read]:
        """The grounded candidates of each of `messages`, in order, in as few calls as their length allows; see
        `WindowExtractor`. A call that fails stops the runs of its own messages. The cost of a call stands with its
        first message.

        Turns that are not the user's own are shown, cut, so that an answer is understood; nothing is taken from them.
        """
        texts = [_shown(message) for message in messages]
        read: list[Read] = [
            text if isinstance(text, InvalidInput) else Extraction(skipped=(Skipped(reason="origin"),))
            for text in texts
        ]
        shown = [
            replace(message, content="" if isinstance(text, InvalidInput) else text)
            for message, text in zip(messages, texts, strict=True)
        ]
        for places in windows(shown):
            own = [place for place in places if is_users_own(shown[place]) and isinstance(texts[place], str)]
            try:
                found = await self._window(messages, shown, places, own, policy, budget, deadline)
            except RunStopped as stop:
                found = dict.fromkeys(own, stop)
            for place, one in found.items():
                read[place] = one
        return read

    async def _window(
        self,
        given: Sequence[Message],
        messages: Sequence[Message],
        places: range,
        own: Sequence[int],
        policy: Policy,
        budget: Budget,
        deadline: Deadline,
    ) -> dict[int, Read]:
        if not own:
            return {}
        first = max(_begin(messages, places.start), places.start - TURNS_BEFORE)
        prompt = window_prompt(
            [(one.role, one.content) for one in messages[first : places.stop]],
            [place - first for place in own],
            _keys(policy),
            sorted(policy.levels),
            allowed_values=_allowed_values(policy),
            max_items=budget.max_capture_items,
            max_value_chars=budget.max_value_chars,
        )
        completion = await self._completer.complete(prompt, deadline=deadline)
        items, strays = _by_turn(parse_json(completion.text), {place - first: place for place in own})
        read = {place: _read(items[place], given[place], policy, budget) for place in own}
        top = next((place for place in own if isinstance(read[place], Extraction)), None)
        if top is not None:
            one = read[top]
            assert isinstance(one, Extraction)
            left_out = (*one.skipped, *(Skipped(reason="unsupported") for _ in range(strays)))
            read[top] = replace(one, cost=Cost.of(completion), skipped=left_out)
        return read


def windows(messages: Sequence[Message]) -> Iterator[range]:
    """The places of `messages` that are read in one call: neighbours of one session, at most 12 and about 16,000
    characters.
    """
    start, size = 0, 0
    for place, message in enumerate(messages):
        full = place - start >= WINDOW_TURNS or size + len(message.content) > WINDOW_CHARS
        if place > start and (full or message.session != messages[start].session):
            yield range(start, place)
            start, size = place, 0
        size += len(message.content)
    if messages:
        yield range(start, len(messages))


def _begin(messages: Sequence[Message], place: int) -> int:
    """Where the session of the message at `place` begins."""
    begin = place
    while begin > 0 and messages[begin - 1].session == messages[place].session:
        begin -= 1
    return begin


def _shown(message: Message) -> str | InvalidInput:
    """The message's text as the model sees it, or why it cannot be read."""
    own = is_users_own(message)
    try:
        text = clean_content(message.content)
    except InvalidInput as problem:
        return problem if own else ""
    if own and len(text) > MAX_MESSAGE_CHARS:
        return InvalidInput("message", hint=f"longer than {MAX_MESSAGE_CHARS} characters")
    return text if own else text[:MAX_CONTEXT_CHARS]


def _by_turn(raw: object, places: Mapping[int, int]) -> tuple[dict[int, list[Any]], int]:
    """The items of each message, by its place, and how many name none of them. Raises ModelInvalidSchema."""
    told = raw.get("items") if isinstance(raw, Mapping) else None
    if not isinstance(told, list):
        raise ModelInvalidSchema(hint="items is not a list")
    items: dict[int, list[Any]] = {place: [] for place in places.values()}
    strays = 0
    for item in told:
        number = item.get("turn") if isinstance(item, Mapping) else None
        if type(number) is int and number in places:
            items[places[number]].append(item)
        else:
            strays += 1
    return items, strays


def _read(items: list[Any], message: Message, policy: Policy, budget: Budget) -> Read:
    try:
        checked = check_candidates({"items": items}, policy, budget)
    except RunStopped as breach:
        return breach
    return _grounded(checked.candidates, checked.skipped, message, policy)


def _grounded(
    candidates: tuple[Candidate, ...], skipped: tuple[Skipped, ...], message: Message, policy: Policy
) -> Extraction:
    kept: list[Candidate] = []
    unsupported: list[Skipped] = []
    for candidate in candidates:
        supported = ground(_from_channel(candidate, message), message)
        reason = UNSUPPORTED if supported is None else veto(supported, message, policy)
        if supported is None or reason is not None:
            span = None if supported is None else supported.source.span
            unsupported.append(Skipped(reason=reason or UNSUPPORTED, key=candidate.key, span=span))
        else:
            kept.append(supported)
    distinct, doubles = drop_duplicates(kept)
    return Extraction(candidates=distinct, skipped=(*skipped, *unsupported, *doubles))


def _from_channel(candidate: Candidate, message: Message) -> Candidate:
    """The candidate with origin and confidence as the message's channel gives them, whatever the model said."""
    ceiling = CONFIDENCE_CEILING[TRUST[message.origin]]
    too_sure = candidate.confidence > ceiling
    told = replace(
        candidate,
        confidence=min(candidate.confidence, ceiling),
        clamped=tuple(dict.fromkeys((*candidate.clamped, *(("confidence",) if too_sure else ())))),
        source=source_of(message, quote=candidate.source.quote),
        occurred_at=message.sent_at,
    )
    return timed(told, candidate.source.quote or "", message.sent_at)


def source_of(message: Message, *, quote: str | None = None, span: tuple[int, int] | None = None) -> Source:
    """Where a candidate of `message` comes from."""
    return Source(
        origin=message.origin,
        ref=message.message_id,
        session=message.session,
        speaker=message.speaker,
        quote=quote,
        span=span,
    )


def _keys(policy: Policy) -> list[str] | None:
    return sorted(policy.keys or ()) if policy.closed else None


def _allowed_values(policy: Policy) -> dict[str, list[str]]:
    rules = (policy.keys or {}).values()
    return {rule.key: sorted(rule.allowed_values) for rule in rules if rule.allowed_values is not None}
