"""The transaction of a write, from a finished draft to its receipt; it may run again from the start.

3 is it known, 6 conflict and 5 merge (`mnemic.write.decide`), 7 the decision as a whole: memories, versions, audit,
outbox, the receipt of the request, and the sealed values that redaction took out. The gate decides last: the conditions
that admitted a write may have changed.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from mnemic.errors import IdempotencyConflict
from mnemic.types import Candidate, Change, Memory, Outcome, Status, WriteReceipt
from mnemic.unit_of_work import AnsweredRequest, Mutation, Unit
from mnemic.write.decide import confirm, decide, live
from mnemic.write.draft import Decision, Draft, StepTimer
from mnemic.write.missing_vectors import leave
from mnemic.write.tokenisation import keep

if TYPE_CHECKING:
    from mnemic.ports import Reads


@dataclass(frozen=True, slots=True)
class Settled:
    """A receipt that is durable once the transaction is, and the changes to publish afterwards."""

    receipt: WriteReceipt
    decision: str
    timer: StepTimer
    changes: tuple[Change, ...] = ()


_ACTIONS = {
    Status.ACTIVE: "created",
    Status.PENDING_REVIEW: "pending_review",
    Status.SUPERSEDED: "superseded",
    Status.EXPIRED: "expired",
}


async def settle(unit: Unit, draft: Draft, memory_id: str) -> Settled | None:
    """Decide and write; None, with nothing written, if the draft was not made for the store's present space.

    The order is that of safety: answered before, identical, then the decision. Raises IdempotencyConflict, GateRefusal.
    """
    # The transaction may run again: each try notes its steps on a copy.
    tx, timer = unit.reads, draft.timer.fork()
    # First of all: a retry must get its receipt even if the state has changed since.
    if draft.request_key is not None and (receipt := await _find_answered(tx, draft, draft.request_key)) is not None:
        return Settled(receipt, "replayed", timer)
    same = await tx.find_fingerprint(draft.scope, draft.fingerprint)
    if same is not None and live(same, draft):
        decision = await confirm(tx, same, draft)
    # The store was switched to another embedding model meanwhile; the caller embeds again and retries.
    elif draft.space != await tx.space():
        return None
    else:
        decision = await decide(tx, draft, memory_id, timer)
        if same is not None:
            # It has expired and no job has removed it yet: it ends here, and the statement starts a new one.
            ended = same.next_version(draft.now, status=Status.EXPIRED)
            decision = replace(decision, replaced=(ended, *decision.replaced))
    return await pass_gate(unit, draft, await write_decision(unit, draft, decision, timer))


async def _find_answered(tx: Reads, draft: Draft, request_key: str) -> WriteReceipt | None:
    """Return the receipt of the same request answered before. Raises IdempotencyConflict for another one."""
    # Inside the transaction: two deliveries of one request at the same time cannot both find nothing.
    known = await tx.find_request(draft.scope.tenant, request_key)
    if known is None:
        return None
    digest, receipt = known
    # The same key for another request is a caller's mistake; answering with the old receipt would hide a lost write.
    if digest != draft.request_digest:
        raise IdempotencyConflict(hint="use a new idempotency key for a new request")
    return replace(decode_receipt(receipt), replayed=True)


async def write_decision(unit: Unit, draft: Draft, decision: Decision, timer: StepTimer) -> Settled:
    """Write the decision. Closed memories first: an active fingerprint is unique in its scope."""
    by = decision.memory.memory_id
    for memory in decision.replaced:
        # Still active: only its links to other memories have changed.
        action = _ACTIONS[memory.status] if memory.status is not Status.ACTIVE else "linked"
        await unit.apply(_mutation(draft, memory, action, by=by))
    await unit.apply(_decided_mutation(draft, decision))
    if draft.vaulted:
        await keep(unit, draft)
    # The embedder failed: a mark in the same transaction makes sure that the vector is added later.
    if draft.space is not None and decision.memory.vector is None:
        await leave(unit, draft, decision.memory)
    receipt = _receipt(draft, decision)
    if draft.request_key is not None:
        answered = AnsweredRequest(
            key=draft.request_key, digest=draft.request_digest, receipt=encode_receipt(receipt), at=draft.now
        )
        await unit.apply(Mutation(tenant=draft.scope.tenant, answered=answered))
    said = str(decision.outcome) if decision.reason is None else f"{decision.outcome}:{decision.reason}"
    return Settled(receipt, said, timer, tuple(unit.changes))


def _decided_mutation(draft: Draft, decision: Decision) -> Mutation:
    memory = decision.memory
    detail: dict[str, Any] = {"outcome": decision.outcome, "origin": draft.candidate.source.origin}
    if decision.reason:
        detail["reason"] = decision.reason
    if not decision.changed:
        return unchanged_line(draft, memory, **detail)
    if decision.outcome is Outcome.REFRESHED:
        return _mutation(draft, memory, "refreshed", **detail)
    detail |= {name: list(ids) for name in ("supersedes", "conflicts_with") if (ids := getattr(memory, name))}
    return _mutation(draft, memory, _ACTIONS[memory.status] if memory.version == 1 else "refreshed", **detail)


def _mutation(draft: Draft, memory: Memory, action: str, **detail: Any) -> Mutation:
    return Mutation.for_memory(memory, action, actor=draft.actor, at=draft.now, detail=detail)


def unchanged_line(draft: Draft, memory: Memory, **detail: Any) -> Mutation:
    """Return the line in the audit log for a write that changed nothing."""
    return Mutation.line(
        "refreshed", actor=draft.actor, at=draft.now, about=memory, detail={"agent": draft.actor.agent, **detail}
    )


def receipt_of(outcome: Outcome, memory: Memory, reason: str) -> WriteReceipt:
    """Return the receipt of the outcome for `memory` in its current state."""
    return WriteReceipt(
        outcome=outcome,
        memory_id=memory.memory_id,
        version=memory.version,
        key=memory.key,
        level=memory.scope.level,
        reason=reason,
    )


def blocked_receipt(candidate: Candidate, reason: str, timer: StepTimer | None = None) -> WriteReceipt:
    """Return the receipt of a write that ended, for this reason, before anything was stored."""
    return WriteReceipt(
        outcome=Outcome.BLOCKED,
        key=candidate.key,
        level=candidate.level,
        reason=reason,
        steps=timer.steps if timer else (),
        clamped=candidate.clamped,
        durable=False,
    )


def _receipt(draft: Draft, decision: Decision) -> WriteReceipt:
    closed = (memory.memory_id for memory in decision.replaced if memory.status is Status.SUPERSEDED)
    return WriteReceipt(
        outcome=decision.outcome,
        memory_id=decision.memory.memory_id,
        version=decision.memory.version,
        key=draft.candidate.key,
        level=draft.candidate.level,
        reason=decision.reason,
        superseded=tuple(closed),
        conflicts_with=decision.memory.conflicts_with if decision.outcome is Outcome.PENDING_REVIEW else (),
        clamped=draft.candidate.clamped,
        degraded=() if draft.space is None or decision.memory.vector else ("vector",),
    )


_LISTS = ("superseded", "conflicts_with", "clamped")
_PLAIN = ("memory_id", "version", "key", "level", "reason")


def encode_receipt(receipt: WriteReceipt) -> str:
    """Return the receipt as JSON, without its steps and without the parts that are valid only at the moment of the
    write.
    """
    # Empty fields are left out, so receipts written before a field existed are read like new ones.
    fields = {name: getattr(receipt, name) for name in (*_PLAIN, *_LISTS)}
    return json.dumps({"outcome": receipt.outcome, **{name: value for name, value in fields.items() if value}})


def decode_receipt(text: str) -> WriteReceipt:
    """Return the receipt of `encode_receipt`."""
    fields: dict[str, Any] = json.loads(text)
    fields |= {name: tuple(fields.get(name, ())) for name in _LISTS}
    return WriteReceipt(**fields | {"outcome": Outcome(fields["outcome"])})


Gate: TypeAlias = "Callable[[Reads, Candidate], Awaitable[str | None]]"
"""Check between write and commit: returns the reason to roll back, or None.

