"""Requests that bring a statement: add, many at once, derived ones, corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemic.door import Call, Limiter, Passed, Proposal, Written
from mnemic.errors import BudgetSpent, InvalidInput, MemoryNotFound
from mnemic.maintain import derived
from mnemic.ports import Reads
from mnemic.types import Actor, Candidate, Level, Memory, Scope, Status, WriteReceipt, lowered
from mnemic.unit_of_work import apply
from mnemic.write.fingerprint import item_key
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.revise import revision_of


def from_channel(candidate: Candidate, actor: Actor) -> Candidate:
    """The candidate with the origin that the actor's channel gives at most; a caller may name a lower one."""
    if not isinstance(candidate, Candidate):
        raise InvalidInput("candidate")
    origin = lowered(actor.channel, candidate.source.origin)
    if origin is candidate.source.origin:
        return candidate
    return replace(candidate, source=replace(candidate.source, origin=origin))


def owner_of(scope: Scope, actor: Actor) -> Actor:
    """The person whose consent and quotas count in `scope`: its owner at the user's level, else the actor."""
    if scope.level is not Level.USER or scope.owner == actor.user:
        return actor
    return Actor(tenant=actor.tenant, user=scope.owner, agent=actor.agent)


@dataclass(frozen=True, slots=True)
class Adding:
    """Handles `Add`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """The candidate, with the origin of the channel."""
        return [Proposal(candidate=from_channel(call.request.candidate, call.actor), subject=call.actor)]

    async def carry_out(self, call: Call, passed: Sequence[Passed]) -> WriteReceipt:
        """The receipt of the write."""
        (one,) = passed
        if one.reason is not None:
            return one.receipt()
        receipt = await self.pipeline.write(
            one.candidate,
            actor=call.actor,
            policy=call.rules.policy,
            idempotency_key=call.request.idempotency_key,
            deadline=call.deadline,
            gate=await self.limiter.gate(call.actor, call.rules.limits),
        )
        return replace(receipt, warnings=one.warnings) if one.warnings else receipt


@dataclass(frozen=True, slots=True)
class AddingMany:
    """Handles `AddMany`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """The candidates. Raises BudgetSpent (`max_capture_items`) for more than a turn may find in a message."""
        request = call.request
        if request.captured and len(request.candidates) > call.rules.budget.max_capture_items:
            raise BudgetSpent("max_capture_items")
        if request.idempotency_keys is not None and len(request.idempotency_keys) != len(request.candidates):
            raise InvalidInput("idempotency_keys", hint="one per candidate")
        return [
            Proposal(candidate=from_channel(candidate, call.actor), subject=call.actor, lenient=True)
            for candidate in request.candidates
        ]

    async def carry_out(self, call: Call, passed: Sequence[Passed]) -> Written:
        """A receipt for each, in order."""
        keys = call.request.idempotency_keys or [None] * len(passed)
        allowed = {place: one for place, one in enumerate(passed) if one.reason is None}
        written = await self.pipeline.write_many(
            [one.candidate for one in allowed.values()],
            actor=call.actor,
            policy=call.rules.policy,
            idempotency_keys=[keys[place] for place in allowed],
            deadline=call.deadline,
            gate=await self.limiter.gate(call.actor, call.rules.limits),
        )
        receipts = [one.receipt() for one in passed]
        for (place, one), receipt in zip(allowed.items(), written, strict=True):
            receipts[place] = replace(receipt, warnings=one.warnings) if one.warnings else receipt
        return Written(receipts=receipts, denied=frozenset(range(len(passed))) - allowed.keys())


@dataclass(frozen=True, slots=True)
class Deriving:
    """Handles `Derive`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """What was drawn from the sources."""
        candidate = from_channel(call.request.candidate, call.actor)
        return [Proposal(candidate=candidate, subject=call.actor, lenient=True)]

    async def carry_out(self, call: Call, passed: Sequence[Passed]) -> WriteReceipt:
        """The receipt; `blocked` with `sources_gone` where a source is no longer there when it is committed."""
        (one,) = passed
        if one.reason is not None:
            return one.receipt()
        actor, sources = call.actor, call.request.sources
        gate, scope = await self.limiter.gate(actor, call.rules.limits), actor.scope(one.candidate.level)
        await apply(self.limiter.store, derived.noted(actor.tenant))

        async def still(tx: Reads, candidate: Candidate) -> str | None:
            reason = await gate(tx, candidate)
            return reason or (None if await derived.present(tx, scope, sources) else "sources_gone")

        return await self.pipeline.write(one.candidate, actor=actor, policy=call.rules.policy, gate=still)


@dataclass(frozen=True, slots=True)
class Updating:
    """Handles `Update`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """What the memory is to say. Raises MemoryNotFound where it is not there, or not in force."""
        known, request = await self._known(call), call.request
        origin = lowered(call.actor.channel, request.origin or call.actor.channel)
        candidate = revision_of(known, request.content, origin, call.actor)
        if request.data is not None:
            candidate = replace(candidate, data=request.data)
        # It adds no memory; only the writes of a minute and the bytes are counted, inside the transaction.
        return [Proposal(candidate=candidate, subject=owner_of(known.scope, call.actor))]

    async def _known(self, call: Call) -> Memory:
        known = await self.limiter.store.get(call.request.memory_id, scopes=call.scopes)
        if known is None or known.status is not Status.ACTIVE:
            raise MemoryNotFound
        return known

    async def carry_out(self, call: Call, passed: Sequence[Passed]) -> WriteReceipt:
        """The receipt of the correction."""
        (one,), request = passed, call.request
        if one.reason is not None:
            return one.receipt()
        return await self.pipeline.revise(
            request.memory_id,
            one.candidate.content,
            actor=call.actor,
            scopes=call.scopes,
            policy=call.rules.policy,
            data=request.data,
            context=request.context,
            expected_version=request.expected_version,
            origin=one.candidate.source.origin,
            deadline=call.deadline,
            gate=await self.limiter.gate(call.actor, call.rules.limits),
        )


__all__ = ["Adding", "AddingMany", "Deriving", "Updating", "from_channel", "item_key", "owner_of"]
