"""Extraction by a language model. It only proposes: contract, policy and the user's own words decide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from mnemic.catalog import TRUST
from mnemic.errors import InvalidInput
from mnemic.extract import Extraction, is_users_own
from mnemic.extract.grounding import ground
from mnemic.extract.when import timed
from mnemic.guard.budget import Budget
from mnemic.guard.contract import check_candidates, drop_duplicates, parse_json
from mnemic.guard.policy import Policy
from mnemic.ports import Completer
from mnemic.prompts import capture_prompt
from mnemic.text.normalise import clean_content
from mnemic.types import Candidate, Deadline, Message, Skipped, Source, Trust

MAX_MESSAGE_CHARS = 32_768

CONFIDENCE_CEILING: Mapping[Trust, float] = MappingProxyType({Trust.HIGH: 0.95, Trust.MEDIUM: 0.8, Trust.LOW: 0.5})
"""The most that a model's own number may claim, by the trust of the message's channel: a model that says 1.0 has still
only read one message. A cut is named in `Candidate.clamped`."""


class ModelExtractor:
    """Asks a model for candidates and keeps those that the user's words support."""

    asks_model = True

    def __init__(self, completer: Completer) -> None:
        self._completer = completer

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
            sorted(policy.keys or ()) if policy.closed else None,
            sorted(policy.levels),
            allowed_values=_allowed_values(policy),
            max_items=budget.max_capture_items,
        )
        completion = await self._completer.complete(prompt, deadline=deadline)
        checked = check_candidates(parse_json(completion.text), policy, budget)
        return _grounded(checked.candidates, checked.skipped, message)


def _grounded(candidates: tuple[Candidate, ...], skipped: tuple[Skipped, ...], message: Message) -> Extraction:
    kept: list[Candidate] = []
    unsupported: list[Skipped] = []
    for candidate in candidates:
        supported = ground(_from_channel(candidate, message), message)
        if supported is None:
            unsupported.append(Skipped(reason="unsupported", key=candidate.key))
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


def _allowed_values(policy: Policy) -> dict[str, list[str]]:
    rules = (policy.keys or {}).values()
    return {rule.key: sorted(rule.allowed_values) for rule in rules if rule.allowed_values is not None}
