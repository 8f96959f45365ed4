"""Extraction by a language model. The model only proposes: the proposal check, policy and the user's own words decide.

One message a call, or a window of turns: several messages of one conversation, each with the turns around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from mnemic.errors import InvalidCandidates, InvalidInput, MnemicError, ModelInvalidJson, ModelInvalidSchema, RunStopped
from mnemic.extract import Extraction, is_users_own
from mnemic.extract.grounding import NormalisedText
from mnemic.extract.message_context import ALONE, WINDOW_TURNS, MessageContext, whole_number
from mnemic.extract.operations import ProposalContext, parse_item
from mnemic.language.text.pattern import Pattern
from mnemic.policy.budget import Budget
from mnemic.policy.key_rules import Policy
from mnemic.policy.proposal_check import drop_duplicates, items_of, parse_json
from mnemic.ports import Completer
from mnemic.ports.providers import count_calls
from mnemic.prompts import PromptContext, capture_prompt, window_prompt
from mnemic.reason_codes import LLM_TRUNCATED, ORIGIN, UNSUPPORTED
from mnemic.types import Candidate, Completion, Cost, Deadline, Message, Prompt, Skipped
from mnemic.types.values import canonical_key, clean_content

MAX_MESSAGE_CHARS = 32_768
WINDOW_CHARS = 16_000
"""Maximum number of characters in one call; a longer message has a separate call."""
TURNS_BEFORE = 2
"""Turns of the window before that are shown, and not read again."""
MAX_CONTEXT_CHARS = 120
LEAST_CONTEXT_CHARS = 40
"""Most and fewest characters shown of a turn that is not the user's own: of its last sentences, as they have the
question that the user answers.
"""

SMALL_UP_TO = 3.0
"""Thousand millions of parameters."""
_SIZE = Pattern(r"(?<![\w.])(?P<size>\d{1,4}(?:\.\d{1,3})?)(?P<unit>[bBmM])(?![a-zA-Z0-9])")
"""Matches the size in the name of a model: `llama3.2:1b`, `Qwen2.5-1.5B-Instruct`, `SmolLM2-135M`."""

Read = Extraction | MnemicError
"""The result for one message of a window, or the error that stops its run."""


class ModelExtractor:
    """Extractor that asks a model for candidates and returns those that the user's words support."""

    asks_model = True
    reads_known = True

    def __init__(
        self,
        completer: Completer,
        *,
        instructions: str = "",
        categories: Sequence[str] = (),
        quotes_only: bool | None = None,
    ) -> None:
        """Extractor that asks `completer`. `instructions` are a few sentences on the facts that the operator wants
        included or left out; `categories` replace the usual categories of statements. `quotes_only`: ask for the user's
        words without labels; by default so of a model that is small by its name.
        """
        self._instructions, self._categories = instructions.strip(), tuple(canonical_key(one) for one in categories)
        self._completer = count_calls(completer)
        self.quotes_only = is_small(completer.model) if quotes_only is None else quotes_only

    async def extract(
        self, message: Message, *, policy: Policy, budget: Budget, deadline: Deadline, around: MessageContext = ALONE
    ) -> Extraction:
        """Return the grounded candidates of `message`; see `InformedExtractor`.

        Messages that are not the user's own are not even shown to the model. Raises ModelFailed in its kinds
        (`llm_timeout`, `llm_unavailable`, `llm_invalid_json`, `llm_empty`), InvalidCandidates and the policy's
        reasons for a wrong payload.
        """
        # Before the call: words of others must not reach a prompt whose answer is stored as the user's facts.
        if not is_users_own(message):
            return Extraction(skipped=(Skipped(reason=ORIGIN),))
        text = clean_content(message.content)
        if not text:
            return Extraction()
        if len(text) > MAX_MESSAGE_CHARS:
            raise InvalidInput("message", hint=f"longer than {MAX_MESSAGE_CHARS} characters")
        # Keys, levels and allowed values are shown to the model, so that fewer of its answers are refused afterwards.
        prompt = capture_prompt(
            text,
            _keys(policy),
            sorted(policy.levels),
            allowed_values=_allowed_values(policy),
            max_items=budget.max_capture_items,
            max_value_chars=budget.max_value_chars,
            beside=self._prompt_context(around, message),
        )
        completion, items = await self._ask(prompt, policy, deadline)
        found = _read(items, message, around, policy, budget, self._categories)
        if isinstance(found, MnemicError):
            raise found
        # The call has a cost even if nothing was found.
        return replace(found, cost=Cost.from_completion(completion), degraded=_cut_off(completion))

    async def _ask(self, prompt: Prompt, policy: Policy, deadline: Deadline) -> tuple[Completion, Sequence[object]]:
        """Return the model's answer and its items. Raises ModelFailed; InvalidCandidates for an answer of another form
        or without JSON if the policy stops at it.
        """
        try:
            completion = await self._completer.complete(prompt, deadline=deadline)
            return completion, _items_of(completion.text, policy)
        except ModelInvalidJson as prose:
            if policy.on_model_failure != "stop":
                raise
            raise InvalidCandidates("not_object", hint=prose.hint) from None

    def _prompt_context(self, around: MessageContext, message: Message) -> PromptContext:
        before = [(one.role, text) for one in around.before if isinstance(text := _message_text(one), str) and text]
        shown = [(role, _end_of(text)) for role, text in before]
        made = around.prompt_context(shown, self._instructions, self._categories, message.sent_at)
        return replace(made, quotes_only=self.quotes_only)

    async def extract_window(
        self,
        messages: Sequence[Message],
        *,
        policy: Policy,
        budget: Budget,
        deadline: Deadline,
        around: MessageContext = ALONE,
    ) -> list[Read]:
        """Return the grounded candidates of each of `messages`, in order, in as few calls as their length allows; see
        `WindowExtractor`. A failed call ends extraction for its messages only. The cost of a call is reported with its
        first message.

        Turns of other speakers are shown in shortened form so that answers are understood; nothing is extracted from
        them.
        """
        texts = [_message_text(message) for message in messages]
        read: list[Read] = [
            # An error in one message must not cost the others of its window their extraction.
            text if isinstance(text, InvalidInput) else Extraction(skipped=(Skipped(reason=ORIGIN),))
            for text in texts
        ]
        shown = [
            replace(message, content="" if isinstance(text, InvalidInput) else text)
            for message, text in zip(messages, texts, strict=True)
        ]
        for places in windows(shown):
            # A message of the user's that cannot be read is not shown, but it keeps its place, which the answer refers
            # to.
            own = [place for place in places if is_users_own(shown[place]) and isinstance(texts[place], str)]
            try:
                found = await self._window(messages, shown, places, own, policy, budget, deadline, around)
            # Only this window has failed: earlier and later calls of the same batch may have succeeded.
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
        around: MessageContext,
    ) -> dict[int, Read]:
        # A window without a message of the user's has nothing to extract, so it costs no call.
        if not own:
            return {}
        # Turns of another session explain nothing, and would mix two conversations.
        first = max(_begin(messages, places.start), places.start - TURNS_BEFORE)
        prompt = window_prompt(
            [(one.role, one.content) for one in messages[first : places.stop]],
            [place - first for place in own],
            _keys(policy),
            sorted(policy.levels),
            allowed_values=_allowed_values(policy),
            max_items=budget.max_capture_items,
            max_value_chars=budget.max_value_chars,
            beside=self._prompt_context(around, given[own[-1]]),
        )
        completion, answered = await self._ask(prompt, policy, deadline)
        numbers = {place - first: place for place in own}
        items, strays = _by_turn(answered, messages, numbers)
        read = {place: _read(items[place], given[place], around, policy, budget, self._categories) for place in own}
        for place, found in read.items():
            # Whose items the missing end would have had is not known.
            if isinstance(found, Extraction):
                read[place] = replace(found, degraded=_cut_off(completion))
        # One call has one cost: charging it to every message would count it several times.
        top = next((place for place in own if isinstance(read[place], Extraction)), None)
        if top is not None:
            one = read[top]
            assert isinstance(one, Extraction)
            # Items with an unknown turn are reported: dropped silently, they would look like a model that found
            # nothing.
            left_out = (*one.skipped, *(Skipped(reason=UNSUPPORTED) for _ in range(strays)))
            read[top] = replace(one, cost=Cost.from_completion(completion), skipped=left_out)
        return read


