"""Review queue: memories that wait for a person, and the decisions on them.

Users decide on statements about themselves; everything else needs a person other than the proposer. A user's statement
at a shared level is visible at once and waits, too: approval makes the others trust it. Each decision is one
transaction with its line in the audit log; memories that an approval replaces are closed, never lost.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from mnemic.errors import MemoryNotFound, MnemicError, ReviewDenied, StoreFailed, VersionConflict
from mnemic.maintenance.reports import ReviewOutcome
from mnemic.policy.expiry_rule import bounded_expiry
from mnemic.policy.key_rules import Policy
from mnemic.ports import Clock, Reads, RecordStore
from mnemic.reason_codes import DUPLICATE
from mnemic.types import (
    SHARED,
    Actor,
    Level,
    Memory,
    Origin,
    Outcome,
    Scope,
    Status,
    Trust,
    Where,
    WriteReceipt,
)
from mnemic.types.memory_kinds import CATALOG
from mnemic.unit_of_work import Unit, commit
from mnemic.write.commit import Gate, GateRefusal, receipt_of
from mnemic.write.decide import superseded_fields
from mnemic.write.draft import Draft, starts_at
from mnemic.write.missing_vectors import require_present
from mnemic.write.revise import AuditedWriter, candidate_of
from mnemic.write.tokenisation import keep

_PENDING = frozenset({Status.PENDING_REVIEW})
_WAITING = frozenset({Status.PENDING_REVIEW, Status.ACTIVE})
_OWN_WORDS = frozenset({Origin.USER_STATED, Origin.IMPORT})
PERSONS = frozenset({Origin.USER_STATED, Origin.OPERATOR})


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingReview:
    """A memory that awaits review, the memories it contradicts, its waiting time, and its proposer."""

    memory: Memory
    against: tuple[Memory, ...]
    age: timedelta
    proposer: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Decision of a reviewer. `draft`: the corrected statement, ready to be stored. `merged_with`: active memories of
    the same scope that the approved one replaces, in addition to those it contradicted.
    """

    memory_id: str
    draft: Draft | None = None
    merged_with: tuple[str, ...] = ()
    expected_version: int | None = None


async def waiting(
    store: RecordStore,
    clock: Clock,
    *,
    tenant: str,
    scopes: Sequence[Scope] | None,
    shared: Sequence[Scope] = (),
    limit: int,
    after: str | None = None,
    older_than: timedelta | None = None,
) -> list[PendingReview]:
    """Return the queue, oldest first; of `scopes`, or of the whole tenant for None. `after` ends the previous page.

    Of the scopes `shared`, it includes memories that are visible but not trusted yet (`is_unapproved`).
    """
    if scopes is None:
        pending = await store.scan(tenant, statuses=_PENDING, after=after, limit=limit)
    else:
        pending = await _newest(store, Where(scopes=tuple(scopes), statuses=_PENDING))
    if shared:
        pending += [one for one in await _newest(store, Where(scopes=tuple(shared))) if is_unapproved(one)]
    pending = sorted((one for one in pending if after is None or one.memory_id > after), key=_by_id)[:limit]
    now = clock.now()
    found = []
    for memory in pending:
        if older_than is None or now - memory.created_at >= older_than:
            known = await store.get_many(memory.conflicts_with, scopes=[memory.scope])
            against = tuple(one for one in known.values() if one.status is Status.ACTIVE)
            found.append(
                PendingReview(memory=memory, against=against, age=now - memory.created_at, proposer=memory.author)
            )
    return found


def _by_id(memory: Memory) -> str:
    return memory.memory_id


async def _newest(store: RecordStore, where: Where) -> list[Memory]:
    return await store.newest(where, limit=await store.count(where))


def is_unapproved(memory: Memory) -> bool:
    """Return True if others read the memory, and trust it less than the channel that it came through."""
    return (
        memory.status is Status.ACTIVE
        and memory.scope.level in SHARED
        and memory.source.origin in _OWN_WORDS
        and memory.trust < Trust.HIGH
    )


def _waits(memory: Memory) -> bool:
    return memory.status is Status.PENDING_REVIEW or is_unapproved(memory)


