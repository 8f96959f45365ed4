"""Handler of the request that stores messages of a conversation, and the consent that messages need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemic.dispatch import Call, Proposal
from mnemic.extract.messages import in_parts, message_candidates
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.policy.grant import consent_required
from mnemic.policy.limits import Consents
from mnemic.policy.proposal_check import MAX_CONTENT_CHARS
from mnemic.requests import AddMany
from mnemic.types import Message, WriteReceipt
from mnemic.types.search import MESSAGE_CATEGORY
from mnemic.write.limiter import Limiter
from mnemic.write.pipeline import MemoryWritePipeline


@dataclass(frozen=True, slots=True)
class RecordHandler:
    """Handles `Record`: each message becomes an episodic memory by an `AddMany`, which is dispatched separately."""

    pipeline: MemoryWritePipeline

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Nothing: the memories are proposed by the request that adds them."""
        return ()

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> Sequence[WriteReceipt]:
        """Return a receipt for each message that has text, or for each part of a message too long for one memory."""
        cut = [await self._redact_before_cut(message, call) for message in call.request.messages]
        parts = [part for message in cut for part in in_parts(message)]
        written = await call.engine.handle(AddMany(candidates=tuple(message_candidates(parts))), actor=call.actor)
        receipts: list[WriteReceipt] = written.receipts
        return receipts

    async def _redact_before_cut(self, message: Message, call: Call) -> Message:
        """`message`, redacted if it will be cut: a card number divided by a cut would look harmless."""
        if len(message.content) <= MAX_CONTENT_CHARS:
            return message
        return replace(message, content=await self.pipeline.redact_text(message.content, tenant=call.actor.tenant))


async def as_consented(passed: Sequence[Proposal], call: Call, limiter: Limiter) -> Sequence[Proposal]:
    """Return `passed`, with every message blocked that states a value of a key without consent, as far as the rules can
    read it. Such a message is also removed from the context of the messages next to it.
    """
    if not any(one.candidate.category == MESSAGE_CATEGORY for one in passed):
        return passed
    decided = (await limiter.check(call.actor, call.rules.limits)).consents
    if not decided.in_force(call.rules.policy, call.rules.limits):
        return passed
    return [
        await _as_consented(one, call, decided) if one.candidate.category == MESSAGE_CATEGORY else one for one in passed
    ]


async def _as_consented(one: Proposal, call: Call, decided: Consents) -> Proposal:
    key = await _key_without_consent(one.candidate.content, call, decided)
    if key is not None:
        return replace(one, reason=one.reason or consent_required(key))
    if one.candidate.context and await _key_without_consent(one.candidate.context, call, decided) is not None:
        return replace(one, candidate=replace(one.candidate, context=""))
    return one


async def _key_without_consent(text: str, call: Call, decided: Consents) -> str | None:
    """Return the first key without consent for which `text` states a value, or seems to."""
    rules = call.rules
    deadline = rules.budget.deadline(call.engine.clock.monotonic)
    message = Message(role="user", content=text)
    found = await RuleExtractor().extract(message, policy=rules.policy, budget=rules.budget, deadline=deadline)
    keys = [*(one.key for one in found.candidates), *(one.key for one in found.skipped)]
    return next((key for key in keys if key is not None and not decided.allows(key, rules.limits)), None)