def _cut_off(completion: Completion) -> str | None:
    """Return the reason that tells of an answer that was read as far as it goes; None for a whole one."""
    return LLM_TRUNCATED if completion.truncated else None


def is_small(model: str) -> bool:
    """Return True if the name of a model gives a size up to which models copy words well and label them badly."""
    sizes = [float(one["size"]) / (1000 if one["unit"] in "mM" else 1) for one in _SIZE.finditer(model)]
    return bool(sizes) and max(sizes) <= SMALL_UP_TO


def windows(messages: Sequence[Message]) -> Iterator[range]:
    """Yield the places of `messages` that are read in one call: neighbours of one session, at most 12 of the user's own
    and about 16,000 characters.
    """
    start, size, own = 0, 0, 0
    for place, message in enumerate(messages):
        full = own + is_users_own(message) > WINDOW_TURNS or size + len(message.content) > WINDOW_CHARS
        # A single message longer than the bound still has a window, or it would never be read.
        if place > start and (full or message.session != messages[start].session):
            yield range(start, place)
            start, size, own = place, 0, 0
        size, own = size + len(message.content), own + is_users_own(message)
    if messages:
        yield range(start, len(messages))


def _begin(messages: Sequence[Message], place: int) -> int:
    """Return the place at which the session of the message at `place` begins."""
    begin = place
    while begin > 0 and messages[begin - 1].session == messages[place].session:
        begin -= 1
    return begin


