"""Handlers of requests that make a statement about existing memories: derived memories, corrections."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

from mnemic.dispatch import Call, Proposal
from mnemic.dispatch.handlers.add import from_channel
from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.ports import Reads
from mnemic.reason_codes import SOURCES_GONE
from mnemic.requests import Update
from mnemic.types import Actor, Candidate, Level, Memory, Scope, Status, WriteReceipt, lower_origin
from mnemic.types.memory_kinds import CATALOG
from mnemic.types.search import MESSAGE_CATEGORY
from mnemic.types.values import checked_share
from mnemic.unit_of_work import apply
from mnemic.write import derived_memories
from mnemic.write.forget import forget
from mnemic.write.limiter import Limiter
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.revise import changes_of, revision_of, with_bytes


class AdministrationHandler:
    """A request that adds no statement."""

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Nothing to judge."""
        return ()


@dataclass(frozen=True, slots=True)
class ForgetHandler(AdministrationHandler):
    """Handles `Forget`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> None:
        """Delete the memory. Raises MemoryNotFound, WriteBlocked (`lower_trust`)."""
        store, clock = self.limiter.store, self.limiter.clock
        await forget(store, clock, call.request.memory_id, actor=call.actor, scopes=call.scopes)
        await self.pipeline.publisher.catch_up()


def owner_of(scope: Scope, actor: Actor) -> Actor:
    """Return the person whose consent and quotas count in `scope`: its owner at the user's level, else the actor."""
    if scope.level is not Level.USER or scope.owner == actor.user:
        return actor
    return Actor(tenant=actor.tenant, user=scope.owner, agent=actor.agent)


@dataclass(frozen=True, slots=True)
class DeriveHandler:
    """Handles `Derive`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Return the statement derived from the sources; its origin counts for no more than the least of theirs."""
        candidate = from_channel(call.request.candidate, call.actor)
        scope = call.actor.scope(candidate.level)
        sources = await self.limiter.store.get_many(list(call.request.sources), scopes=[scope])
        origin = reduce(lower_origin, (one.source.origin for one in sources.values()), candidate.source.origin)
        candidate = replace(candidate, source=replace(candidate.source, origin=origin))
        return [Proposal(candidate=candidate, subject=call.actor, lenient=True)]

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> WriteReceipt:
        """Return the receipt; `blocked` with `sources_gone` if a source was deleted before the commit."""
        (one,) = passed
        if one.reason is not None:
            return one.blocked_receipt()
        actor, sources = call.actor, call.request.sources
        gate, scope = await self.limiter.gate(actor, call.rules.limits), actor.scope(one.candidate.level)
        await apply(self.limiter.store, derived_memories.mark_tenant(actor.tenant))

        async def still(tx: Reads, candidate: Candidate) -> str | None:
            reason = await gate(tx, candidate)
            return reason or (None if await derived_memories.present(tx, scope, sources) else SOURCES_GONE)

        return await self.pipeline.write(one.candidate, actor=actor, policy=call.rules.policy, gate=still)


@dataclass(frozen=True, slots=True)
class UpdateHandler:
    """Handles `Update` and `Correction`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Return the corrected statement. Raises MemoryNotFound if the memory does not exist or is not active, and
        InvalidInput (`kind:append_only`) for a recorded episode.
        """
        known, request = await self._find_known(call), call.request
        named = request.origin if isinstance(request, Update) else None
        origin = lower_origin(call.actor.channel, named or call.actor.channel)
        content = known.content if request.content is None else request.content
        if request.confidence is not None:
            checked_share(request.confidence, "confidence")
        revised = replace(revision_of(known, content, origin, call.actor), **changes_of(request))
        # It adds no memory; only the writes of a minute and the bytes are counted, inside the transaction.
        return [Proposal(candidate=with_bytes(revised, known), subject=owner_of(known.scope, call.actor))]

    async def _find_known(self, call: Call) -> Memory:
        known = await self.limiter.get(call.request.memory_id, call.actor, call.scopes)
        if known is None or known.status is not Status.ACTIVE:
            raise MemoryNotFound
        # Messages may be corrected; what was recorded as having happened may not.
        if CATALOG[known.kind].append_only and known.category != MESSAGE_CATEGORY:
            raise InvalidInput(
                "kind:append_only", hint="a recorded episode never changes: record what is new, or forget"
            )
        return known

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> WriteReceipt:
        """Return the receipt of the correction."""
        (one,), request = passed, call.request
        if one.reason is not None:
            return one.blocked_receipt()
        return await self.pipeline.revise(
            request.memory_id,
            one.candidate.content,
            actor=call.actor,
            scopes=call.scopes,
            policy=call.rules.policy,
            changes={name: getattr(one.candidate, name) for name in changes_of(request)},
            expected_version=request.expected_version,
            origin=one.candidate.source.origin,
            deadline=call.deadline,
            gate=await self.limiter.gate(call.actor, call.rules.limits),
        )
