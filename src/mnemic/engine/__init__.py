"""The engine: every verb a program needs, for any number of actors, asynchronous."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar

from mnemic import requests
from mnemic.compose.template_composer import OfflineComposer
from mnemic.dispatch import BatchReceipts, Call, Dispatcher, Middleware, Rules, Watchers
from mnemic.dispatch.gateway import MemoryGateway
from mnemic.engine import lineage, list_and_count
from mnemic.engine.first_use import loading, read_tables
from mnemic.engine.handler_table import handler_table
from mnemic.engine.message_forms import captured_each, message_of, messages_of, one_message, remember
from mnemic.engine.recall import recall
from mnemic.engine.requests_about_memory import carried_out
from mnemic.engine.turn import TurnParts, TurnRequest, keep_injection, record_turn_run, run_turn
from mnemic.engine.user_profile import user_profile
from mnemic.errors import InvalidInput, MemoryNotFound, MnemicError
from mnemic.extract.file_reader import FileReader
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.graph.search import GraphNeighbourhood
from mnemic.inject import InjectionConfig, injector_for
from mnemic.inject.citation_check import UsageAudit
from mnemic.inject.token_count import counter_of, within_tokens
from mnemic.maintenance.archive import ArchivedMemory, archive_lines, require_sealed
from mnemic.maintenance.consolidate import ConsolidationRules, consolidate
from mnemic.maintenance.erase import verify
from mnemic.maintenance.health import examine, verify_lines
from mnemic.maintenance.import_undo import ImportUndone, undo_import
from mnemic.maintenance.maintenance_run import run_maintenance
from mnemic.maintenance.reembed import reembed
from mnemic.maintenance.reports import Revocation
from mnemic.maintenance.reread import reread, undo_reread
from mnemic.maintenance.review import decide_each, waiting
from mnemic.maintenance.subject_export import Form, json_chunks, open_export
from mnemic.maintenance.subject_export_page import page_chunks
from mnemic.policy.budget import Budget
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import EntityReading, Policy
from mnemic.policy.limits import Limits
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.ports.providers import count_calls
from mnemic.ports.record_store import one_moment
from mnemic.requests import Request, arguments_of
from mnemic.retrieve.caller_intents import intent_of
from mnemic.retrieve.export import everything, export_lines
from mnemic.retrieve.hot_set import HotReader
from mnemic.retrieve.intent_planning import RulePlanner
from mnemic.retrieve.learned_ranker import LEARNED_RANKER
from mnemic.retrieve.optional_backends import OptionalBackend, SearchIndexAdapter
from mnemic.retrieve.ratings import shift_of
from mnemic.retrieve.search import Searcher
from mnemic.runtime.clock import SystemClock
from mnemic.types import (
    SHARED,
    Actor,
    AuditEvent,
    Candidate,
    Deadline,
    JsonValue,
    Kind,
    Level,
    Memory,
    Message,
    Origin,
    Scope,
    Status,
    Where,
    WriteReceipt,
)
from mnemic.types.ratings import RatedMemory
from mnemic.types.recall_limits import DEFAULT_MAX_ENTRIES, DEFAULT_MAX_TOKENS, DEFAULT_PROFILE_TOKENS
from mnemic.types.values import aware, checked_share
from mnemic.write.draft import WriteRules
from mnemic.write.forget import forget_matching
from mnemic.write.limiter import Limiter, consents, marks_of_user, refuse_if_erased_since, subject_token
from mnemic.write.outbox import OutboxWorker, stop_upkeep
from mnemic.write.pipeline import MemoryWritePipeline, vault_of
from mnemic.write.prepare import Redactor
from mnemic.write.ratings import ratings_in

if TYPE_CHECKING:
    from mnemic.compose import Composer
    from mnemic.engine.lineage import Lineage, Use
    from mnemic.extract import Extraction, Extractor
    from mnemic.inject.token_count import TokenCount
    from mnemic.maintenance.archive import Archived
    from mnemic.maintenance.consolidate import ConsolidationReport
    from mnemic.maintenance.erase import ErasureReceipt
    from mnemic.maintenance.expiry_job import ExpiryReport, ExpiryRules
    from mnemic.maintenance.health import Health
    from mnemic.maintenance.key_rotation import Rotation
    from mnemic.maintenance.reembed import ReembedResult
    from mnemic.maintenance.reports import AuditReport, MaintenanceReport, ReviewOutcome
    from mnemic.maintenance.reread import RereadReport
    from mnemic.maintenance.reveal import RevealResult
    from mnemic.maintenance.review import PendingReview
    from mnemic.maintenance.undo import UndoReceipt
    from mnemic.ports import (
        Clock,
        Completer,
        Embedder,
        JudgesAnswers,
        Keyring,
        RecordStore,
        Reranker,
        SessionStore,
    )
    from mnemic.ports.further_stores import GraphStore
    from mnemic.ports.projections import Projection
    from mnemic.requests import Run
    from mnemic.retrieve.intent_planning import Planner
    from mnemic.types import (
        ContextBlock,
        ConversationReceipts,
        ForgetResult,
        MemoryRequest,
        RecallRequest,
        RecallResult,
        RequestOutcome,
        SearchResult,
        UserProfile,
    )
    from mnemic.types.ratings import Rating
    from mnemic.types.trace import RunReport, Watch
    from mnemic.write.model_judge import Judge, Translator
    from mnemic.write.outbox import OutboxConsumer

T = TypeVar("T")
_PAGE = 200
"""Maximum number of waiting memories reviewed together."""


class MemoryEngine:
    """Memory for many actors on one store.

    Every verb takes the `actor` that it is called for and reaches only that actor's scopes at the granted levels. Use
    it as an async context manager, or call `open` and `close`. Errors are those of `mnemic.errors`; none of them leaves
    a partial write.
    """

    keeps_turns = True  # defaults, overridden per instance
    """False if the texts of turns are stored only when policy allows it, as in a service (`mnemic.write.turn_log`)."""
    background = False
    """True if adapters capture in the background (`mnemic.maintenance.background_capture`)."""
    background_seconds = 30.0
    """Seconds of silence after which a language model reads what they have recorded."""
    _drainer: OutboxWorker | None = None

    def __init__(
        self,
        *,
        store: RecordStore,
        embedder: Embedder,
        clock: Clock | None = None,
        policy: Policy | None = None,
        grant: Grant | None = None,
        budget: Budget | None = None,
        extractor: Extractor | None = None,
        planner: Planner | None = None,
        composer: Composer | None = None,
        sessions: SessionStore | None = None,
        completer: Completer | None = None,
        graph: GraphStore | None = None,
        usage: UsageAudit | None = None,
        rules: WriteRules | None = None,
        limits: Limits | None = None,
        redaction: RedactionRules | None = None,
        keyring: Keyring | None = None,
        judge: Judge | None = None,
        translator: Translator | None = None,
        middleware: Sequence[Middleware] = (),
        reads: EntityReading | None = None,
        preference_bias: bool = False,
        max_tokens: int | None = None,
        tokenizer: Any = None,
        reranker: Reranker | None = None,
        answers: JudgesAnswers | None = None,
        projections: Sequence[Projection] = (),
        files: FileReader | None = None,
    ) -> None:
        self.store, self.embedder, self.sessions = store, embedder, sessions
        # Whoever asks it, its calls are counted.
        self.completer = None if completer is None else count_calls(completer)
        self.graph, self.reads, self.clock = graph, reads, clock or SystemClock()
        self.redaction, self.vault = redaction or RedactionRules(), vault_of(keyring)
        parts: dict[str, Any] = {"vault": self.vault, "judge": judge, "translator": translator}
        parts["redactor"] = Redactor.under(self.redaction)
        self._pipeline = MemoryWritePipeline(store, embedder, self.clock, rules, projections=projections, **parts)
        self._projections, self._tokenizer, self.reranker = tuple(projections), tokenizer, reranker
        self._answers = answers
        self.rules = Rules(**_without_none(policy=policy, grant=grant, budget=budget, limits=limits))
        self.watchers, self._files = Watchers(), files or FileReader()
        self.dispatcher = self._build_dispatcher((*middleware, self.watchers))
        self._extractor = extractor
        self._turn_parts = _without_none(
            planner=planner or RulePlanner(),
            composer=composer or OfflineComposer(),
            usage=usage,
            preference_bias=preference_bias,
            max_tokens=max_tokens,
        )

    def _build_dispatcher(self, middleware: Sequence[Middleware]) -> Dispatcher:
        limiter = Limiter(store=self.store, clock=self.clock, pipeline=self._pipeline)
        parts: dict[str, Any] = {"sessions": self.sessions, "vault": self.vault, "redaction": self.redaction}
        handlers = handler_table(self._pipeline, limiter, on_erased=self._drop_caches, **parts)
        return Dispatcher(limiter=limiter, handlers=handlers, middleware=middleware)

    def _drop_caches(self) -> None:
        """Drop the cached speakers and data of erased scopes."""
        self.searcher.spoken.forget()
        self.searcher.data.forget()

    def _additional_sources(self) -> dict[str, Any]:
        """Return the additional sources of a search: graph traversal and a search service."""
        found: dict[str, Any] = {"elsewhere": SearchIndexAdapter.from_projections(self._projections, self.clock)}
        if self.graph is not None:
            found["surroundings"] = GraphNeighbourhood(self.graph, OptionalBackend(self.clock))
        return found | {"reranker": self.reranker, "answers": self._answers}

    @cached_property
    def searcher(self) -> Searcher:
        """Searcher of the store; one for all views of an engine."""
        return Searcher(self.store, self.embedder, ranker=LEARNED_RANKER, **self._additional_sources())

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
            files=self._files,
        )

    @cached_property
    def token_count(self) -> TokenCount:
        """Token counter: the given tokenizer, else an upper estimate. Raises InvalidConfig."""
        return counter_of(self._tokenizer)

    @cached_property
    def extractor(self) -> Extractor:
        """Extractor of the facts in messages: the given one, else the rules."""
        # Made when it is first used: the rules read the weights of a classifier.
        return self._extractor or RuleExtractor(self.embedder)

    @property
    def feeds(self) -> Sequence[OutboxConsumer]:
        """Consumers of the outbox, one for each projection."""
        return self._pipeline.publisher.feeds

    async def open(self) -> Self:
        """Open the store. Raises StoreFailed or SpaceMismatch."""
        await asyncio.gather(self.store.open(self.embedder.space), asyncio.to_thread(read_tables))
        if self.graph is not None:
            await self.graph.open()
        self._pipeline.use(self.embedder)
        if self.feeds:
            self._drainer = self._drainer or OutboxWorker(self.feeds)  # also after a second `open`
            self._drainer.start()
        return self

    async def close(self) -> None:
        """Release store, embedder, sessions, projections and the language model. May be called twice."""
        if self._drainer is not None:
            await self._drainer.stop()
        if self._pipeline.publisher.looking is not None:
            await stop_upkeep(self._pipeline.publisher.looking)
        for feed in self._pipeline.publisher.feeds:
            await feed.projection.close()
        await self.store.close()
        await self.embedder.close()
        for other in (self.graph, self.sessions, self.completer, self.reranker, self._answers):
            if other is not None:
                await other.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def under(self, *, policy: Policy, grant: Grant, budget: Budget, limits: Limits) -> Self:
        """Return this engine under other rules; everything else is shared, open resources included. Only this engine is
        closed.
        """
        gateway = self.gateway  # created now, so that the view shares its components
        view = copy(self)
        view.rules = Rules(policy=policy, grant=grant, budget=budget, limits=limits)
        view.gateway = replace(gateway, policy=policy, grant=grant, budget=budget, limits=limits)
        return view

    @property
    def write_rules(self) -> WriteRules:
        """Thresholds of the write path."""
        return self._pipeline.rules

    @property
    def policy(self) -> Policy:
        """Policy: the candidates that may be proposed."""
        return self.rules.policy

    async def handle(self, request: Request[T], *, actor: Actor, deadline: Deadline | None = None) -> T:
        """Answer a request: by its method if it reads or is a whole turn (`READS`), else through the dispatcher."""
        if (read := READS.get(type(request))) is not None:
            answered: T = await read(self, **arguments_of(request), actor=actor)
            return answered
        call = Call(request=request, actor=actor, rules=self.rules, engine=self, deadline=deadline)
        answer: T = await self.dispatcher.handle(call)
        return answer

    def reach(self, actor: Actor) -> tuple[Scope, ...]:
        """Return the scopes that the actor's calls reach: theirs at every granted level."""
        return self.rules.scopes(actor)

    # -- writing -------------------------------------------------------------------------------------------------------

    async def add(
        self,
        content: str | Candidate,
        *,
        actor: Actor,
        kind: Kind | str = Kind.LONG_TERM,
        key: str | None = None,
        level: Level | str | None = Level.USER,
        category: str | None = None,
        data: Mapping[str, Any] | None = None,
        ttl: timedelta | str | None = None,
        confidence: float = 0.8,
        origin: Origin | None = None,
        occurred_at: datetime | None = None,
        idempotency_key: str | None = None,
        deadline: Deadline | None = None,
    ) -> WriteReceipt:
        """Remember one statement and return once it is durable.

        A ready `Candidate` is stored as given; then all other arguments except `idempotency_key` and `deadline` are
        ignored. With `level` None it is that of the kind. A candidate outside the runtime's grant gives a receipt with
        outcome `blocked`. Raises InvalidInput, or KeyNotAllowed, ScopeNotAllowed, InvalidCandidates if policy forbids
        it. After EmbedderFailed and StoreFailed nothing has been stored.
        """
        request = requests.Add(
            content,
            kind,
            key=key,
            level=level,
            category=category,
            data=data,
            ttl=ttl,
            confidence=confidence,
            origin=origin,
            occurred_at=occurred_at,
            idempotency_key=idempotency_key,
        )
        return await self.handle(request, actor=actor, deadline=deadline)

    async def add_many(
        self, candidates: Sequence[Candidate], *, actor: Actor, idempotency_keys: Sequence[str | None] | None = None
    ) -> Sequence[WriteReceipt]:
        """Remember many things; one receipt each, in order. A bad one is `blocked` with a reason and stops no other."""
        keys = None if idempotency_keys is None else tuple(idempotency_keys)
        request = requests.AddMany(candidates=tuple(candidates), idempotency_keys=keys)
        written: BatchReceipts = await self.handle(request, actor=actor)
        return written.receipts

    async def record(
        self, messages: Sequence[str | Message | Mapping[str, Any]], *, actor: Actor
    ) -> Sequence[WriteReceipt]:
        """Store the messages of a conversation themselves, as episodic memories; one receipt for each that has text.
        They may have the forms that `remember` takes.

        A message that was recorded before (same text, time and session) is only refreshed. One that is too long for a
        memory is redacted as a whole and stored in parts, with a receipt for each.
        """
        said = messages_of(messages, session=actor.session, user=actor.user)
        return await self.handle(requests.Record(messages=tuple(said)), actor=actor)

    async def capture(
        self, message: str | Message | Mapping[str, Any], *, actor: Actor, idempotency_key: str | None = None
    ) -> RunReport:
        """Remember the durable facts in the user's message, which may have the forms that `remember` takes; the report
        lists facts written, blocked and skipped.
        """
        return await self.run(actor=actor, message=message, idempotency_key=idempotency_key)

    async def capture_many(
        self,
        messages: Sequence[str | Message | Mapping[str, Any]],
        *,
        actor: Actor,
        idempotency_keys: Sequence[str | None] | None = None,
    ) -> Sequence[RunReport | None]:
        """Remember the durable facts in several messages, in order: one report for each of the user's messages, None
        for the others, which serve as context only. They may have the forms that `remember` takes. A language model
        reads up to twelve messages of a session in one call.
        """
        with refuse_if_erased_since(self.clock.now()):
            return await captured_each(self, messages, actor=actor, idempotency_keys=idempotency_keys)

    async def remember(
        self,
        messages: str | Message | Mapping[str, Any] | Sequence[str | Message | Mapping[str, Any]],
        *,
        actor: Actor,
        infer: bool = True,
        data: Mapping[str, Any] | None = None,
    ) -> ConversationReceipts:
        """Remember a conversation in a program's usual form: a text, a dictionary with `role` and `content`, or a list
        of them. With `infer`, the durable facts in the user's messages are stored, else every message as it is.
        `data` is stored with each memory. Returns a receipt for each memory, with requests about memory in
        `asked`; if the language model or a budget stops it, memories written so far remain and the error is raised.
        """
        with refuse_if_erased_since(self.clock.now()):
            return await remember(self, messages, actor=actor, infer=infer, data=data)

    async def update(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        actor: Actor,
        key: str | None = None,
        category: str | None = None,
        data: Mapping[str, Any] | None = None,
        context: str | None = None,
        ttl: timedelta | str | None = None,
        confidence: float | None = None,
        occurred_at: datetime | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        expected_version: int | None = None,
        origin: Origin | None = None,
    ) -> WriteReceipt:
        """Correct a memory: the same memory_id in its next version, with the old one in the history. Omitted fields
        stay unchanged; an empty `key`, `category` or `context` removes it. `ttl` counts from now, as a duration or as
        `30d`, `10y`, `never`. `origin` is the channel of the words: lower trust cannot correct higher trust.

        Consent and quotas apply as for a new memory. Raises MemoryNotFound, InvalidInput (`key:taken` if another memory
        has the key), or VersionConflict if it is no longer at `expected_version`.
        """
        request = requests.Update(
            memory_id=memory_id,
            content=content,
            key=key,
            category=category,
            data=data,
            context=context,
            ttl=ttl,
            confidence=confidence,
            occurred_at=occurred_at,
            valid_from=valid_from,
            valid_to=valid_to,
            expected_version=expected_version,
            origin=origin,
        )
        with one_moment():
            return await self.handle(request, actor=actor)

    async def forget(self, memory_id: str, *, actor: Actor) -> None:
        """Delete a memory with all its versions. Raises MemoryNotFound."""
        await self.handle(requests.Forget(memory_id=memory_id), actor=actor)

    async def forget_matching(
        self,
        *,
        actor: Actor,
        kinds: Sequence[Kind | str] | None = None,
        categories: Sequence[str] | None = None,
        keys: Sequence[str] | None = None,
        where: Mapping[str, JsonValue] | None = None,
        happened_from: datetime | None = None,
        happened_to: datetime | None = None,
        limit: int = 1000,
        dry_run: bool = False,
    ) -> ForgetResult:
        """Delete the active memories that meet a filter, with all their versions: the newest `limit` (1 to 1,000), each
        in a separate transaction. `dry_run` only lists them. Raises InvalidInput (`filter:empty`) without any bound:
        `erase` deletes everything of a user.
        """
        bounds: dict[str, Any] = {"kinds": kinds, "categories": categories, "keys": keys, "where": where}
        bounds |= {"happened_from": happened_from, "happened_to": happened_to}
        return await forget_matching(self, actor, bounds, limit=limit, dry_run=dry_run)

    async def rollback(self, memory_id: str, version: int, *, actor: Actor) -> WriteReceipt:
        """Restore the content that a memory had in `version`, as its next version; the memory that replaced it ends.

        Only a version that was once active can be restored, so this needs no review. Raises MemoryNotFound,
        InvalidInput (`version`), VersionConflict, EmbedderFailed.
        """
        return await self.handle(requests.Rollback(memory_id=memory_id, version=version), actor=actor)

    async def undo(self, memory_id: str, *, actor: Actor) -> UndoReceipt:
        """Undo a merge, a new value of a key, or an approval; see `mnemic.maintenance.undo`.

        Raises MemoryNotFound, InvalidInput (`undo:nothing_replaced`), VersionConflict, or WriteBlocked and the breaches
        of policy if a restored statement may not be written now.
        """
        receipt: UndoReceipt = await self.handle(requests.Undo(memory_id=memory_id), actor=actor)
        return receipt

    async def rate(self, memory_id: str, verdict: str, *, actor: Actor) -> Rating | None:
        """Say that a memory is `useful` or `wrong` to the actor's user, in place of what they said of it before; `none`
        withdraws it. It moves the memory by a fixed amount in this user's searches and contexts alone, and changes
        nothing about the memory. A memory that is corrected or told again is no longer wrong. Of each user the newest
        200 ratings count. Raises MemoryNotFound, InvalidInput (`verdict`), StoreFailed.
        """
        return await self.handle(requests.Rate(memory_id=memory_id, verdict=verdict), actor=actor)

    async def ratings(self, *, actor: Actor) -> Sequence[RatedMemory]:
        """Return what the actor's user said of memories, newest first, each with its effect now. Raises StoreFailed."""
        token = await subject_token(self.store, actor.tenant, actor.user)
        found = ratings_in(await marks_of_user(self.store, token, actor.tenant), token)
        memories = {one: await self.store.get(one, scopes=self.reach(actor)) for one in reversed(tuple(found))}
        return [
            RatedMemory(rating=found[one], memory=known, shift=0.0 if known is None else shift_of(known, found))
            for one, known in memories.items()
        ]

    async def carry_out(self, request: MemoryRequest, *, actor: Actor) -> RequestOutcome:
        """Carry out a message's request about memory (`RunReport.asked`), once its user has confirmed it: forget the
        named memories, erase everything about the user, or return the memories to show.

        Absent memories count as done. Raises InvalidInput (`memory_request`), StoreFailed.
        """
        return await carried_out(self, request, actor)

    # -- a whole turn --------------------------------------------------------------------------------------------------

    async def run(
        self,
        *,
        actor: Actor,
        message: str | Message | Mapping[str, Any] | None = None,
        goal: str | None = None,
        context: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
        min_score: float = 0.0,
        asked_at: datetime | None = None,
        watch: Watch | None = None,
    ) -> RunReport:
        """Run one memory-augmented turn: remember from `message`, answer `goal` from memory, audit the answer.

        Either may be omitted. `min_score` is the least relevance of each memory that policy does not pin, `asked_at`
        the time by which words such as `last week` in the goal are read. `watch` receives each step as it ends. A
        failure of the run itself is never raised: the report has status and stop_reason. The answer leaves a line
        without content in the audit log, and question and answer may be stored with it (`Policy.keep_turns`).
        """
        if message is None and goal is None:
            raise InvalidInput("run", hint="give a message, a goal or both")
        if message is not None and not isinstance(message, str):
            message = one_message(message, session=actor.session, user=actor.user)
        for name, text in (("message", message.content if isinstance(message, Message) else message), ("goal", goal)):
            if text is not None and (not isinstance(text, str) or not text.strip()):
                raise InvalidInput(f"{name}:empty")
        said = Message(role="user", content=message, session=actor.session) if isinstance(message, str) else message
        said = None if said is None else message_of(said, actor.user)
        turn = requests.Run(
            message=said,
            goal=goal,
            context=context,
            idempotency_key=idempotency_key,
            min_score=checked_share(min_score, "min_score"),
            asked_at=None if asked_at is None else aware(asked_at, "asked_at"),
        )
        begun_at = self.clock.now()
        report = await self.run_turn(turn, actor, watch=watch)
        return report if goal is None else await record_turn_run(self, actor, report, goal, begun_at)

    async def run_turn(
        self, turn: Run, actor: Actor, *, watch: Watch | None = None, read: Extraction | MnemicError | None = None
    ) -> RunReport:
        """Return the turn, wrapped by the dispatcher's middleware; each of its writes is dispatched separately."""

        async def proceed_turn(_: Call) -> RunReport:
            request = TurnRequest(actor=actor, turn=turn, watch=watch, read=read)
            return await run_turn(
                TurnParts(gateway=self.gateway, extractor=self.extractor, **self._turn_parts), request
            )

        call = Call(request=turn, actor=actor, rules=self.rules, engine=self)
        report: RunReport = await self.dispatcher.handle(call, proceed_turn)
        return report

    # -- reading -------------------------------------------------------------------------------------------------------

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
        (`mnemic.retrieve.result_assembly`). Lists that failed are named in `errors`; if all failed, the first failure
        is raised. Raises ScopeDenied for a level that is not granted.
        """
        times = (happened_from, happened_to, as_of, known_at)
        intent = intent_of(query, top_k, levels, kinds, categories, keys, times, min_score, where)
        bias = self.gateway.with_pinned(preference_bias, pinned)
        day = _moment(asked_at, "asked_at")
        found = await self.gateway.find(intent, actor=actor, bias=bias, asked_at=day, named=named, deadline=deadline)
        return _cut(found, max_tokens, self.token_count)

    def loading(self) -> Awaitable[None] | None:
        """Return what the first question of the process waits for, models and tables; None once they are there."""
        return loading(self.embedder)

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
        profile_tokens: int = 0,
        asked_at: datetime | None = None,
    ) -> ContextBlock:
        """Return the memories that a model asked `query` is shown, as a block of data for its input, and log them as
        injected. An outage is never raised: `degraded` and `reason` report it. `min_score` is the least relevance of
        each memory that policy does not pin; `profile_tokens` of the user's profile come first, whatever is asked;
        `asked_at` is as in `search`.
        """
        config = InjectionConfig(
            max_entries=top_k, max_tokens=max_tokens, min_score=min_score, profile_tokens=profile_tokens
        )
        injector = injector_for(self, actor, config, by="context", asked_at=_moment(asked_at, "asked_at"))
        injection = await injector.inject([{"role": "user", "content": query}])
        if injection.injected:
            await keep_injection(self, actor, injection.run, query)
        return injection.block()

    async def profile(self, *, actor: Actor, max_tokens: int = DEFAULT_PROFILE_TOKENS) -> UserProfile:
        """Return who the actor's user is and what holds now, most important first, each line with the memory that it
        comes from, cut to `max_tokens`. It is read from the memories in force: a correction changes it at once. Raises
        InvalidInput, StoreFailed.
        """
        return await user_profile(self.gateway, actor, max_tokens=max_tokens, count=self.token_count)

    async def redact_text(self, text: str, *, actor: Actor) -> str:
        """`text` as it may be stored elsewhere or shown. Raises InvalidInput (`redaction`)."""
        return await self._pipeline.redact_text(text, tenant=actor.tenant)

    async def hot(self, *, actor: Actor, kinds: Sequence[Kind | str] | None = None, limit: int = 10) -> SearchResult:
        """Return the most recent memories by the time they happened, for the head of a prompt: through the hot set if
        there is one, whose failure is named in `errors`. Writes of other processes may appear with a short delay.
        """
        where = await list_and_count.visible(self, actor, kinds)
        return await HotReader.from_projections(self._projections, self.store).newest(where, limit=limit)

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
        return await list_and_count.list_memories(self, actor, bounds, facets=facets, limit=limit, before=before)

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
        return await list_and_count.count_memories(self, actor, bounds)

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
            return archive_lines(self.store, self.reach(actor), actor.user, self.vault and self.vault.keyring)
        return export_lines(self.store, everything(Where(scopes=self.reach(actor), live_at=self.clock.now())))

    # -- review --------------------------------------------------------------------------------------------------------

    async def reviews(
        self,
        *,
        actor: Actor,
        whole_tenant: bool = False,
        limit: int = 50,
        after: str | None = None,
        older_than: timedelta | None = None,
        shared: bool = False,
    ) -> Sequence[PendingReview]:
        """Return the memories that await review, oldest first, each with the memory it contradicts; `after` ends the
        previous page. `shared` adds others' memories at the actor's shared levels that are visible but not trusted yet.
        """
        unapproved = [scope for scope in self.reach(actor) if scope.level in SHARED] if shared else ()
        return await waiting(
            self.store,
            self.clock,
            tenant=actor.tenant,
            scopes=self._reach(actor, whole_tenant),
            shared=unapproved,
            limit=limit,
            after=after,
            older_than=older_than,
        )

    async def approve(
        self,
        memory_id: str,
        *,
        actor: Actor,
        content: str | None = None,
        merge_with: Sequence[str] = (),
        whole_tenant: bool = False,
        expected_version: int | None = None,
    ) -> WriteReceipt:
        """Approve a waiting memory, and close the one it contradicts. `content` replaces its text; with `merge_with` it
        also replaces these memories of its scope.

        Users decide alone on statements about themselves; of anything else the proposer cannot approve. The approved
        text passes policy, grant and limits as if it were added now. Raises ReviewDenied (`review_denied:proposer`),
        MemoryNotFound, VersionConflict, InvalidInput, and the breaches of policy.
        """
        request = requests.Approve(
            memory_id=memory_id,
            content=content,
            merge_with=tuple(merge_with),
            whole_tenant=whole_tenant,
            expected_version=expected_version,
        )
        return await self.handle(request, actor=actor)

    async def reject(self, memory_id: str, *, actor: Actor, whole_tenant: bool = False) -> WriteReceipt:
        """Turn a waiting memory down; it stays, unread, as `rejected` until it expires. Raises MemoryNotFound."""
        return await self.handle(requests.Reject(memory_id=memory_id, whole_tenant=whole_tenant), actor=actor)

    async def decide(
        self,
        memory_ids: Sequence[str],
        action: Literal["approve", "reject"],
        *,
        actor: Actor,
        whole_tenant: bool = False,
    ) -> Sequence[ReviewOutcome]:
        """Make the same decision on many waiting memories; a failing one reports its reason and does not stop the
        others.

        Raises StoreFailed; earlier decisions stay.
        """
        verb = self.approve if action == "approve" else self.reject
        return await decide_each(memory_ids, partial(verb, actor=actor, whole_tenant=whole_tenant))

    async def reject_older(
        self, older_than: timedelta, *, actor: Actor, whole_tenant: bool = False
    ) -> Sequence[WriteReceipt]:
        """Reject all memories pending for so long, so that the queue does not rot; return one receipt each."""
        receipts: list[WriteReceipt] = []
        after = None
        while page := await self.reviews(actor=actor, whole_tenant=whole_tenant, limit=_PAGE, after=after):
            after = page[-1].memory.memory_id
            aged = [one.memory for one in page if one.age >= older_than]
            for memory in aged:
                request = requests.Reject(memory_id=memory.memory_id, whole_tenant=whole_tenant, reason="aged")
                receipts.append(await self.handle(request, actor=actor))
        return receipts

    # -- consent, and values behind markers ----------------------------------------------------------------------------

    async def consents(self, *, actor: Actor) -> dict[str, bool]:
        """Return the user's decisions, by key."""
        token = await subject_token(self.store, actor.tenant, actor.user)
        return dict((await consents(self.store, token, actor.tenant)).decided)

    async def grant_consent(self, key: str, *, actor: Actor) -> None:
        """From now on the user's memories under `key` may be written and found. Raises InvalidInput."""
        await self.handle(requests.Consent(key=key, granted=True), actor=actor)

    async def revoke_consent(self, key: str, *, actor: Actor, erase_held: bool = False) -> Revocation:
        """Deny writing and reading `key` for this user; `erase_held` also erases its values. Raises InvalidInput."""
        name = await self.handle(requests.Consent(key=key, granted=False), actor=actor)
        where = Where(scopes=(actor.scope(Level.USER),), keys=frozenset({name}), statuses=frozenset(Status))
        hidden = await self.store.count(where)
        erased = None
        if erase_held:
            erased = await self.handle(requests.EraseKey(key=name), actor=actor)
        return Revocation(key=name, hidden=0 if erased else hidden, erased=erased)

    async def reveal(self, memory_id: str, *, actor: Actor, role: str, whole_tenant: bool = False) -> RevealResult:
        """Return the values that a memory's markers replace. `role` is the embedding program's word that the actor has
        it; it must be one that the policy names. Each call leaves a line in the audit, also when it is denied.

        Raises MemoryNotFound, RevealDenied (`reveal_denied:role`), NotSupported without a key file, KeyFailed.
        """
        request = requests.Reveal(memory_id=memory_id, role=role, whole_tenant=whole_tenant)
        revealed: RevealResult = await self.handle(request, actor=actor)
        return revealed

    async def rotate_data_keys(self, *, actor: Actor, subject: str | None = None, keep_old: bool = False) -> Rotation:
        """Rotate the data key of the user `subject`, or of everybody with sealed data in the actor's tenant: data
        sealed with the old keys is re-encrypted while the store is in use, and they are destroyed once nothing needs
        them; see `mnemic.maintenance.key_rotation`. With `keep_old` they stay, for another store sealed with them.

        Raises NotSupported (`rotate`) without a key file, InvalidInput, KeyFailed, StoreFailed: a further call
        continues.
        """
        rotation: Rotation = await self.handle(requests.RotateDataKeys(subject=subject, keep_old=keep_old), actor=actor)
        return rotation

    # -- upkeep --------------------------------------------------------------------------------------------------------

    async def maintain(
        self, *, actor: Actor, rules: ExpiryRules | None = None, whole: bool = False, dry_run: bool = False
    ) -> MaintenanceReport:
        """Run every job: background capture, expiry and purge, outbox, file maintenance (`whole`: rewrite it)."""
        return await run_maintenance(self, actor, rules, feeds=self.feeds, whole=whole, dry_run=dry_run)

    async def expire(self, *, actor: Actor, rules: ExpiryRules | None = None, dry_run: bool = False) -> ExpiryReport:
        """Mark expired memories, purge those past their grace period; see `mnemic.maintenance.expiry_job`."""
        request = requests.Expire(dry_run=dry_run)
        if rules is not None:
            request = requests.Expire(
                grace=rules.grace, apart=rules.apart, hard_kinds=rules.hard_kinds, dry_run=dry_run
            )
        report: ExpiryReport = await self.handle(request, actor=actor)
        return report

    async def consolidate(
        self, *, actor: Actor, rules: ConsolidationRules | None = None, dry_run: bool = False
    ) -> ConsolidationReport:
        """Consolidate the memories of the users of the actor's tenant: summaries, profiles, reflections; see
        `mnemic.maintenance.consolidate`. Without `rules` no model is called. Raises StoreFailed, EmbedderFailed.
        """
        done = await consolidate(
            self.store,
            self.clock,
            actor=actor,
            rules=rules or ConsolidationRules(),
            write=self._derive,
            hidden=self.gateway.hidden_keys,
            completer=self.completer,
            dry_run=dry_run,
        )
        if not dry_run:
            await self._pipeline.publisher.catch_up()
        return done

    async def _derive(self, candidate: Candidate, actor: Actor, sources: Collection[str]) -> WriteReceipt:
        """Write a derived memory, if its sources still exist when it is committed."""
        return await self.handle(requests.Derive(candidate=candidate, sources=tuple(sources)), actor=actor)

    async def restore(self, line: Archived, *, actor: Actor, own: bool = False) -> WriteReceipt:
        """Restore the contents of an archive, in every version and state, into the actor's scopes; `refreshed` for
        existing ones. With `own` the program vouches for origin, trust and author; see `mnemic.maintenance.archive`;
        with a key file it also needs the seal of the line. Raises InvalidInput (also `archive:seal`), VersionConflict,
        ScopeDenied, EmbedderFailed, KeyFailed, StoreFailed.
        """
        if own:
            require_sealed(line.seal, self.vault and self.vault.keyring)
        if isinstance(line, ArchivedMemory):
            return await self.handle(requests.Restore(versions=line.versions, own=own), actor=actor)
        return await self.handle(requests.RestoreConsent(key=line.key, granted=line.granted, at=line.at), actor=actor)

    async def reread(
        self,
        *,
        actor: Actor,
        since: datetime | None = None,
        limit: int | None = None,
        progress: str | Path | None = None,
        dry_run: bool = False,
    ) -> RereadReport:
        """Read the actor's recorded messages again with today's reader, and bring memory to what it would hold; with
        `dry_run` only report the differences. See `mnemic.maintenance.reread`. Raises InvalidInput, StoreFailed.
        """
        return await reread(self, actor=actor, since=since, limit=limit, progress=progress, dry_run=dry_run)

    async def undo_reread(self, run_id: str, *, actor: Actor) -> int:
        """Take back what a `reread` of the actor changed; return the number of memories. Raises InvalidInput
        (`reread:unknown`), StoreFailed.
        """
        return await undo_reread(self, run_id, actor=actor)

    async def undo_import(self, import_id: str, *, actor: Actor) -> ImportUndone:
        """Take back an import of the actor: what it made is forgotten, what it changed is as before; what has changed
        since stays. Raises InvalidInput (`import:unknown`), StoreFailed.
        """
        return await undo_import(self, import_id, actor=actor)

    async def doctor(self, *, actor: Actor, limit: int = 2000) -> Health:
        """Find duplicates, contradictions, junk, unused memories and memories without a vector among the `limit` newest
        active memories of the actor's tenant, and how long review waits. Nothing is changed. Raises StoreFailed.
        """
        return await examine(self.store, actor.tenant, self.clock.now(), limit=limit)

    async def reembed(self, embedder: Embedder, *, on_progress: Callable[[int], None] | None = None) -> ReembedResult:
        """Migrate the whole store, all tenants' memories, to another embedder while it is in use; see
        `mnemic.maintenance.reembed`. This engine switches to it and closes the old one; other processes fall back to
        keyword search until they are restarted with the new one. Raises EmbedderFailed, StoreFailed: a further call
        continues.
        """
        before = self.embedder

        async def adopt() -> None:
            self._pipeline.use(embedder)
            self.embedder = self.searcher.embedder = embedder

        self._pipeline.successor = embedder
        try:
            return await reembed(self.store, embedder, adopt=adopt, on_progress=on_progress)
        finally:
            self._pipeline.successor = None
            if self.embedder is not before:
                await before.close()

    async def rebuild(self, projection: str, *, actor: Actor) -> int:
        """Rebuild a projection for the tenant; return the number of memories. Raises InvalidInput, StoreFailed."""
        feeds = {feed.name: feed for feed in self.feeds}
        if projection not in feeds:
            raise InvalidInput(
                "projection", hint=f"one of {', '.join(sorted(feeds))}" if feeds else "this store feeds no copy"
            )
        return await feeds[projection].rebuild(actor.tenant)

    async def unregister(self, projection: str, *, actor: Actor) -> int:
        """Unregister a projection of the whole store that will not return; return how many entries waited for it.
        Raises InvalidInput if it is not registered, or fed by this engine, which would register it again; StoreFailed.
        """
        waiting = await self.store.projections()
        if projection not in waiting:
            raise InvalidInput("projection", hint=f"registered are: {', '.join(sorted(waiting)) or 'none'}")
        if any(feed.name == projection for feed in self.feeds):
            raise InvalidInput("projection", hint=f"{projection} is still set up; take it out of the settings first")
        await self.store.unregister(projection)
        return waiting[projection]

    # -- erasure and audit ---------------------------------------------------------------------------------------------

    async def erase(self, subject: str, *, actor: Actor, block: bool = False) -> ErasureReceipt:
        """Erase everything about the user `subject` of the actor's tenant; see `mnemic.maintenance.erase`. With `block`
        nothing about them is ever stored again. After an interruption, another call continues.
        """
        receipt: ErasureReceipt = await self.handle(requests.Erase(subject=subject, block=block), actor=actor)
        return receipt

    async def export_subject(
        self, subject: str, *, actor: Actor, form: Form = "json", values: bool = False
    ) -> AsyncIterator[str]:
        """Yield all data stored about the user `subject` of the actor's tenant, and nothing about others, as the chunks
        of one JSON document or of one HTML page for people. `values` decrypts sealed values, for the subject only.
        Raises InvalidInput (`subject`, `form`), RevealDenied (`reveal_denied:subject`), NotSupported (`reveal`).
        """
        forms = {"json": json_chunks, "html": page_chunks}
        if form not in forms:
            raise InvalidInput("form", hint=f"one of {', '.join(forms)}")
        given: Any = {"sessions": self.sessions, "vault": self.vault, "quotas": self.rules.limits.quotas}
        holdings = await open_export(self.store, self.clock, subject, actor=actor, values=values, **given)
        async for chunk in forms[form](holdings):
            yield chunk

    async def verify_erasure(self, receipt: ErasureReceipt) -> dict[str, int]:
        """Scan for erased data and return the number of finds by place: all zero if the receipt is right."""
        return await verify(self.store, receipt, feeds=self.feeds)

    async def audit(
        self, *, actor: Actor, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> Sequence[AuditEvent]:
        """Return the tenant's audit after sequence `after`; with `before` the last `limit` lines before that."""
        return await self.store.audit(actor.tenant, after=after, before=before, limit=limit)

    async def verify_audit(self, *, actor: Actor) -> AuditReport:
        """Check every line of the tenant's audit."""
        return await verify_lines(self.store, actor.tenant, None if self.vault is None else self.vault.keyring)

    def _reach(self, actor: Actor, whole_tenant: bool) -> tuple[Scope, ...] | None:
        return None if whole_tenant else self.reach(actor)


READS: Mapping[type[Request[Any]], Callable[..., Awaitable[Any]]] = MappingProxyType(
    {
        requests.Capture: MemoryEngine.capture,
        requests.Context: MemoryEngine.context,
        requests.Count: MemoryEngine.count,
        requests.ForgetMatching: MemoryEngine.forget_matching,
        requests.Get: MemoryEngine.get,
        requests.History: MemoryEngine.history,
        requests.Import: MemoryEngine.capture_many,
        requests.List: MemoryEngine.list,
        requests.Profile: MemoryEngine.profile,
        requests.Run: MemoryEngine.run,
        requests.Search: MemoryEngine.search,
    }
)
"""The method that answers a request which reads, or which is made of several others that each pass the dispatcher."""


def _without_none(**named: Any) -> dict[str, Any]:
    """Return the arguments that are not None."""
    return {name: value for name, value in named.items() if value is not None}


def _moment(moment: datetime | None, name: str) -> datetime | None:
    """`moment` in UTC. Raises InvalidInput (`invalid_input:<name>`) if it has no time zone."""
    return None if moment is None else aware(moment, name)


def _cut(result: SearchResult, max_tokens: int | None, count: TokenCount) -> SearchResult:
    """Return the result with as many of its hits as `max_tokens` have room for."""
    if max_tokens is None:
        return result
    return replace(result, hits=within_tokens(result.hits, max_tokens, count=count))
