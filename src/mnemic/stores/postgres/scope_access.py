"""Scopes that a write transaction has entered, its statements as steps, and the state that a group of writes shares."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from mnemic.errors import StoreCorrupt, VersionConflict
from mnemic.stores.codec import checked_marks
from mnemic.stores.postgres.audit_chain import UsageChanges
from mnemic.stores.postgres.connections import Session
from mnemic.stores.postgres.lru_mapping import LruMapping
from mnemic.stores.postgres.rows import ScopeState, Written, lock_of, lock_of_mark, place_of, storable
from mnemic.stores.postgres.statements import load
from mnemic.stores.scope_index import ScopeIndex
from mnemic.stores.transaction_work import Step
from mnemic.types import AuditEvent, Memory, OutboxEntry, Scope, VectorSpace

Insert = tuple[Written, tuple[Any, ...]]
"""Memory, not in the database yet and so without a row, and the values of its statement."""


class Look(Step[None]):
    """Step that says which fingerprint a member asks for next, so that the group can ask for those of all members."""

    __slots__ = ("fingerprint", "scope")

    def __init__(self, scope: Scope, fingerprint: str) -> None:
        super().__init__(_nothing)
        self.scope, self.fingerprint = scope, fingerprint


@dataclass(slots=True)
class GroupState:
    """State shared by the members of a group, which run one after the other inside one BEGIN and COMMIT. A write that
    is alone is not `grouped`.

    `changed` maps tenant and memory_id of each memory that earlier members wrote to its new state, None if it was
    removed; `known` are neighbours that were read; no other transaction can change them while the scope is locked;
    `indexes` are those loaded when the group began, `written` the entries they get once it is committed. `absent` are
    fingerprints that no active memory of their scope has, `marks` those that were read with a lock, which is kept until
    the commit; `asked_marks` has by scope the one that a write in it shared last. Lines, entries and counters wait for
    `finish`; `waiting` inserts of a group for that or for the next statement that could see them, all of one tenant.
    `spoiled`: an insert failed, with whichever member it was sent.
    """

    grouped: bool = False
    spoiled: bool = False
    asked_marks: LruMapping[Scope, str] | None = None
    space: VectorSpace | None = None
    places: dict[Scope, ScopeState | None] = field(default_factory=dict)
    indexes: dict[Scope, ScopeIndex | None] = field(default_factory=dict)
    changed: dict[tuple[str, str], Memory | None] = field(default_factory=dict)
    known: dict[tuple[str, str], Memory] = field(default_factory=dict)
    absent: set[tuple[Scope, str]] = field(default_factory=set)
    marks: dict[tuple[str, str], str | None] = field(default_factory=dict)
    waiting: list[Insert] = field(default_factory=list)
    written: dict[Scope, list[Written]] = field(default_factory=dict)
    events: dict[str, list[AuditEvent]] = field(default_factory=dict)
    entries: dict[str, list[OutboxEntry]] = field(default_factory=dict)
    used: UsageChanges = field(default_factory=UsageChanges)

    def likely_mark(self, scope: Scope) -> str | None:
        """Return the mark that a write which begins in `scope` will probably share."""
        return None if self.asked_marks is None or self.places else self.asked_marks.get(scope)

    def share_mark(self, tenant: str, name: str, value: str | None) -> None:
        """Note a mark that this transaction shares from now on."""
        first = next(iter(self.places), None)
        if self.asked_marks is not None and first is not None and first.tenant == tenant and not self.marks:
            self.asked_marks.put(first, name)
        self.marks[tenant, name] = value

    def wait(self, written: Written, values: tuple[Any, ...]) -> None:
        """Add an insert to those that wait."""
        self.absent.discard((written.memory.scope, written.memory.fingerprint))
        self.waiting.append((written, values))

    def taken(self) -> list[Insert]:
        """Return the inserts that waited, which are now sent. Until they are written, the group is spoiled."""
        inserts, self.waiting = self.waiting, []
        self.spoiled = self.spoiled or bool(inserts)
        return inserts

    def note_inserted(self, sent: Sequence[Written], rows: Sequence[Any]) -> None:
        """Note the rows that these memories were given. Raises VersionConflict unless each has one."""
        if len(rows) != len(sent):
            raise VersionConflict
        self.spoiled = False
        for written, row in zip(sent, rows, strict=True):
            self.written.setdefault(written.memory.scope, []).append(written._replace(row=row))


async def _nothing() -> None:
    """Ask the database nothing."""


_WRITING = load("writing")


class ScopeAccess:
    """A session inside BEGIN and COMMIT. The first access to a scope takes its lock. Inserts of a group wait until a
    statement could see them.
    """

    def __init__(self, session: Session, common: GroupState) -> None:
        self._session: Session | None = session
        self._common = common

    def end(self) -> None:
        """Refuse every further call: the transaction is over."""
        self._session = None

    async def look(self, scope: Scope, fingerprints: Sequence[str]) -> None:
        """Lock the scope and note which of these fingerprints no active memory in it has."""
        place = await self._lock(scope)
        asked = storable(fingerprints)
        rows = await self._rows("known_fingerprints", scope.tenant, place.scope_id, asked) if place is not None else []
        self._common.absent |= {(scope, one) for one in set(asked) - {row["fingerprint"] for row in rows}}

    async def _place(self, scope: Scope) -> ScopeState:
        """Return the scope, which gets its number with its first memory."""
        place = await self._lock(scope)
        if place is None:
            rows = await self._rows("make_scope", *place_of(scope))
            place = self._common.places[scope] = ScopeState(*rows[0])
        return place

    async def _lock(self, scope: Scope) -> ScopeState | None:
        """Return the scope in its state when this transaction first accessed and so locked it; None while it has no
        number.
        """
        if scope in self._common.places:
            await self._enter(scope.tenant)
        else:
            await self._begin(scope, "")
        return self._common.places[scope]

    async def _begin(self, scope: Scope, fingerprint: str) -> Any:
        """Lock the scope and read it: its row, with the active memory of that fingerprint."""
        await self._flush()
        name = self._common.likely_mark(scope)
        mark = None if name is None else (name, lock_of_mark(scope.tenant, name))
        enter = partial(self._open.enter_writing, *place_of(scope), fingerprint, lock=lock_of(scope), mark=mark)
        row = await Step(enter)
        if name is not None:
            found = [] if row["mark"] is None else [(row["mark"], row["mark_value"], row["mark_checksum"])]
            with suppress(StoreCorrupt):  # reported where the write asks for it
                self._common.marks[scope.tenant, name] = checked_marks(found).get(name)
        self._common.space = VectorSpace(model=row["model"], dimension=row["dimension"])
        self._common.places[scope] = (
            None if row["scope_id"] is None else ScopeState(*(row[name] for name in ScopeState._fields))
        )
        return row

    async def _flush(self) -> None:
        """Write the inserts that wait. Raises VersionConflict if an identifier or a fingerprint is taken."""
        if inserts := self._common.taken():
            ask = partial(self._open.fetch_each, _WRITING["insert"], [values for _, values in inserts])
            self._common.note_inserted([memory for memory, _ in inserts], await Step(ask))

    async def _enter(self, tenant: str) -> None:
        if self._common.waiting and tenant != self._common.waiting[0][0].memory.scope.tenant:
            await self._flush()
        await Step(partial(self._open.enter, tenant))

    async def _rows(self, name: str, *values: Any) -> list[Any]:
        return await self._ask(_WRITING[name], *values)

    async def _ask(self, statement: str, *values: Any) -> list[Any]:
        await self._flush()
        rows: list[Any] = await Step(partial(self._open.fetch, statement, *values))
        return rows

    async def _plain(self, name: str, *values: Any) -> list[Any]:
        """Return the rows of a statement that concerns no memory, so that inserts need not be written before it."""
        rows: list[Any] = await Step(partial(self._open.fetch, _WRITING[name], *values))
        return rows

    @property
    def _open(self) -> Session:
        if self._session is None:
            raise RuntimeError("the transaction is over")
        return self._session
