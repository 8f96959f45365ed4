"""Unit of work: one transaction of a record store, with one method that writes.

Every change of a store passes `commit`, and inside it `Unit.apply`: a row, its version, its line in the audit log and
its entry in the outbox are written together or not at all. No other module opens a transaction
(tests/architecture/test_single_writer.py).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from mnemic.ports.record_store import BatchedTransactions
from mnemic.types import Actor, AuditEvent, Change, Deadline, JsonValue, Memory, OutboxEntry, Scope, Status

if TYPE_CHECKING:
    from mnemic.ports import Reads, RecordStore, Transaction

T = TypeVar("T")
# A mutation without an action writes no line, so its time is never read.
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnsweredRequest:
    """An idempotency key, the digest of the request made under it, and the receipt (JSON) that answered it."""

    key: str
    digest: str
    receipt: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenRequests:
    """Stored answers to delete: those that name one of `memory_ids`, and those under the keys of `owner`."""

    memory_ids: Collection[str] = ()
    owner: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """One change, complete with its line in the audit log and its entry in the outbox.

    At most one of `insert` (version 1), `replace` (the next version) and `remove` names a memory; `was` is its status
    before. `marks` are put under these names in `marks_of` (default: `tenant`); None removes one. `outbox` are entries
    beyond that of the memory; `copied` are lines of another store's audit, appended as they are. Without an `action`,
    which needs `actor` and `at`, no line is written: another mutation of the same transaction reports the change.
    """

    tenant: str
    action: str | None = None
    actor: str = ""
    at: datetime = _NEVER
    detail: Mapping[str, JsonValue] = field(default_factory=dict)
    insert: Memory | None = None
    replace: Memory | None = None
    remove: Memory | None = None
    was: Status | None = None
    silent: bool = False
    marks: Mapping[str, str | None] = field(default_factory=dict)
    marks_of: str | None = None
    answered: AnsweredRequest | None = None
    outbox: Sequence[OutboxEntry] = ()
    about: Memory | None = None
    copied: Sequence[AuditEvent] = ()

    @classmethod
    def for_memory(
        cls,
        memory: Memory,
        action: str | None,
        *,
        actor: Actor,
        at: datetime,
        detail: Mapping[str, JsonValue] | None = None,
        was: Status | None = None,
        silent: bool = False,
    ) -> Mutation:
        """Return the mutation that writes `memory`: inserted in its first version, else replacing the one before.

        `silent`: projections are not notified.
        """
        # The version decides, not the caller: no store can be asked to insert a memory that exists.
        first = memory.version == 1
        return cls(
            tenant=memory.scope.tenant,
            at=at,
            actor=actor.user,
            action=action,
            detail={"agent": actor.agent, **(detail or {})},
            insert=memory if first else None,
            replace=None if first else memory,
            was=was,
            silent=silent,
        )

    @classmethod
    def removal(
        cls,
        memory: Memory,
        action: str | None,
        *,
        actor: Actor,
        at: datetime,
        detail: Mapping[str, JsonValue] | None = None,
        silent: bool = False,
    ) -> Mutation:
        """Return the mutation that deletes `memory` with all its versions."""
        return cls(
            tenant=memory.scope.tenant,
            at=at,
            actor=actor.user,
            action=action,
            detail=detail or {},
            remove=memory,
            silent=silent,
        )

    @classmethod
    def line(
        cls,
        action: str,
        *,
        actor: Actor,
        at: datetime,
        about: Memory | None = None,
        detail: Mapping[str, JsonValue] | None = None,
        marks: Mapping[str, str | None] | None = None,
    ) -> Mutation:
        """Return a line for the audit log of the actor's tenant, `about` one memory if given, and `marks` with it."""
        return cls(
            tenant=actor.tenant,
            at=at,
            actor=actor.user,
            action=action,
            detail=detail or {},
            about=about,
            marks=marks or {},
        )

    @property
    def memory(self) -> Memory | None:
        """The memory that this writes or removes."""
        return self.insert or self.replace or self.remove

    def event(self) -> AuditEvent | None:
        """Return the line in the audit log."""
        if self.action is None:
            return None
        named = self.memory or self.about
        return AuditEvent(
            tenant=self.tenant,
            action=self.action,
            at=self.at,
            actor=self.actor,
            scope=None if named is None else named.scope,
            memory_id=None if named is None else named.memory_id,
            version=None if named is None else named.version,
            detail=self.detail,
        )

    def entry(self) -> OutboxEntry | None:
        """Return the outbox entry about the memory for the projections, which contain active memories only."""
        if self.silent:
            return None
        if self.remove is not None:
            return OutboxEntry.for_memory(self.remove, "remove")
        memory = self.insert or self.replace
        if memory is None or memory.status is Status.ACTIVE:
            return None if memory is None else OutboxEntry.for_memory(memory)
        # A projection contains active memories only, so a memory that was never active has nothing to remove there.
        was_shown = self.was is Status.ACTIVE if self.was is not None else self.replace is not None
        return OutboxEntry.for_memory(memory) if was_shown and memory.status is not Status.PENDING_REVIEW else None


