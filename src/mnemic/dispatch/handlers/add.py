"""Requests that contain a statement (add, and many at once) or messages of a conversation, and the consent that
messages need.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from mnemic.dispatch import BatchReceipts, Call, Proposal
from mnemic.errors import BudgetSpent, InvalidInput
from mnemic.extract.messages import in_parts, message_candidates
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.plugins.extras import brought_by
from mnemic.policy.expiry_rule import ttl_of
from mnemic.policy.grant import consent_required
from mnemic.policy.limits import Consents, Limits, makes_room
from mnemic.policy.proposal_check import MAX_CONTENT_CHARS
from mnemic.requests import Add, AddMany, NewMemory
from mnemic.types import Actor, Candidate, Kind, Message, Source, WriteReceipt, lower_origin
from mnemic.types.memory_kinds import CATALOG, kind_of
from mnemic.types.scope import checked_actor
from mnemic.types.search import MESSAGE_CATEGORY
from mnemic.types.values import checked_share
from mnemic.write.draft import Draft
from mnemic.write.limiter import NEAR, Limiter
from mnemic.write.pipeline import MemoryWritePipeline

Given = tuple[Candidate, str | None]
"""A candidate and its idempotency key."""


async def write_in_portions(
    given: Sequence[Given], call: Call, pipeline: MemoryWritePipeline, limiter: Limiter
) -> list[WriteReceipt]:
    """Return a receipt for each candidate, in order. One that did not fit into a quota with the rest of its portion is
    tried alone, if the quota evicts older memories.
    """

    async def many(part: Sequence[Given]) -> list[WriteReceipt]:
        return await pipeline.write_many(
            [candidate for candidate, _ in part],
            actor=call.actor,
            policy=call.rules.policy,
            idempotency_keys=[key for _, key in part],
            deadline=call.deadline,
            gate=await limiter.gate(call.actor, call.rules.limits),
        )

    written: list[WriteReceipt] = []
    for places in portions([candidate for candidate, _ in given], call.rules.limits):
        written += await many(given[places.start : places.stop])
    if evicts(call.rules.limits):
        for place, receipt in enumerate(written):
            if makes_room(receipt.reason or ""):
                (written[place],) = await many([given[place]])
    return written


def portions(candidates: Sequence[Candidate], limits: Limits) -> Iterator[range]:
    """Return the places of `candidates`, cut so that no portion alone fills a quota of rows that evicts: a later one
    takes the place of an earlier one. All of them at once if nothing is evicted.
    """
    most = min([NEAR, *(quota.rows for quota in limits.quotas if quota.rows is not None)])
    step = most if evicts(limits) else max(1, len(candidates))
    return (range(start, min(start + step, len(candidates))) for start in range(0, len(candidates), step))


def evicts(limits: Limits) -> bool:
    """Return True if a quota lets go of active memories."""
    return any(quota.on_full == "evict" for quota in limits.quotas)


def candidate_of(request: NewMemory, actor: Actor) -> Candidate:
    """Return the candidate that the request describes. Raises InvalidInput."""
    if isinstance(request.content, Candidate):
        return request.content
    checked_share(request.confidence, "confidence")  # a model's figure is clamped, a program's is a mistake
    kind, origin = kind_of(request.kind), request.origin if isinstance(request, Add) else None
    return Candidate(
        content=request.content,
        kind=kind,
        key=request.key,
        level=str(request.level or CATALOG[kind].level),
        category=request.category,
        data=request.data or {},
        ttl=None if request.ttl is None else ttl_of(request.ttl),
        confidence=request.confidence,
        source=Source(origin=origin or checked_actor(actor).channel, session=actor.session),
        occurred_at=request.occurred_at,
    )


def from_channel(candidate: Candidate, actor: Actor) -> Candidate:
    """Return the candidate, its origin capped by the actor's channel; a caller may name a lower one. Structured data is
    checked against the schema of the shape that `category` names, if a package brings it.
    """
    if not isinstance(candidate, Candidate):
        raise InvalidInput("candidate", hint="Candidate(content=...)")
    if candidate.kind == Kind.STRUCTURED and isinstance(candidate.category, str):
        candidate = _as_shaped(candidate, candidate.category)
    origin = lower_origin(actor.channel, candidate.source.origin)
    if origin is candidate.source.origin:
        return candidate
    return replace(candidate, source=replace(candidate.source, origin=origin))


def _as_shaped(candidate: Candidate, name: str) -> Candidate:
    with brought_by("structured"):
        from mnemic.structured.documents import installed_readers
    shape = next((reader.shapes[name] for reader in installed_readers() if name in reader.shapes), None)
    return candidate if shape is None else replace(candidate, data=shape.check_data(candidate.data))


@dataclass(frozen=True, slots=True)
class AddHandler:
    """Handles `Add` and `NewMemory`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Return the candidate, with the origin of the channel."""
        candidate = from_channel(candidate_of(call.request, call.actor), call.actor)
        return [Proposal(candidate=candidate, subject=call.actor, prepare=partial(self._prepare, call))]

    async def _prepare(self, call: Call, candidate: Candidate) -> Draft:
        given = {"actor": call.actor, "policy": call.rules.policy, "idempotency_key": call.request.idempotency_key}
        return await self.pipeline.prepare(candidate, **given)

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> WriteReceipt:
        """Return the receipt of the write."""
        (one,) = passed
        if one.reason is not None:
            return one.blocked_receipt()
        # Limits come before the rules of a statement: it raises now what the check has passed over.
        draft = one.draft or await self._prepare(call, one.candidate)
        # The limits were checked already; the gate repeats it inside the transaction, where no write comes between.
        gate = await self.limiter.gate(call.actor, call.rules.limits)
        receipt = await self.pipeline.write_draft(draft, deadline=call.deadline, gate=gate)
        return replace(receipt, warnings=one.warnings) if one.warnings else receipt


@dataclass(frozen=True, slots=True)
class AddManyHandler:
    """Handles `AddMany`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Return the candidates. Raises BudgetSpent (`max_capture_items`) for more than a turn may find."""
        request = call.request
        if request.captured and len(request.candidates) > call.rules.budget.max_capture_items:
            # Before any check: the budget exists to bound the work of a turn.
            raise BudgetSpent("max_capture_items")
        if request.idempotency_keys is not None and len(request.idempotency_keys) != len(request.candidates):
            raise InvalidInput("idempotency_keys", hint="one per candidate")
        return [
            Proposal(candidate=from_channel(candidate, call.actor), subject=call.actor, lenient=True)
            for candidate in request.candidates
        ]

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> BatchReceipts:
        """Return a receipt for each, in order."""
        # Messages have no key, so their consent is checked by the keys that the rules read in them.
        passed = await as_consented(passed, call, self.limiter)
        keys = call.request.idempotency_keys or [None] * len(passed)
        allowed = {place: one for place, one in enumerate(passed) if one.reason is None}
        given = [(one.candidate, keys[place]) for place, one in allowed.items()]
        written = await write_in_portions(given, call, self.pipeline, self.limiter)
        receipts = [one.blocked_receipt() for one in passed]
        for (place, one), receipt in zip(allowed.items(), written, strict=True):
            receipts[place] = replace(receipt, warnings=one.warnings) if one.warnings else receipt
        return BatchReceipts(receipts=receipts, denied=frozenset(range(len(passed))) - allowed.keys())


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
