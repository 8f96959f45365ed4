"""Undo of a replacement: a merge, a new value under a key, an approval.

The memories that were replaced are active again, with their previous validity. The replacing memory ends as `rejected`
if it contains nothing but their statements: nothing else was ever true. If it adds words of a draft that a merge had
put first, it stays beside them; if it had awaited review, it waits again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from mnemic.errors import InvalidInput, MemoryNotFound, VersionConflict
from mnemic.policy.expiry_rule import bounded_expiry
from mnemic.policy.key_rules import Policy
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Memory, Scope, Status
from mnemic.unit_of_work import Unit, commit
from mnemic.write.audited_changes import AuditedWriter


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
