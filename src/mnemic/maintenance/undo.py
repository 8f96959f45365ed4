"""Ways back: undo of a replacement, and rollback to an earlier version.

Undo takes back a merge, a new value under a key, an approval. The memories that were replaced are active again, with
their previous validity. The replacing memory ends as `rejected` if it contains nothing but their statements: nothing
else was ever true. If it adds words of a draft that a merge had put first, it stays beside them; if it had awaited
review, it waits again.

After a rollback the memory has its former content, and the memory that had replaced it ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from mnemic.errors import InvalidInput, MemoryNotFound, VersionConflict
from mnemic.policy.expiry_rule import bounded_expiry
from mnemic.policy.key_rules import Policy
from mnemic.ports import Clock, RecordStore
from mnemic.reason_codes import LOWER_TRUST
from mnemic.retrieve.export import accepted_memories
from mnemic.types import Actor, Memory, Outcome, Scope, Status, Where, WriteReceipt
from mnemic.types.memory_kinds import TRUST
from mnemic.unit_of_work import Mutation, Unit, commit
from mnemic.write.commit import Gate, GateRefusal, receipt_of
from mnemic.write.decide import close_memory
from mnemic.write.draft import Draft
from mnemic.write.missing_vectors import require_present
from mnemic.write.revise import AuditedWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoReceipt:
    """Result for the memory (`status`, in its `version`), and the memories that are active again. Not restored:
    memories forgotten since, and statements that another active memory makes by now.
    """

    memory_id: str
    version: int
    status: Status
    restored: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reversal:
    """Plan of an undo: the memory it ends, the status this gets, the versions of each that it had replaced, and the
    policy that bounds how long they are stored.
    """

    known: Memory
    policy: Policy
    status: Status
    earlier: Mapping[str, Sequence[Memory]]

    @property
    def restored(self) -> list[Memory]:
        """The memories that will be active again, as they are now."""
        return [past[-1] for past in self.earlier.values()]


async def reversal(store: RecordStore, memory_id: str, *, scopes: Sequence[Scope], policy: Policy) -> Reversal:
    """Return the plan for taking back the replacement of the active memory. Raises MemoryNotFound, InvalidInput
    (`undo:nothing_replaced`).
    """
    versions = await store.versions(memory_id, scopes=scopes)
    if not versions or versions[-1].status is not Status.ACTIVE:
        raise MemoryNotFound
    known = versions[-1]
    replaced = {one: await store.versions(one, scopes=[known.scope]) for one in known.supersedes}
    earlier = {one: past for one, past in replaced.items() if past and past[-1].status is Status.SUPERSEDED}
    if not earlier:
        raise InvalidInput(
            "undo:nothing_replaced",
            hint="it replaced no other memory that is still there; rollback takes back an update",
        )
    status = _status_after(versions, [past[-1] for past in earlier.values()], policy)
    return Reversal(known=known, policy=policy, status=status, earlier=earlier)


async def undo(store: RecordStore, clock: Clock, planned: Reversal, *, actor: Actor) -> UndoReceipt:
    """Restore the memories that the active memory replaced; see the module. Raises VersionConflict if it is being
    changed.
    """
    steward = AuditedWriter(actor, clock.now())
    known, earlier = planned.known, planned.earlier

    async def work(unit: Unit) -> UndoReceipt:
        present = await unit.reads.get(known.memory_id, scopes=[known.scope])
        if present is None or present.version != known.version:
            raise VersionConflict
        waits = planned.status is Status.PENDING_REVIEW
        ended = await steward.change(
            unit,
            present,
            "undone",
            detail={"restoring": list(earlier)},
            status=planned.status,
            supersedes=(),
            conflicts_with=tuple(earlier) if waits else present.conflicts_with,
        )
        restored = [one for one, past in earlier.items() if await _restore_past(unit, steward, past, planned)]
        return UndoReceipt(
            memory_id=known.memory_id, version=ended.version, status=planned.status, restored=tuple(restored)
        )

    return await commit(store, work)


def _status_after(versions: Sequence[Memory], replaced: Sequence[Memory], policy: Policy) -> Status:
    known = versions[-1]
    if versions[0].status is Status.PENDING_REVIEW:
        return Status.PENDING_REVIEW
    said = {line for one in replaced for line in one.content.splitlines()}
    repeats = all(line in said for line in known.content.splitlines())
    single = known.key is not None and policy.rule(known.key).on_change != "accumulate"
    return Status.REJECTED if repeats or single else Status.ACTIVE


async def _restore_past(unit: Unit, steward: AuditedWriter, past: Sequence[Memory], planned: Reversal) -> bool:
    """Make the last of these versions active again, true until when it was before; return False if it is not."""
    closed = await unit.reads.get(past[-1].memory_id, scopes=[past[-1].scope])
    if closed is None or closed.version != past[-1].version:
        raise VersionConflict
    if await unit.reads.find_fingerprint(closed.scope, closed.fingerprint) is not None:
        return False
    await steward.change(
        unit,
        closed,
        "restored",
        detail={"from": planned.known.memory_id},
        status=Status.ACTIVE,
        valid_to=_end_before(past),
        expires_at=bounded_expiry(closed, planned.policy, now=steward.now),
    )
    return True


def _end_before(past: Sequence[Memory]) -> datetime | None:
    """Return its own end before it was replaced. An original that was never active ended as written."""
    if len(past) > 1:
        return past[-2].valid_to
    return None if past[0].valid_to == past[0].created_at else past[0].valid_to


_PRESENT = (Status.ACTIVE, Status.SUPERSEDED)


async def chosen(store: RecordStore, memory_id: str, version: int, *, scopes: Sequence[Scope]) -> tuple[Memory, Memory]:
    """Return the current memory, and the version to restore.

    Only a version that was once active counts: one that awaited review, was rejected or had expired cannot be restored.
    Raises MemoryNotFound, InvalidInput (`version`).
    """
    if isinstance(version, bool) or not isinstance(version, int):
        raise InvalidInput("version", hint="a whole number from 1")
    versions = await store.versions(memory_id, scopes=scopes)
    if not versions or versions[-1].status not in _PRESENT:
        raise MemoryNotFound
    target = next((one for one in versions if one.version == version), None)
    if target is None or target.status is not Status.ACTIVE:
        raise InvalidInput("version", hint="no version of this number was ever in force")
    return versions[-1], target


async def successors(store: RecordStore, memory: Memory) -> list[Memory]:
    """Return the active memories of its scope that took its place, directly or over others."""
    where = Where(scopes=(memory.scope,), statuses=frozenset(_PRESENT))
    found = [one async for one in accepted_memories(store, where) if one.supersedes]
    line, grew = {memory.memory_id}, True
    while grew:
        more = {one.memory_id for one in found if not line.isdisjoint(one.supersedes)} - line
        line, grew = line | more, bool(more)
    return [one for one in found if one.memory_id in line and one.status is Status.ACTIVE]


async def roll_back(
    store: RecordStore,
    clock: Clock,
    known: Memory,
    target: Memory,
    draft: Draft,
    *,
    actor: Actor,
    gate: Gate | None = None,
) -> WriteReceipt:
    """Restore the content of `target` as the next version of `known`, and close the memory that had replaced it.

    `draft` has the vector and the fingerprint of that content. Origin and trust are those of the version. Raises
    VersionConflict if the memory has changed since, or another one has the content by now; Refused (`lower_trust`) if
    the actor's channel has less trust than the memory to close. Repeating it changes nothing (`refreshed`).
    """
    ended = [one for one in await successors(store, known) if one.memory_id != known.memory_id]
    now = clock.now()

    async def work(unit: Unit) -> WriteReceipt:
        tx = unit.reads
        present = await tx.get(known.memory_id, scopes=[known.scope])
        if present is None or present.version != known.version:
            raise VersionConflict(hint="it has changed meanwhile")
        if _says(present, target, draft):
            return receipt_of(Outcome.REFRESHED, present, "unchanged")
        await require_present(tx, draft)
        found = [await tx.get(one.memory_id, scopes=[one.scope]) for one in ended]
        closing = [one for one in found if one is not None and one.status is Status.ACTIVE]
        if any(one.trust > TRUST[actor.channel] for one in closing):
            raise GateRefusal(LOWER_TRUST)
        for one in closing:
            over = close_memory(one, now, now)
            await unit.apply(
                Mutation.for_memory(over, "superseded", actor=actor, at=now, detail={"by": known.memory_id})
            )
        back = _restored_version(present, target, draft)
        detail = {"to_version": target.version}
        await unit.apply(Mutation.for_memory(back, "rolled_back", actor=actor, at=back.updated_at, detail=detail))
        if gate is not None and (reason := await gate(tx, draft.candidate)) is not None:
            raise GateRefusal(reason)
        ids = tuple(one.memory_id for one in closing)
        return replace(receipt_of(Outcome.SUPERSEDED, back, "rolled_back"), superseded=ids)

    return await commit(store, work)


def _says(present: Memory, target: Memory, draft: Draft) -> bool:
    """Return True if it already has the content to restore: a second delivery of the same request."""
    same = (present.fingerprint, present.valid_to, present.data) == (draft.fingerprint, target.valid_to, target.data)
    return same and present.status is Status.ACTIVE


def _restored_version(present: Memory, target: Memory, draft: Draft) -> Memory:
    said = ("content", "context", "data", "source", "category", "confidence", "trust", "author")
    return present.next_version(
        draft.now,
        **{name: getattr(target, name) for name in said},
        occurred_at=target.occurred_at,
        valid_from=target.valid_from,
        valid_to=target.valid_to,
        status=Status.ACTIVE,
        expires_at=draft.keeping(present),
        fingerprint=draft.fingerprint,
        vector=draft.vector,
    )
