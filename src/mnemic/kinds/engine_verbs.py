"""The verbs of the engine that the kinds are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol

from mnemic.ports import Clock, Completer, RecordStore, SessionStore
from mnemic.ports.graph import GraphStore
from mnemic.types import (
    Actor,
    Candidate,
    Deadline,
    Kind,
    Level,
    Memory,
    Origin,
    SearchResult,
    WriteReceipt,
)


class EngineVerbs(Protocol):
    """The verbs of `MemoryEngine` that the kinds are made of; see there for what each promises."""

    store: RecordStore
    clock: Clock
    sessions: SessionStore | None
    completer: Completer | None
    graph: GraphStore | None

    async def add(
        self,
        content: str | Candidate,
        *,
        actor: Actor,
        kind: Kind | str = ...,
        key: str | None = ...,
        level: Level | str = ...,
        category: str | None = ...,
        data: Mapping[str, Any] | None = ...,
        ttl: timedelta | str | None = ...,
        confidence: float = ...,
        origin: Origin = ...,
        occurred_at: datetime | None = ...,
        idempotency_key: str | None = ...,
        deadline: Deadline | None = ...,
    ) -> WriteReceipt:
        """Remember one thing."""

    async def update(
        self,
        memory_id: str,
        content: str,
        *,
        actor: Actor,
        data: Mapping[str, Any] | None = ...,
        context: str | None = ...,
        expected_version: int | None = ...,
        origin: Origin = ...,
    ) -> WriteReceipt:
        """Correct a memory in place."""

    async def search(
        self,
        query: str,
        *,
        actor: Actor,
        top_k: int = ...,
        levels: Sequence[str] | None = ...,
        kinds: Sequence[Kind | str] | None = ...,
        categories: Sequence[str] | None = ...,
        keys: Sequence[str] | None = ...,
        happened_from: datetime | None = ...,
        happened_to: datetime | None = ...,
        as_of: datetime | None = ...,
        known_at: datetime | None = ...,
        min_score: float = ...,
        max_tokens: int | None = ...,
        preference_bias: bool = ...,
        deadline: Deadline | None = ...,
    ) -> SearchResult:
        """Return the best memories for a query."""

    async def redacted(self, text: str, *, actor: Actor) -> str:
        """`text` without personal data, as policy has it."""

    async def get(self, memory_id: str, *, actor: Actor) -> Memory:
        """One memory."""

    async def list(
        self,
        *,
        actor: Actor,
        kinds: Sequence[Kind | str] | None = ...,
        categories: Sequence[str] | None = ...,
        keys: Sequence[str] | None = ...,
        facets: Sequence[frozenset[str]] = ...,
        limit: int = ...,
        before: str | None = ...,
    ) -> Sequence[Memory]:
        """Active memories, newest first."""

    async def history(self, memory_id: str, *, actor: Actor) -> Sequence[Memory]:
        """All versions of a memory."""
