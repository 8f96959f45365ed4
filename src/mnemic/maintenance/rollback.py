"""Rollback to an earlier version: the memory gets its former content, and the memory that had replaced it ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mnemic.errors import InvalidInput, MemoryNotFound, VersionConflict
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
