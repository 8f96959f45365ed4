"""Requests that change memory, other than adding to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, ClassVar

from mnemic.requests import Request, _Holding
from mnemic.types import Candidate, Memory, Message, Origin, WriteReceipt
from mnemic.types.trace import RunReport


@dataclass(frozen=True, slots=True, kw_only=True)
class Record(_Holding[Sequence[WriteReceipt]]):
    """Store the messages of a conversation verbatim."""

    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(_Holding[RunReport]):
    """Run one memory-augmented turn: remember from `message`, answer `goal` from memory; see `MemoryEngine.run`."""

    verb: ClassVar[str | None] = "run"
    message: str | Message | None = None
    goal: str | None = field(default=None, repr=False)
    context: Mapping[str, Any] | None = field(default=None, repr=False)
    idempotency_key: str | None = field(default=None, repr=False)
    min_score: float = 0.0
    asked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture(Request[RunReport]):
    """Remember the durable facts in the user's message; the report lists facts written, blocked and skipped."""

    verb: ClassVar[str | None] = "capture"
    message: str | Message = field(repr=False, kw_only=False)
    idempotency_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Import(_Holding[Sequence[Any]]):
    """Remember the durable facts in the messages of a conversation, in order."""

    verb: ClassVar[str | None] = "capture_many"
    messages: tuple[Message, ...]
    idempotency_keys: tuple[str | None, ...] | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction(_Holding[WriteReceipt]):
    """Correct a memory; its old version stays in the history. Omitted fields stay unchanged; an empty `key`,
    `category` or `context` removes it; `ttl` counts from now. Raises MemoryNotFound, VersionConflict.
    """

    verb: ClassVar[str | None] = "update"
    memory_id: str = field(kw_only=False)
    content: str | None = field(default=None, repr=False, kw_only=False)
    key: str | None = field(default=None, repr=False)
    category: str | None = None
    data: Mapping[str, Any] | None = field(default=None, repr=False)
    context: str | None = field(default=None, repr=False)
    ttl: timedelta | str | None = None
    confidence: float | None = None
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expected_version: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Update(Correction):
    """Correct a memory in words of `origin`; None: of the actor's channel."""

    verb: ClassVar[str | None] = None
    origin: Origin | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forget(Request[None]):
    """Delete a memory with all its versions."""

    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rollback(Request[WriteReceipt]):
    """Restore the content that a memory had in `version`."""

    memory_id: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Undo(Request[Any]):
    """Undo a merge, a replacement or an approval."""

    memory_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Restore(Request[WriteReceipt]):
    """Restore a memory from an archive in all its versions, oldest first. `own`: its origin, trust and author are to be
    believed.
    """

    versions: tuple[Memory, ...]
    own: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreConsent(Request[WriteReceipt]):
    """Restore a consent from an archive, unless the key already has one."""

    key: str = field(repr=False)
    granted: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Derive(_Holding[WriteReceipt]):
    """Remember a statement derived from other memories, if these still exist when it is committed."""

    candidate: Candidate
    sources: tuple[str, ...]