async def find(store: RecordStore, memory_id: str, *, tenant: str, scopes: Sequence[Scope] | None) -> Memory:
    """Return the waiting memory of this id, in `scopes` or, for None, anywhere in the tenant. Raises MemoryNotFound."""
    if scopes is not None:
        memory = await store.get(memory_id, scopes=scopes)
    else:
        page = await store.scan(tenant, statuses=_WAITING, memory_ids=[memory_id], limit=1)
        memory = page[0] if page else None
    if memory is None or not _waits(memory):
        raise MemoryNotFound
    return memory if memory.author is not None else replace(memory, author=await _proposer(store, memory))


async def _proposer(store: RecordStore, memory: Memory) -> str | None:
    """Look up the proposer in the audit log if the memory does not name one."""
    # Few memories name no author, so that reading the audit is good enough.
    after = 0
    while page := await store.audit(memory.scope.tenant, after=after):
        for event in page:
            if event.memory_id == memory.memory_id and event.action == "pending_review":
                return event.actor
        after = page[-1].sequence
    return None


async def approve(
    store: RecordStore,
    clock: Clock,
    known: Memory,
    verdict: Verdict,
    *,
    reviewer: Actor,
    policy: Policy,
    gate: Gate | None = None,
) -> WriteReceipt:
    """Activate the waiting memory and close the memories it replaces: those it contradicts, those in `merged_with`, and
    under a single-valued key the other values.

    Its time to live starts at the approval. A statement that is stored by then is not added again: outcome `refreshed`.
    Raises ReviewDenied (`require_reviewer`), MemoryNotFound, VersionConflict, or Refused by the `gate`.
    """
    require_reviewer(known, reviewer, policy)
    steward = AuditedWriter(reviewer, clock.now())

    async def work(unit: Unit) -> WriteReceipt:
        tx = unit.reads
        pending = await _present(tx, known, verdict.expected_version)
        chosen = _apply_correction(pending, verdict.draft)
        twin = await tx.find_fingerprint(pending.scope, chosen.fingerprint)
        others = (pending.memory_id, *pending.conflicts_with, *verdict.merged_with)
        # The statement has become known in another way since: approving it would store it twice.
        if twin is not None and twin.memory_id not in others:
            await steward.change(unit, pending, "rejected", detail={"reason": DUPLICATE}, status=Status.REJECTED)
            return receipt_of(Outcome.REFRESHED, twin, DUPLICATE)
        replaced = await _replaced_memories(tx, pending, verdict.merged_with, policy)
        if verdict.draft is not None:
            await require_present(tx, verdict.draft)
            await keep(unit, verdict.draft)
        ends = bounded_expiry(_restart_expiry(pending, steward.now), policy, now=steward.now)
        chosen = replace(chosen, expires_at=ends)
        receipt = await _approve_pending(unit, steward, pending, chosen, replaced, merged=bool(verdict.merged_with))
        # Last, because the gate judges the state after the approval; its refusal undoes the transaction.
        if gate is not None and (reason := await gate(tx, candidate_of(chosen))) is not None:
            raise GateRefusal(reason)
        return receipt

    return await commit(store, work)


def require_reviewer(known: Memory, reviewer: Actor, policy: Policy) -> None:
    """Raise ReviewDenied if the reviewer's channel is not a person's own, as a model's is not (`channel`), or the
    reviewer proposed the memory (`proposer`), unless it is a statement about themself.
    """
    if reviewer.channel not in PERSONS:
        raise ReviewDenied("channel", hint="a person has to review it")
    if known.author == reviewer.user and not _own(known, reviewer, policy):
        raise ReviewDenied("proposer", hint="another person has to review it")


def _own(known: Memory, reviewer: Actor, policy: Policy) -> bool:
    """Return True if it is the reviewer's own statement or import, at their own level, under no sensitive key."""
    rule = None if known.key is None else policy.rule(known.key)
    return (
        (known.scope.level, known.scope.owner) == (Level.USER, reviewer.user)
        and known.source.origin in _OWN_WORDS
        and not CATALOG[known.kind].reviewed
        and (rule is None or not rule.sensitive)
    )


async def reject(
    store: RecordStore, clock: Clock, known: Memory, *, reviewer: Actor, reason: str = "rejected"
) -> WriteReceipt:
    """Reject the waiting memory, which was never visible. `reason` is a code, never free text. Its proposer may call
    this too: withdrawing a proposal needs no second person.
    """
    steward = AuditedWriter(reviewer, clock.now())

    async def work(unit: Unit) -> WriteReceipt:
        pending = await _present(unit.reads, known, None)
        ended = await steward.change(unit, pending, "rejected", detail={"reason": reason}, status=Status.REJECTED)
        return receipt_of(Outcome.BLOCKED, ended, reason)

    return await commit(store, work)


