"""Values of writing: receipts, blocked and skipped candidates, audit events."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from mnemic.types.enums import Level, Outcome, Status
from mnemic.types.json_forms import Serialisable
from mnemic.types.memory import Memory
from mnemic.types.scope import Scope
from mnemic.types.values import JsonValue, frozen

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Serialisable):
    """Decision of one step of the write path, and its cost in milliseconds."""

    name: str
    decision: str
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteReceipt(Serialisable):
    """Result of one write. `durable`: survives power loss; `degraded`: failed steps; `warnings`: limits nearly used."""

    outcome: Outcome
    memory_id: str | None = None
    version: int | None = None
    key: str | None = None
    level: str = Level.USER
    reason: str | None = None
    superseded: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    clamped: tuple[str, ...] = ()
    durable: bool = True
    degraded: tuple[str, ...] = ()
    replayed: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def id(self) -> str | None:
        """The memory_id of the memory, as `get`, `update` and `forget` take it."""
        return self.memory_id

    @property
    def was_duplicate(self) -> bool:
        """The same memory was already there; it was refreshed, no row was added."""
        return self.outcome is Outcome.REFRESHED

    @property
    def was_merged(self) -> bool:
        """A near-duplicate was superseded by one merged memory."""
        return self.outcome is Outcome.MERGED

    @property
    def was_flagged(self) -> bool:
        """It contradicts something known and waits for review."""
        return self.outcome is Outcome.PENDING_REVIEW

    @property
    def stored(self) -> bool:
        """Something was committed."""
        return self.outcome is not Outcome.BLOCKED


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocked(Serialisable):
    """A candidate the execution boundary did not let through."""

    key: str | None
    reason: str
    level: str = Level.USER


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped(Serialisable):
    """Something that was not proposed for storage, and why (`transient`, `unsupported`, `duplicate`, ...)."""

    reason: str
    key: str | None = None
    span: tuple[int, int] | None = None


class Readings(list[T]):
    """What was read of a text, in order. `degraded`: the reason why the language model did not read it, so that only
    rules did.
    """

    def __init__(self, found: Iterable[T] = (), degraded: str | None = None) -> None:
        super().__init__(found)
        self.degraded = degraded


AUDIT_END = 2**53
"""Sequence number after the last line of any audit log: an integer that JSON readers of any language keep exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEvent(Serialisable):
    """One line of the append-only history. `hash` chains it to the tenant's previous line."""

    sequence: int = 0
    tenant: str
    action: str
    at: datetime
    actor: str
    scope: Scope | None = None
    memory_id: str | None = None
    version: int | None = None
    detail: Mapping[str, JsonValue] = field(default_factory=dict)
    # "<sha256>", or "<sha256>:<hmac>" when a signing key is configured.
    hash: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "detail", frozen(self.detail))

    @property
    def signed(self) -> bool:
        """True if `hash` includes a signature, made with a key that is not in the store."""
        return ":" in self.hash


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredAnswer:
    """A request that was answered under an idempotency key: when, and its receipt as JSON."""

    idempotency_key: str = field(repr=False)
    receipt: str = field(repr=False)
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxEntry:
    """Work for the projections: `memory_id` of `scope` changed to `version`; `action` is `upsert` or `remove`."""

    sequence: int = 0
    scope: Scope
    action: str
    memory_id: str
    version: int

    @classmethod
    def for_memory(cls, memory: Memory, action: str | None = None) -> OutboxEntry:
        """Return the entry for the state of `memory` after `action`."""
        action = action or ("upsert" if memory.status is Status.ACTIVE else "remove")
        return cls(scope=memory.scope, action=action, memory_id=memory.memory_id, version=memory.version)

    @classmethod
    def whole_tenant(cls, scope: Scope) -> OutboxEntry:
        """Return the entry that replaces the tenant's whole backlog: the projection must be rebuilt."""
        # No memory has an empty identifier, so the entry needs no field that older stores do not have.
        return cls(scope=scope, action="upsert", memory_id="", version=0)

    @property
    def whole(self) -> bool:
        """True if it is about everything of the tenant."""
        return not self.memory_id

    @property
    def place(self) -> tuple[str, str]:
        """Tenant and identifier of the memory that it is about: identifiers are unique in a tenant."""
        return self.scope.tenant, self.memory_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """An entry of the outbox with its memory in the present state, or None if it is gone."""

    entry: OutboxEntry
    memory: Memory | None

    @property
    def shown(self) -> Memory | None:
        """The memory if it may be shown: it is there, and active."""
        return self.memory if self.memory is not None and self.memory.status is Status.ACTIVE else None
