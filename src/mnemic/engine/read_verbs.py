"""The engine's verbs that change nothing: search, get, list, count, history, export."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from mnemic.dispatch import Call, Dispatcher, Rules, Watchers
from mnemic.dispatch.gateway import MemoryGateway
from mnemic.engine import lineage, list_and_count
from mnemic.engine.recall import recall
from mnemic.engine.turn_texts import keep_injection
from mnemic.errors import MemoryNotFound
from mnemic.inject import InjectionConfig, injector_for
from mnemic.inject.token_budget import within_tokens
from mnemic.inject.token_count import counter_of
from mnemic.maintenance.archive import archived
from mnemic.requests import Request, given
from mnemic.retrieve.caller_intents import intent_of
from mnemic.retrieve.export import everything, exported
from mnemic.retrieve.hot_set import HotReader
from mnemic.retrieve.learned_ranker import LEARNED_RANKER
from mnemic.retrieve.search import Searcher
from mnemic.types import Actor, Deadline, JsonValue, Kind, Memory, Scope, Status, Where, aware
from mnemic.types.measures import DEFAULT_MAX_ENTRIES, DEFAULT_MAX_TOKENS
from mnemic.write.pipeline import MemoryWritePipeline

if TYPE_CHECKING:
    from mnemic.engine.lineage import Lineage, Use
    from mnemic.inject.token_count import TokenCount
    from mnemic.ports import Clock, Embedder, RecordStore
    from mnemic.ports.projections import Projection
    from mnemic.types import ContextBlock, Intent, RecallRequest, RecallResult, SearchResult
    from mnemic.write.outbox_consumer import OutboxConsumer
    from mnemic.write.tokenisation import TokenVault

T = TypeVar("T")


class ReadVerbs:
    """Read verbs of `MemoryEngine`. Modules that only reading needs are loaded with the first read."""

    store: RecordStore
    embedder: Embedder
    clock: Clock
    dispatcher: Dispatcher
    rules: Rules
    vault: TokenVault | None
    watchers: Watchers
    _projections: Sequence[Projection]
    _tokenizer: Any
    _pipeline: MemoryWritePipeline

    @cached_property
    def searcher(self) -> Searcher:
        """Searcher of the store; one for all views of an engine."""
        return Searcher(self.store, self.embedder, ranker=LEARNED_RANKER, **self._beside())

    @property
    def feeds(self) -> Sequence[OutboxConsumer]:
        """Consumers of the outbox, one for each projection."""
        return self._pipeline.publisher.feeds

    def _beside(self) -> dict[str, Any]:
        """Return the additional sources of a search."""
        return {}

    @cached_property
    def gateway(self) -> MemoryGateway:
        """Gateway that turns and searches pass, by the rules of this view."""
        return MemoryGateway(
            pipeline=self._pipeline,
            searcher=self.searcher,
            clock=self.clock,
            policy=self.rules.policy,
            grant=self.rules.grant,
            budget=self.rules.budget,
            limits=self.rules.limits,
            watchers=self.watchers,
            dispatcher=self.dispatcher,
            token_count=self.token_count,
        )

    def load(self) -> None:
        """Load the modules that searches and model calls need, so that the first of them, which has a deadline, does
        not wait.
        """
        for name in ("engine_injector", "text_injection", "token_budget"):
            import_module(f"mnemic.inject.{name}")
        for name in ("engine.recall", "retrieve.caller_intents"):
            import_module(f"mnemic.{name}")
        # Evaluated for its imports only.
        _ = self.gateway

    @cached_property
    def token_count(self) -> TokenCount:
        """Token counter: the given tokenizer, else an upper estimate. Raises InvalidConfig."""
        return counter_of(self._tokenizer)

    async def handle(self, request: Request[T], *, actor: Actor, deadline: Deadline | None = None) -> T:
        """Answer a request: through the dispatcher if it changes memory, else by the method that it names."""
        # A request of a caller, such as `NewMemory`, names a verb; the verb makes the engine's own request of it, here
        # an `Add`, which comes through here again and is dispatched.
        if request.verb is not None:
            answered: T = await getattr(self, request.verb)(**given(request), actor=actor)
            return answered
        call = Call(request=request, actor=actor, rules=self.rules, engine=self, deadline=deadline)
        answer: T = await self.dispatcher.handle(call)
        return answer

    def reach(self, actor: Actor) -> tuple[Scope, ...]:
        """Return the scopes that the actor's calls reach: theirs at every granted level."""
        return self.rules.scopes(actor)

    async def search(
        self,
        query: str,
        *,
        actor: Actor,
        top_k: int = 10,
        levels: Sequence[str] | None = None,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, JsonValue] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        asked_at: datetime | None = None,
        min_score: float = 0.0,
        max_tokens: int | None = None,
        preference_bias: bool = False,
        pinned: int = 0,
        named: bool = False,
        deadline: Deadline | None = None,
    ) -> SearchResult:
        """Return the best `top_k` (1 to 100) memories for `query`, cut to `max_tokens` if given; an empty query lists
        the newest.

        `as_of` selects facts true then; `known_at` facts believed then, ignoring any learnt, corrected or closed since;
        both together, facts believed then about that time. Forgotten and expired memories are never returned.
        `asked_at` is the day from which "two weeks ago" counts (default: now); memories of that time are boosted.
        `where` keeps only memories whose data meets this filter, at any rank (`mnemic.types.filter_language`). `pinned`
        (0 to 100) is the number of pinned memories and preferences that precede the hits whether or not they resemble
        the query; the most relevant ones if there are more. `named` keeps only memories that the query names, by their
        key or by one of `data["names"]`, pinned ones included; without a match the result is empty
        (`mnemic.retrieve.named_memories`). Lists that failed are named in `errors`; if all failed, the first failure is
        raised. Raises ScopeDenied for a level that is not
        granted.
        """
        times = (happened_from, happened_to, as_of, known_at)
        intent = _intent_of(query, top_k, levels, kinds, categories, keys, times, min_score, where)
        bias = self.gateway.beside(preference_bias, pinned)
        day = _moment(asked_at, "asked_at")
        found = await self.gateway.find(intent, actor=actor, bias=bias, asked_at=day, named=named, deadline=deadline)
        return _cut(found, max_tokens, self.token_count)

    async def recall(self, request: RecallRequest, *, actor: Actor, deadline: Deadline | None = None) -> RecallResult:
        """Return the memories that a model call is shown: pinned ones, preferences that the request could depend on,
        and relevant ones, within the budget; see `mnemic.engine.recall`. Raises as `search` does.
        """
        return await recall(self.gateway, request, actor=actor, deadline=deadline)

    async def context(
        self,
        query: str,
        *,
        actor: Actor,
        top_k: int = DEFAULT_MAX_ENTRIES,
        max_tokens: int = DEFAULT_MAX_TOKENS,
        min_score: float = 0.0,
        asked_at: datetime | None = None,
    ) -> ContextBlock:
        """Return the memories that a model asked `query` is shown, as a block of data for its input, and log them as
        injected. An outage is never raised: `degraded` and `reason` report it. `min_score` is the least relevance of
        each memory that policy does not pin; `asked_at` is as in `search`.
        """
        # Before the deadline of the injection starts to run.
        self.load()
        config = InjectionConfig(max_entries=top_k, max_tokens=max_tokens, min_score=min_score)
        injector = injector_for(self, actor, config, by="context", asked_at=_moment(asked_at, "asked_at"))
        injection = await injector.inject([{"role": "user", "content": query}])
        if injection.injected:
            await keep_injection(self, actor, injection.run, query)
        return injection.block()

    async def redacted(self, text: str, *, actor: Actor) -> str:
        """`text` as it may be stored elsewhere or shown. Raises InvalidInput (`redaction`)."""
        return await self._pipeline.redacted(text, tenant=actor.tenant)

    async def hot(self, *, actor: Actor, kinds: Sequence[Kind | str] | None = None, limit: int = 10) -> SearchResult:
        """Return the most recent memories by the time they happened, for the head of a prompt: through the hot set if
        there is one, whose failure is named in `errors`. Writes of other processes may appear with a short delay.
        """
        where = await list_and_count.visible(self, actor, kinds)
        return await HotReader.among(self._projections, self.store).newest(where, limit=limit)

    async def get(
        self, memory_id: str, *, actor: Actor, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> Memory:
        """Return one memory in its current version, or in that of `known_at`. Raises MemoryNotFound, also for another
        user's memory, for one that awaits review, and with `as_of` for one that was not true then.
        """
        scopes = self.reach(actor)
        if as_of is None and known_at is None:
            memory = await self.store.get(memory_id, scopes=scopes)
            if memory is None or memory.status is Status.PENDING_REVIEW:
                raise MemoryNotFound()
            return memory
        memory = (await self.history(memory_id, actor=actor, known_at=known_at))[-1]
        if as_of is not None and not memory.was_true_at(aware(as_of, "as_of")):
            raise MemoryNotFound()
        return memory

    async def list(
        self,
        *,
        actor: Actor,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, JsonValue] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        facets: Sequence[frozenset[str]] = (),
        limit: int = 50,
        before: str | None = None,
    ) -> Sequence[Memory]:
        """Active memories, newest first, after the page that ended with `before`; filters as in `search`."""
        bounds = list_and_count.Bounds(kinds, categories, keys, where, happened_from, happened_to, as_of, known_at)
        return await list_and_count.listed(self, actor, bounds, facets=facets, limit=limit, before=before)

    async def count(
        self,
        *,
        actor: Actor,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, JsonValue] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> int:
        """Return the number of active memories that the actor can read; filters as in `list`."""
        bounds = list_and_count.Bounds(kinds, categories, keys, where, happened_from, happened_to, as_of, known_at)
        return await list_and_count.counted(self, actor, bounds)

    async def history(
        self, memory_id: str, *, actor: Actor, as_of: datetime | None = None, known_at: datetime | None = None
    ) -> Sequence[Memory]:
        """Return all versions of a memory, or of all values of a given key, oldest first: with `known_at` those written
        by then, with `as_of` those true then. Raises MemoryNotFound if there is none, and for one that awaits review.
        """
        as_of, known_at = _moment(as_of, "as_of"), _moment(known_at, "known_at")
        scopes = self.reach(actor)
        versions = await self.store.versions(memory_id, scopes=scopes)
        # Not found rather than denied: a proposal must not reveal that it exists before a reviewer has approved it.
        if versions and versions[-1].status is Status.PENDING_REVIEW:
            raise MemoryNotFound()
        # No memory has this identifier: it may be a key, whose values are several memories.
        versions = versions or await lineage.values(self.store, memory_id, scopes=scopes)
        known = [one for one in versions if known_at is None or one.updated_at <= known_at]
        found = [one for one in known if as_of is None or one.was_true_at(as_of)]
        if not found or (found[-1].status is Status.PENDING_REVIEW):
            raise MemoryNotFound()
        return found

    async def lineage(self, memory_id: str, *, actor: Actor) -> Lineage:
        """Return the predecessors and successors of a memory. Raises MemoryNotFound."""
        return await lineage.lineage(self.store, memory_id, scopes=self.reach(actor))

    async def uses(
        self, memory_id: str, *, actor: Actor, before: int | None = None, limit: int = 50
    ) -> tuple[Sequence[Use], int | None]:
        """Return the uses of a memory, newest first, and the start of the next page. Raises MemoryNotFound."""
        # Raises for a memory of another user: the audit that follows is read by tenant.
        await self.get(memory_id, actor=actor)
        return await lineage.uses(self.store, actor.tenant, memory_id, before=before, limit=limit)

    def export(self, *, actor: Actor, archive: bool = False) -> AsyncIterator[dict[str, Any]]:
        """Yield every memory in the actor's scopes, of every status, as JSON data: in its current version, newest
        first, or as an `archive` with every version, oldest first, and the actor's consents, which `restore` reads.
        """
        if archive:
            return archived(self.store, self.reach(actor), actor.user, self.vault and self.vault.keyring)
        return exported(self.store, everything(Where(scopes=self.reach(actor), live_at=self.clock.now())))


def _intent_of(*asked: Any) -> Intent:
    """Return the intent for the arguments of a search; its parser is loaded by the first search."""
    return intent_of(*asked)


def _moment(moment: datetime | None, name: str) -> datetime | None:
    """`moment` in UTC. Raises InvalidInput (`invalid_input:<name>`) if it has no time zone."""
    return None if moment is None else aware(moment, name)


def _cut(result: SearchResult, max_tokens: int | None, count: TokenCount) -> SearchResult:
    """Return the result with as many of its hits as `max_tokens` have room for."""
    if max_tokens is None:
        return result
    return replace(result, hits=within_tokens(result.hits, max_tokens, count=count))
