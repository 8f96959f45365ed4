"""An injector over an engine, on behalf of one actor."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from datetime import datetime
from typing import Protocol

from mnemic.inject.configuration import InjectionConfig, RecallLog
from mnemic.inject.injection_log import record_injection
from mnemic.inject.injection_result import InjectionRun
from mnemic.inject.injector import Injector
from mnemic.inject.memory_source import MemorySource, SourceEntries, SourceEntry
from mnemic.inject.token_count import TokenCount
from mnemic.ports import Clock, RecordStore
from mnemic.types import Actor, Deadline, Hit, Intent, RecallRequest, RecallResult
from mnemic.types.recall_limits import DEFAULT_MIN_SIMILARITY as MIN_SIMILARITY


class RecallEngine(Protocol):
    """The part of `mnemic.MemoryEngine` that an injector needs."""

    store: RecordStore
    clock: Clock

    @property
    def token_count(self) -> TokenCount:
        """Counter of the tokens of a text."""

    def loading(self) -> Awaitable[None] | None:
        """Return what the first question of the process waits for, None once it is there."""

    async def recall(self, request: RecallRequest, *, actor: Actor, deadline: Deadline | None = None) -> RecallResult:
        """Return the memories of the actor that a model call is shown."""


class PartialSearch(Exception):
    """Some of the lists a search consists of failed, and nothing was found in the others."""


class ActorMemories:
    """Source of an injector with the memories of one actor: the decision of `mnemic.engine.recall`, within `config`.
    Memories that are not pinned, share no word with the query and are not near it (`min_similarity`) are left out.
    `pinned=0` leaves out the pinned ones, too. `asked_at` is the time by which words such as `last week` are read
    (None: now).
    """

    def __init__(
        self,
        engine: RecallEngine,
        actor: Actor,
        *,
        min_similarity: float = MIN_SIMILARITY,
        pinned: int | None = None,
        config: InjectionConfig | None = None,
        asked_at: datetime | None = None,
    ) -> None:
        config = config or InjectionConfig()
        self._asked_at = asked_at
        self.name = "memory"
        self._engine = engine
        self._actor = actor
        self._min_similarity = min_similarity
        # The pinned part is bounded by tokens, not by a number, so 0 is the only number that has a meaning here.
        self._share = 0.0 if pinned == 0 else config.pinned_share
        self._config = config

    def loading(self) -> Awaitable[None] | None:
        """Return what the first question waits for, None once it is there."""
        return self._engine.loading()

    async def search(self, query: str, *, limit: int, deadline: Deadline) -> SourceEntries:
        """Return the memories shown for `query`, pinned ones first. Raises PartialSearch if nothing was found and a
        list failed.
        """
        config = self._config
        request = RecallRequest(
            intent=Intent(query=query, top_k=limit, min_score=config.min_score),
            asked_at=self._asked_at,
            max_tokens=config.max_tokens,
            max_untrusted=config.max_untrusted,
            pinned_share=self._share,
            least_relevance=config.least_relevance,
            min_similarity=self._min_similarity,
            profile_tokens=config.profile_tokens,
        )
        recalled = await self._engine.recall(request, actor=self._actor, deadline=deadline)
        # Hits of the other lists are worth showing; without any, an outage must not look like an empty memory.
        if recalled.errors and not recalled.found.hits:
            raise PartialSearch
        entries = tuple(
            SourceEntry.from_hit(hit, self.name, reader=self._actor, relevance=recalled.relevance)
            for hit in recalled.hits
        )
        partial = next((f"{name}:{why}" for name, why in recalled.errors.items()), None)
        return SourceEntries(entries=entries, abstained=recalled.abstained, partial=partial)


class AuditedRecall:
    """A recall log in the audit of the actor's tenant; `by` names the adapter that consulted memory."""

    def __init__(self, engine: RecallEngine, actor: Actor, by: str | None = None) -> None:
        self._engine = engine
        self._actor = actor
        self._by = by

    async def __call__(self, run_id: str, entries: Sequence[SourceEntry], digest: str) -> None:
        """Record an injection without measurements."""
        await self.record_measured(run_id, entries, digest, tokens=None, ms=None)

    async def record_measured(
        self, run_id: str, entries: Sequence[SourceEntry], digest: str, *, tokens: int | None, ms: float | None
    ) -> None:
        """Record an injection: its number of tokens, and the milliseconds it took to find. Raises StoreFailed."""
        # Entries of other sources are no memories of the store; the audit only counts them.
        hits = [entry.hit for entry in entries if entry.hit is not None]
        await record_injection(
            self._engine.store,
            self._engine.clock,
            self._actor,
            run_id,
            hits,
            digest=digest,
            foreign=len(entries) - len(hits),
            by=self._by,
            tokens=tokens,
            ms=ms,
        )


def recall_log(engine: RecallEngine, actor: Actor, *, by: str | None = None) -> RecallLog:
    """Return a log in the actor's tenant's audit."""
    return AuditedRecall(engine, actor, by)


async def account_for(engine: RecallEngine, actor: Actor, hits: Sequence[Hit]) -> str:
    """Record that a model requested these memories and is about to be shown them: a line in the audit log, as for an
    injection, under a separate run, whose identifier is returned. Raises StoreFailed: memories that cannot be logged
    are not shown.
    """
    # A separate run: a search by a tool is not part of the injection of the turn.
    run_id = InjectionRun().run_id
    await record_injection(engine.store, engine.clock, actor, run_id, hits, by="search_memory")
    return run_id


def injector_for(
    engine: RecallEngine,
    actor: Actor,
    config: InjectionConfig | None = None,
    *,
    sources: Sequence[MemorySource] = (),
    by: str | None = None,
    asked_at: datetime | None = None,
) -> Injector:
    """Return an injector of the actor's memories and of the further `sources`. It logs its injections, with `by` as the
    name of the adapter. `asked_at` is as in `ActorMemories`.
    """
    config = config or InjectionConfig()
    return Injector(
        [ActorMemories(engine, actor, config=config, asked_at=asked_at), *sources],
        config,
        recall=recall_log(engine, actor, by=by),
        clock=engine.clock,
        count=engine.token_count,
    )
