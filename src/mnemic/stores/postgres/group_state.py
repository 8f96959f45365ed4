"""State that the writes of one group share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from mnemic.errors import VersionConflict
from mnemic.stores.postgres.audit_chain import UsageChanges
from mnemic.stores.postgres.lru_mapping import LruMapping
from mnemic.stores.postgres.rows import ScopeState, Written
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
