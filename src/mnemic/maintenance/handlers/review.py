"""Handlers of requests about existing memories: approve, reject, undo, roll back, restore from an archive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from mnemic.dispatch import Call, Proposal
from mnemic.dispatch.handlers.update import owner_of
from mnemic.errors import ScopeDenied, WriteBlocked
from mnemic.maintenance import review, undo
from mnemic.maintenance.archive import ArchivedConsent, ArchivedMemory, Restorer
from mnemic.maintenance.review import Verdict
from mnemic.maintenance.undo import UndoReceipt
from mnemic.reason_codes import LOWER_TRUST
from mnemic.requests import Restore
from mnemic.types import Memory, Outcome, Scope, Status, WriteReceipt
from mnemic.types.memory_kinds import TRUST
from mnemic.write.commit import GateRefusal, blocked_receipt
from mnemic.write.draft import Draft
from mnemic.write.limiter import Limiter
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.revise import candidate_of


def reach(call: Call) -> tuple[Scope, ...] | None:
    """Return the scopes that a reviewer's request reaches; None for those of the whole tenant."""
    return None if call.request.whole_tenant else call.scopes


@dataclass(frozen=True, slots=True)
class ApproveHandler:
    """Handles `Approve`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Return the waiting statement, or the reviewer's wording of it. Raises MemoryNotFound, ReviewDenied."""
        known = await self._find_pending(call)
        review.require_reviewer(known, call.actor, call.rules.policy)
        content = known.content if call.request.content is None else call.request.content
        return [
            Proposal(
                candidate=replace(candidate_of(known), content=content),
                subject=owner_of(known.scope, call.actor),
                adds=False,
                within_grant=not call.request.whole_tenant,
            )
        ]

    async def _find_pending(self, call: Call) -> Memory:
        request, tenant = call.request, call.actor.tenant
        return await review.find(self.limiter.store, request.memory_id, tenant=tenant, scopes=reach(call))

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> WriteReceipt:
        """Return the receipt of the approval."""
        (one,), request = passed, call.request
        known = await self._find_pending(call)
        if one.reason is not None:
            return _blocked_receipt(known, one.reason)
        draft: Draft | None = None
        if request.content is not None:
            draft = await self.pipeline.redraft(
                known, one.candidate.content, actor=call.actor, origin=call.actor.channel, policy=call.rules.policy
            )
            if draft.blocked is not None:
                return _blocked_receipt(known, draft.blocked)
        verdict = Verdict(
            memory_id=request.memory_id,
            draft=draft,
            merged_with=tuple(request.merge_with),
            expected_version=request.expected_version,
        )
        gate = await self.limiter.gate(owner_of(known.scope, call.actor), call.rules.limits)
        store, clock, policy = self.limiter.store, self.limiter.clock, call.rules.policy
        try:
            receipt = await review.approve(store, clock, known, verdict, reviewer=call.actor, policy=policy, gate=gate)
        except GateRefusal as refused:
            return _blocked_receipt(known, refused.reason)
        return replace(receipt, degraded=await self.pipeline.publisher.catch_up())


def _blocked_receipt(known: Memory, reason: str) -> WriteReceipt:
    return WriteReceipt(
        outcome=Outcome.BLOCKED,
        memory_id=known.memory_id,
        key=known.key,
        level=known.scope.level,
        reason=reason,
        durable=False,
    )