class Unit:
    """An open transaction: `reads` sees the store with the changes of this transaction; `apply` writes."""

    __slots__ = ("_tx", "changes", "reads")

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self.reads: Reads = tx
        self.changes: list[Change] = []
        """Changes that projections receive once the transaction is committed."""

    async def apply(self, mutation: Mutation) -> bool:
        """Write the mutation; False, writing nothing, if a memory to remove is gone. Raises VersionConflict."""
        tx = self._tx
        # The memory comes first: a lost race for its version raises here, before anything else of the mutation is
        # written.
        if mutation.insert is not None:
            await tx.insert(mutation.insert)
        elif mutation.replace is not None:
            await tx.replace(mutation.replace)
        elif mutation.remove is not None and not await tx.remove(
            mutation.remove.memory_id, scope=mutation.remove.scope
        ):
            return False
        # Marks belong to the same transaction. A job that has recorded its progress has also done the work, and the
        # reverse.
        for name, value in mutation.marks.items():
            await tx.put_mark(mutation.marks_of or mutation.tenant, name, value)
        # The receipt is stored with the change that it reports: a retry after a crash finds either both or neither.
        if (answered := mutation.answered) is not None:
            await tx.remember_request(mutation.tenant, answered.key, answered.digest, answered.receipt, answered.at)
        if (event := mutation.event()) is not None:
            await tx.append_audit(event)
        # Collected for the projections, which are informed after the commit; changes they miss then, they fetch from
        # the outbox.
        if (entry := mutation.entry()) is not None:
            await tx.enqueue(entry)
            self.changes.append(Change(entry=entry, memory=None if mutation.remove else mutation.memory))
        # After the own line: a migration copies lines of the source in their order.
        for line in mutation.copied:
            await tx.append_audit(line)
        for further in mutation.outbox:
            await tx.enqueue(further)
        return True

    async def disown(self, tenant: str, disowned: ForgottenRequests) -> int:
        """Delete stored answers; return the number deleted."""
        return await self._tx.remove_requests(tenant, disowned.memory_ids, owner=disowned.owner)


async def commit(
    store: RecordStore,
    work: Callable[[Unit], Awaitable[T]],
    *,
    deadline: Deadline | None = None,
    scope: Scope | None = None,
) -> T:
    """Run `work` in one transaction and commit it; `RecordStore.transact` lists its obligations and errors. Writes that
    begin in the same `scope` may share a commit.
    """
    return await store.transact(_in_unit(work), deadline=deadline, scope=scope)


async def commit_each(
    store: RecordStore,
    works: Sequence[Callable[[Unit], Awaitable[T]]],
    *,
    scopes: Sequence[Scope],
    deadline: Deadline | None = None,
) -> list[T | BaseException]:
    """Run and commit each of `works`, which begin in these scopes, as `commit` does; return the result of each, or its
    error.
    """
    if len(works) > 1 and isinstance(store, BatchedTransactions):
        return await store.transact_each([_in_unit(work) for work in works], deadline=deadline, scopes=scopes)
    each = [commit(store, work, deadline=deadline, scope=scope) for work, scope in zip(works, scopes, strict=True)]
    if len(each) > 1 and store.capabilities.grouped:
        return await asyncio.gather(*each, return_exceptions=True)
    ended: list[T | BaseException] = []
    for one in each:
        # A store within the process ends a transaction without waiting: others would wait for the whole batch.
        if len(each) > 1:
            await asyncio.sleep(0)
        try:
            ended.append(await one)
        except Exception as error:  # noqa: BLE001  (the caller gets it)
            ended.append(error)
    return ended


def _in_unit(work: Callable[[Unit], Awaitable[T]]) -> Callable[[Transaction], Awaitable[T]]:
    return lambda tx: work(Unit(tx))


async def commit_decided(store: RecordStore, decide: Callable[[Reads], Awaitable[tuple[T, Sequence[Mutation]]]]) -> T:
    """Commit the mutations that `decide` returns with its result, in the transaction that it reads in."""

    async def work(unit: Unit) -> T:
        result, mutations = await decide(unit.reads)
        for mutation in mutations:
            await unit.apply(mutation)
        return result

    return await commit(store, work)


async def apply(store: RecordStore, mutation: Mutation) -> bool:
    """Commit one mutation in a separate transaction."""
    return await commit(store, lambda unit: unit.apply(mutation))