A gate may have a `make_room(unit, reason, *, spared)`: it removes one memory in this transaction, none of `spared`,
which may remove the reason, and returns whether it did.
"""


_ADDS_NOTHING = frozenset({Outcome.REFRESHED, Outcome.BLOCKED})


class GateRefusal(Exception):
    """The gate's reason; it undoes the transaction and never leaves the write path."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


async def pass_gate(unit: Unit, draft: Draft, settled: Settled) -> Settled:
    """Return `settled` if the gate has no objection; a duplicate adds nothing and passes. Raises GateRefusal."""
    gate = draft.gate
    if gate is None or settled.receipt.outcome in _ADDS_NOTHING:
        return settled
    receipt, make_room = settled.receipt, getattr(gate, "make_room", None)
    # An eviction must not remove the new memory or one that it refers to.
    spared = {receipt.memory_id or "", *receipt.superseded, *receipt.conflicts_with}
    known = len(unit.changes)
    # Several quotas may be exceeded, and one eviction may not be enough for any of them.
    while (reason := await gate(unit.reads, draft.candidate)) is not None:
        if make_room is None or not await make_room(unit, reason, spared=spared):
            raise GateRefusal(reason)
    return settled if len(unit.changes) == known else replace(settled, changes=tuple(unit.changes))