@dataclass(frozen=True, slots=True)
class RejectHandler:
    """Handles `Reject`: the statement never becomes active, so nothing is proposed."""

    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Return nothing: a rejection makes no statement."""
        return ()

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> WriteReceipt:
        """Return the receipt of the rejection. Raises MemoryNotFound."""
        store, clock, request = self.limiter.store, self.limiter.clock, call.request
        known = await review.find(store, request.memory_id, tenant=call.actor.tenant, scopes=reach(call))
        return await review.reject(store, clock, known, reviewer=call.actor, reason=request.reason)


@dataclass(frozen=True, slots=True)
class UndoHandler:
    """Handles `Undo`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Return the statements that become active again. Raises MemoryNotFound, InvalidInput
        (`undo:nothing_replaced`).
        """
        planned = await self._plan_reversal(call)
        return [
            Proposal(candidate=candidate_of(one), subject=owner_of(one.scope, call.actor), adds=False)
            for one in planned.restored
        ]

    async def _plan_reversal(self, call: Call) -> undo.Reversal:
        store, policy = self.limiter.store, call.rules.policy
        return await undo.reversal(store, call.request.memory_id, scopes=call.scopes, policy=policy)

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> UndoReceipt:
        """Undo the replacement and return the outcome for the memory and for those that it had replaced. Raises
        WriteBlocked, VersionConflict.
        """
        planned = await self._plan_reversal(call)
        reason = next((one.reason for one in passed if one.reason is not None), None)
        if TRUST[call.actor.channel] < planned.known.trust:
            reason = LOWER_TRUST
        if reason is not None:
            raise WriteBlocked(reason)
        receipt = await undo.undo(self.limiter.store, self.limiter.clock, planned, actor=call.actor)
        await self.pipeline.publisher.catch_up()
        return receipt


@dataclass(frozen=True, slots=True)
class RollbackHandler:
    """Handles `Rollback`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Return the content of the memory in that version. Raises MemoryNotFound, InvalidInput (`version`)."""
        known, target = await self._chosen(call)
        return [Proposal(candidate=candidate_of(target), subject=owner_of(known.scope, call.actor), adds=False)]

    async def _chosen(self, call: Call) -> tuple[Memory, Memory]:
        request = call.request
        return await undo.chosen(self.limiter.store, request.memory_id, request.version, scopes=call.scopes)

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> WriteReceipt:
        """Return the receipt. Only a version that was in force can come back, so this needs no review."""
        (one,) = passed
        known, target = await self._chosen(call)
        reason = LOWER_TRUST if TRUST[call.actor.channel] < known.trust else one.reason
        if reason is not None:
            return _blocked_receipt(known, reason)
        actor, policy = call.actor, call.rules.policy
        draft = await self.pipeline.redraft(
            target, target.content, actor=actor, origin=target.source.origin, policy=policy
        )
        gate = await self.limiter.gate(owner_of(known.scope, actor), call.rules.limits)
        store, clock = self.limiter.store, self.limiter.clock
        try:
            receipt = await undo.roll_back(store, clock, known, target, draft, actor=actor, gate=gate)
        except GateRefusal as refused:
            return _blocked_receipt(known, refused.reason)
        return replace(receipt, degraded=await self.pipeline.publisher.catch_up())


@dataclass(frozen=True, slots=True)
class RestoreHandler:
    """Handles `Restore` and `RestoreConsent`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Return the statement of the newest version, if it is in force. Raises ScopeDenied for a level that is not
        granted.
        """
        if not isinstance(call.request, Restore):
            return ()
        newest = call.request.versions[-1]
        if newest.scope.level not in call.rules.grant.levels:
            raise ScopeDenied(newest.scope.level)
        if newest.status is not Status.ACTIVE:
            return ()
        return [Proposal(candidate=candidate_of(newest), subject=call.actor, lenient=True)]

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> WriteReceipt:
        """Return the receipt of the restored memory; `refreshed` if it already exists."""
        request = call.request
        for one in passed:
            if one.reason is not None:
                return blocked_receipt(one.candidate, one.reason)
        restorer = Restorer(
            store=self.limiter.store,
            clock=self.limiter.clock,
            pipeline=self.pipeline,
            actor=call.actor,
            gate=await self.limiter.gate(call.actor, call.rules.limits),
            policy=call.rules.policy,
            own=isinstance(request, Restore) and request.own and call.actor.channel in review.PERSONS,
        )
        if isinstance(request, Restore):
            receipt = await restorer.restore(ArchivedMemory(request.versions))
        else:
            receipt = await restorer.restore(ArchivedConsent(request.key, request.granted, request.at))
        return replace(receipt, degraded=await self.pipeline.publisher.catch_up())
