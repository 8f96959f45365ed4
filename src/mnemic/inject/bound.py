"""An injector over an engine, on behalf of one actor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mnemic.inject.entry import Entry, MemorySource
from mnemic.inject.injection import InjectionRun
from mnemic.inject.injector import InjectionConfig, Injector, RecallLog
from mnemic.inject.recall import record_injection
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Deadline, Hit, SearchResult


class Engine(Protocol):
    """What an injector needs of `mnemic.MemoryEngine`."""

    store: RecordStore
    clock: Clock

    async def search(
        self, query: str, *, actor: Actor, top_k: int, standing: int, deadline: Deadline | None
    ) -> SearchResult:
        """The best memories for `query` in the actor's granted scopes, and before them up to `standing` of those that
        stand.
        """


MIN_SIMILARITY = 0.2
"""Cosine below which a memory that shares no word with the query is not about it. Two unrelated sentences have about
0.0 to 0.15 with the default embedder, paraphrases 0.5 and more."""


MAX_STANDING = 40
"""Standing memories that one search may bring; how many of them enter an input is a matter of tokens."""


class PartialSearch(Exception):
    """Some of the lists a search consists of failed, and nothing was found in the others."""


class ActorMemories:
    """The memories of one actor, as the source of an injector. What is neither standing, nor shares a word with the
    query, nor comes near it (`min_similarity`), is left out. `standing`: how many standing memories come before them.
    """

    def __init__(
        self,
        engine: Engine,
        actor: Actor,
        *,
        name: str = "memory",
        min_similarity: float = MIN_SIMILARITY,
        standing: int = 0,
    ) -> None:
        self.name = name
        self._standing = standing
        self._min_similarity = min_similarity
        self._engine = engine
        self._actor = actor

    async def search(self, query: str, *, limit: int, deadline: Deadline) -> Sequence[Entry]:
        """The actor's standing memories, and the best ones for `query`."""
        result = await self._engine.search(
            query, actor=self._actor, top_k=limit, standing=self._standing, deadline=deadline
        )
        if result.degraded and not result.hits:
            raise PartialSearch
        found = [(hit, Entry.of(hit, self.name, relevance=result.relevance)) for hit in result.hits]
        entries = [entry for hit, entry in found if entry.standing or self._is_relevant(hit)]
        return sorted(entries, key=lambda entry: (entry.standing, entry.score), reverse=True)

    def _is_relevant(self, hit: Hit) -> bool:
        near = hit.ranks.get("vector")
        return (
            hit.reason == "preference_bias"
            or not {"keyword", "key"}.isdisjoint(hit.ranks)
            or (near is not None and near.score >= self._min_similarity)
        )


def recall_log(engine: Engine, actor: Actor) -> RecallLog:
    """A log in the actor's tenant's audit."""

    async def record(run_id: str, entries: Sequence[Entry], digest: str) -> None:
        hits = [entry.hit for entry in entries if entry.hit is not None]
        foreign = len(entries) - len(hits)
        await record_injection(engine.store, engine.clock, actor, run_id, hits, digest=digest, foreign=foreign)

    return record


async def account_for(engine: Engine, actor: Actor, hits: Sequence[Hit]) -> None:
    """A model asked for these memories itself and is about to be shown them: a line in the audit, as for an injection,
    of a run of its own. Raises StoreFailed: what cannot be accounted for is not shown.
    """
    await record_injection(engine.store, engine.clock, actor, InjectionRun().run_id, hits)


def injector_for(
    engine: Engine,
    actor: Actor,
    config: InjectionConfig | None = None,
    *,
    name: str = "memory",
    sources: Sequence[MemorySource] = (),
) -> Injector:
    """An injector of the actor's memories, and of what further `sources` know, that logs what it injects."""
    config = config or InjectionConfig()
    standing = MAX_STANDING if config.standing_share else 0
    return Injector(
        [ActorMemories(engine, actor, name=name, standing=standing), *sources],
        config,
        recall=recall_log(engine, actor),
        clock=engine.clock,
    )
