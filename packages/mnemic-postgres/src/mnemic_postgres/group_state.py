"""State that the writes of one group share."""

from __future__ import annotations

from dataclasses import dataclass, field

from mnemic.types import AuditEvent, Memory, OutboxEntry, Scope, VectorSpace
from mnemic_postgres.audit_chain import UsageChanges
from mnemic_postgres.rows import ScopeState, Written
from mnemic_stores.scope_index import ScopeIndex


@dataclass(slots=True)
class GroupState:
    """State shared by the members of a group, which run one after the other inside one BEGIN and COMMIT.

    `changed` maps tenant and memory_id of each memory that earlier members wrote to its new state, None if it was
    removed; `known` are neighbours that were read; no other transaction can change them while the scope is locked;
    `indexes` are those loaded when the group began, `written` the entries they get once it is committed. Lines, entries
    and counters wait for `finish`.
    """

    space: VectorSpace | None = None
    places: dict[Scope, ScopeState | None] = field(default_factory=dict)
    indexes: dict[Scope, ScopeIndex | None] = field(default_factory=dict)
    changed: dict[tuple[str, str], Memory | None] = field(default_factory=dict)
    known: dict[tuple[str, str], Memory] = field(default_factory=dict)
    written: dict[Scope, list[Written]] = field(default_factory=dict)
    events: dict[str, list[AuditEvent]] = field(default_factory=dict)
    entries: dict[str, list[OutboxEntry]] = field(default_factory=dict)
    used: UsageChanges = field(default_factory=UsageChanges)