async def _present(tx: Reads, known: Memory, expected_version: int | None) -> Memory:
    memory = await tx.get(known.memory_id, scopes=[known.scope])
    if memory is None or not _waits(memory):
        raise MemoryNotFound
    if memory.version != (expected_version or known.version):
        raise VersionConflict(hint=f"it is at version {memory.version}")
    return memory


async def _approve_pending(
    unit: Unit, steward: AuditedWriter, pending: Memory, chosen: Memory, replaced: Sequence[Memory], *, merged: bool
) -> WriteReceipt:
    ids = tuple(memory.memory_id for memory in replaced)
    for memory in replaced:
        ended = superseded_fields(memory, starts_at(chosen))
        await steward.change(unit, memory, "superseded", detail={"by": pending.memory_id}, **ended)
    data: dict[str, Any] = {}
    for memory in (*(replaced if merged else ()), chosen):
        data |= memory.data
    action = "merged" if merged else "approved"
    supersedes = (*pending.supersedes, *ids)
    active = await steward.change(
        unit,
        pending,
        action,
        detail={"supersedes": list(supersedes)} if supersedes else {},
        **{name: getattr(chosen, name) for name in ("content", "context", "source", "fingerprint", "vector")},
        data=data,
        author=chosen.author,
        # An approval never makes a statement less trusted than those that it replaces.
        trust=Trust(max(*(memory.trust for memory in (pending, *replaced)), _vouched_trust(chosen))),
        status=Status.ACTIVE,
        expires_at=chosen.expires_at,
        supersedes=supersedes,
        conflicts_with=(),
    )
    outcome = Outcome.MERGED if merged else Outcome.SUPERSEDED if ids else Outcome.CREATED
    return replace(receipt_of(outcome, active, action), superseded=ids)


def _vouched_trust(chosen: Memory) -> Trust:
    """Return the trust of an approved memory: high at a shared level, if another person has vouched for it."""
    return Trust.HIGH if chosen.scope.level in SHARED else chosen.trust


def _restart_expiry(pending: Memory, now: datetime) -> Memory:
    """Return the memory with a time to live that begins at `now`."""
    ends = None if pending.expires_at is None else now + (pending.expires_at - pending.created_at)
    return replace(pending, expires_at=ends)


def _apply_correction(pending: Memory, draft: Draft | None) -> Memory:
    """`pending` in the reviewer's words, if there are any."""
    if draft is None:
        return pending
    candidate = draft.candidate
    return replace(
        pending,
        content=candidate.content,
        context=candidate.context,
        data=candidate.data,
        source=candidate.source,
        fingerprint=draft.fingerprint,
        vector=draft.vector,
        trust=draft.trust,
        author=draft.actor.user,
    )


async def _replaced_memories(tx: Reads, pending: Memory, merged_with: Sequence[str], policy: Policy) -> list[Memory]:
    """Return the active memories that give way. Raises MemoryNotFound for one of `merged_with` that is not there."""
    found: dict[str, Memory] = {}
    for memory_id in (*merged_with, *pending.conflicts_with):
        memory = await tx.get(memory_id, scopes=[pending.scope])
        if memory is not None and memory.status is Status.ACTIVE:
            found[memory_id] = memory
        elif memory_id in merged_with:
            raise MemoryNotFound
    if pending.key is not None and policy.rule(pending.key).on_change != "accumulate":
        for memory in await tx.find_key(pending.scope, pending.key):
            if memory.kind is pending.kind and memory.memory_id != pending.memory_id:
                found[memory.memory_id] = memory
    return list(found.values())


async def decide_each(
    memory_ids: Sequence[str], decide: Callable[[str], Awaitable[WriteReceipt]]
) -> Sequence[ReviewOutcome]:
    """Decide on each of these; a failed one reports its reason and does not stop the others. Raises StoreFailed;
    earlier decisions stay.
    """
    done = []
    for memory_id in memory_ids:
        try:
            receipt = await decide(memory_id)
        except StoreFailed:
            raise
        except MnemicError as error:
            done.append(ReviewOutcome(memory_id=memory_id, reason=error.reason))
        else:
            done.append(ReviewOutcome(memory_id=memory_id, receipt=receipt, reason=receipt.reason))
    return done