def _message_text(message: Message) -> str | InvalidInput:
    """Return the message's text as the model sees it, or the reason why it cannot be read."""
    own = is_users_own(message)
    try:
        text = clean_content(message.content)
    except InvalidInput as problem:
        return problem if own else ""
    if own and len(text) > MAX_MESSAGE_CHARS:
        return InvalidInput("message", hint=f"longer than {MAX_MESSAGE_CHARS} characters")
    return text if own else _end_of(text)


def _end_of(text: str) -> str:
    """Return the end of a text that is context: its last sentence, with those before it if that is short."""
    cut = max(0, len(text) - MAX_CONTEXT_CHARS)
    begin = max(text.rfind(mark, cut, max(cut, len(text) - LEAST_CONTEXT_CHARS)) for mark in (". ", "! ", "? ", "\n"))
    if begin >= 0:
        return text[begin + 1 :].lstrip()
    return text if not cut else text[cut:].partition(" ")[2]


def _items_of(text: str, policy: Policy) -> Sequence[object]:
    """Return the items of an answer. Raises ModelFailed; InvalidCandidates if the policy stops at an answer of another
    form.
    """
    if policy.on_violation == "stop":
        answer = parse_json(text)
        try:
            return items_of(answer)
        except InvalidCandidates as breach:
            breach.proposal = answer
            raise
    try:
        return items_of(parse_json(text), strictly=False)
    except InvalidCandidates as other:
        raise ModelInvalidSchema(hint=other.reason) from None


def _by_turn(
    items: Sequence[object], messages: Sequence[Message], places: Mapping[int, int]
) -> tuple[dict[int, list[Any]], int]:
    """Return the items of each message by its index, and the number of items without one. A quote that only one of the
    messages has settles which it is, whatever number the model gives.
    """
    by_place: dict[int, list[Any]] = {place: [] for place in places.values()}
    texts = {place: NormalisedText(messages[place].content) for place in by_place}
    strays = 0
    for item in items:
        fields = item if isinstance(item, Mapping) else {}
        quote, number = fields.get("quote"), whole_number(fields.get("turn"))
        named = None if number is None else places.get(number)
        saying = [place for place, text in texts.items() if isinstance(quote, str) and text.find(quote) is not None]
        place = saying[0] if len(saying) == 1 else named
        if place is None and saying:
            place = saying[-1]
        if place is None:
            strays += 1
        else:
            by_place[place].append(item)
    return by_place, strays


def _read(
    items: Sequence[object],
    message: Message,
    around: MessageContext,
    policy: Policy,
    budget: Budget,
    categories: Sequence[str],
) -> Read:
    try:
        return _proposals(items, message, around, policy, budget, categories)
    except RunStopped as breach:
        breach.proposal = {"items": items}
        return breach


def _proposals(
    items: Sequence[object],
    message: Message,
    around: MessageContext,
    policy: Policy,
    budget: Budget,
    categories: Sequence[str],
) -> Extraction:
    """Extract from the items of a model's answer. Raises RunStopped for a breach if the policy stops at one."""
    # The bound of items is applied here, too: a model may ignore the number in its prompt.
    kept: list[Candidate] = []
    skipped: list[Skipped] = []
    if len(items) > budget.max_capture_items:
        if policy.on_violation == "stop":
            raise InvalidCandidates("too_many_items")
        skipped.append(Skipped(reason=InvalidCandidates("too_many_items").reason))
    reading = ProposalContext(message=message, around=around, policy=policy, budget=budget, categories=categories)
    for item in items[: budget.max_capture_items]:
        for one in parse_item(item, reading):
            if isinstance(one, Candidate):
                _add(kept, one)
            else:
                skipped.append(one)
    distinct, doubles = drop_duplicates(kept)
    return Extraction(candidates=distinct, skipped=(*skipped, *doubles))


def _add(kept: list[Candidate], one: Candidate) -> None:
    """Add a candidate; the same statement about several memories replaces them all."""
    for place, other in enumerate(kept):
        # A model names one memory an item, so a statement that ends two of them arrives twice.
        if one.replaces and (other.key, other.level, other.content) == (one.key, one.level, one.content):
            kept[place] = replace(other, replaces=tuple(dict.fromkeys((*other.replaces, *one.replaces))))
            return
    kept.append(one)


def _keys(policy: Policy) -> list[str] | None:
    # An open policy has no list of keys that would be complete, so the model gets none.
    return sorted(policy.keys or ()) if policy.closed else None


def _allowed_values(policy: Policy) -> dict[str, list[str]]:
    rules = (policy.keys or {}).values()
    return {rule.key: sorted(rule.allowed_values) for rule in rules if rule.allowed_values is not None}
