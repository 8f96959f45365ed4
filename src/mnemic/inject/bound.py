"""An injector over an engine, on behalf of one actor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mnemic.inject.entry import Entry, MemorySource
from mnemic.inject.injector import InjectionConfig, Injector, RecallLog
from mnemic.inject.recall import record_injection
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Deadline, SearchResult


class Engine(Protocol):
    """What an injector needs of `mnemic.MemoryEngine`."""

    store: RecordStore
    clock: Clock

    async def search(self, query: str, *, actor: Actor, top_k: int, deadline: Deadline | None) -> SearchResult:
        """The best memories for `query` in the actor's granted scopes."""


class PartialSearch(Exception):
    """Some of the lists a search consists of failed, and nothing was found in the others."""


class ActorMemories:
    """The memories of one actor, as the source of an injector."""

    def __init__(self, engine: Engine, actor: Actor, *, name: str = "memory") -> None:
        self.name = name
        self._engine = engine
        self._actor = actor

    async def search(self, query: str, *, limit: int, deadline: Deadline) -> Sequence[Entry]:
        """The actor's best memories for `query`."""
        result = await self._engine.search(query, actor=self._actor, top_k=limit, deadline=deadline)
        if result.degraded and not result.hits:
            raise PartialSearch
        return [Entry.of(hit, self.name) for hit in result.hits]


def recall_log(engine: Engine, actor: Actor) -> RecallLog:
    """A log in the actor's tenant's audit."""

    async def record(run_id: str, entries: Sequence[Entry], digest: str) -> None:
        hits = [entry.hit for entry in entries if entry.hit is not None]
        foreign = len(entries) - len(hits)
        await record_injection(engine.store, engine.clock, actor, run_id, hits, digest=digest, foreign=foreign)

    return record


def injector_for(
    engine: Engine,
    actor: Actor,
    config: InjectionConfig | None = None,
    *,
    name: str = "memory",
    sources: Sequence[MemorySource] = (),
) -> Injector:
    """An injector of the actor's memories, and of what further `sources` know, that logs what it injects."""
    return Injector(
        [ActorMemories(engine, actor, name=name), *sources],
        config,
        recall=recall_log(engine, actor),
        clock=engine.clock,
    )
