"""The engine: every verb a program needs, for any number of actors, asynchronous."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from mnemic import requests
from mnemic.compose.template_composer import OfflineComposer
from mnemic.dispatch import BatchReceipts, Call, Dispatcher, Middleware, Rules, Watchers
from mnemic.dispatch.handlers import Handlers
from mnemic.engine.message_forms import captured_each, messages_of, remember
from mnemic.engine.read_verbs import ReadVerbs
from mnemic.engine.run_record import recorded
from mnemic.engine.turn import TurnParts, run_turn
from mnemic.engine.turn_request import TurnRequest
from mnemic.errors import InvalidInput, MnemicError
from mnemic.extract.rule_extractor import RuleExtractor
from mnemic.graph.search import GraphNeighbourhood
from mnemic.inject.citation_check import UsageAudit
from mnemic.policy.budget import Budget
from mnemic.policy.expiry_rule import ttl_of
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import EntityReading, Policy
from mnemic.policy.limits import Limits
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.retrieve.external_search_service import SearchIndexAdapter
from mnemic.retrieve.intent_planning import RulePlanner
from mnemic.retrieve.optional_backend import OptionalBackend
from mnemic.runtime.clock import SystemClock
from mnemic.runtime.lazy_methods import late
from mnemic.types import Actor, Candidate, Deadline, Kind, Level, Message, Origin, Source, WriteReceipt
from mnemic.types.memory_kinds import CATALOG, kind_of
from mnemic.types.scope import checked_actor
from mnemic.types.values import aware, checked_share
from mnemic.write.limiter import Limiter, words_read
from mnemic.write.outbox_maintenance import end
from mnemic.write.outbox_worker import OutboxWorker
from mnemic.write.pipeline import MemoryWritePipeline, vault_of
from mnemic.write.redact import Redactor
from mnemic.write.thresholds import WriteRules

if TYPE_CHECKING:
    from mnemic.compose import Composer
    from mnemic.dispatch.gateway import MemoryGateway
    from mnemic.extract import Extraction, Extractor
    from mnemic.maintenance.administration_verbs import AdministrationVerbs
    from mnemic.ports import Clock, Completer, Embedder, Keyring, RecordStore, Reranker, SessionStore
    from mnemic.ports.graph import GraphStore
    from mnemic.ports.projections import Projection
    from mnemic.requests import Run
    from mnemic.retrieve.intent_planning import Planner
    from mnemic.types import ConversationReceipts
    from mnemic.types.trace import RunReport, Watch
    from mnemic.write.model_judge import Judge
else:  # made at run time: an add needs none of them and imports none
    _names = "update forget forget_matching"
    CorrectionVerbs = late(ReadVerbs, "mnemic.engine.correction_verbs", "CorrectionVerbs", _names)
    MaintenanceVerbs = late(
        CorrectionVerbs,
        "mnemic.maintenance.maintenance_verbs",
        "MaintenanceVerbs",
        "expire consolidate _derive restore doctor reembed rebuild unregister",
    )
    AdministrationVerbs = late(
        MaintenanceVerbs,
        "mnemic.maintenance.administration_verbs",
        "AdministrationVerbs",
        "_reach rollback reviews approve reject decide reject_older undo consents grant_consent revoke_consent reveal "
        "rotate_data_keys maintain erase carry_out export_subject verify_erasure audit verify_audit",
    )


class _Turns:
    """Components of a turn, with rules and templates as defaults; loaded with the first turn."""

    def __init__(
        self, embedder: Embedder, proposers: Mapping[str, Any], *, preference_bias: bool, max_tokens: int | None
    ) -> None:
        self._embedder, self._proposers = embedder, proposers
        self._settings = _given(preference_bias=preference_bias, max_tokens=max_tokens)

    def parts(self, gateway: MemoryGateway) -> TurnParts:
        """Return the parts of a turn that passes this gateway."""
        return TurnParts(gateway=gateway, **self._made, **self._settings)

    @cached_property
    def _made(self) -> dict[str, Any]:
        given = self._proposers
        return {
            "extractor": given["extractor"] or RuleExtractor(self._embedder),
            "planner": given["planner"] or RulePlanner(),
            "composer": given["composer"] or OfflineComposer(),
            "usage": given["usage"] or UsageAudit(),
        }


def _given(**named: Any) -> dict[str, Any]:
    """Return the arguments that are not None."""
    return {name: value for name, value in named.items() if value is not None}


class MemoryEngine(AdministrationVerbs):
    """Memory for many actors on one store.

    Every verb takes the `actor` that it is called for and reaches only that actor's scopes at the granted levels. Use
    it as an async context manager, or call `open` and `close`. Errors are those of `mnemic.errors`; none of them leaves
    a partial write.
    """

    keeps_turns = True  # defaults, overridden per instance
    """False if the texts of turns are stored only when policy allows it, as in a service (`mnemic.write.turn_log`)."""
    background = False
    """True if adapters capture in the background (`mnemic.maintenance.background_capture`)."""
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
        middleware: Sequence[Middleware] = (),
        reads: EntityReading | None = None,
        preference_bias: bool = False,
        max_tokens: int | None = None,
        tokenizer: Any = None,
        reranker: Reranker | None = None,
        projections: Sequence[Projection] = (),
    ) -> None:
        self.store, self.embedder, self.sessions, self.completer = store, embedder, sessions, completer
        self.graph, self.reads, self.clock = graph, reads, clock or SystemClock()
        self.redaction, self.vault = redaction or RedactionRules(), vault_of(keyring)
        parts: dict[str, Any] = {"vault": self.vault, "judge": judge, "redactor": Redactor.under(self.redaction)}
        self._pipeline = MemoryWritePipeline(store, embedder, self.clock, rules, projections=projections, **parts)
        self._projections, self._tokenizer, self.reranker = tuple(projections), tokenizer, reranker
        self.rules = Rules(**_given(policy=policy, grant=grant, budget=budget, limits=limits))
        self.watchers = Watchers()
        self.dispatcher = self._made_dispatcher((*middleware, self.watchers))
        proposers: dict[str, Any] = {"extractor": extractor, "planner": planner, "composer": composer, "usage": usage}
        self._turns = _Turns(embedder, proposers, preference_bias=preference_bias, max_tokens=max_tokens)

    def _made_dispatcher(self, middleware: Sequence[Middleware]) -> Dispatcher:
        limiter = Limiter(store=self.store, clock=self.clock, pipeline=self._pipeline)
        parts: dict[str, Any] = {"sessions": self.sessions, "vault": self.vault, "redaction": self.redaction}
        handlers = Handlers(pipeline=self._pipeline, limiter=limiter, forgotten=self._forgotten, **parts)
        return Dispatcher(limiter=limiter, handlers=handlers, middleware=middleware)

    def _forgotten(self) -> None:
        """Drop the cached speakers and data of erased scopes."""
        self.searcher.spoken.forget()
        self.searcher.data.forget()

    def _beside(self) -> dict[str, Any]:
        """Return the additional sources of a search: graph traversal and a search service."""
        found: dict[str, Any] = {"elsewhere": SearchIndexAdapter.among(self._projections, self.clock)}
        if self.graph is not None:
            found["surroundings"] = GraphNeighbourhood(self.graph, OptionalBackend(self.clock))
        return found | {"reranker": self.reranker}

    async def open(self) -> Self:
        """Open the store. Raises StoreFailed or SpaceMismatch."""
        await self.store.open(self.embedder.space)
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
            await end(self._pipeline.publisher.looking)
        for feed in self._pipeline.publisher.feeds:
            await feed.projection.close()
        await self.store.close()
        await self.embedder.close()
        for other in (self.graph, self.sessions, self.completer, self.reranker):
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
    def policy(self) -> Policy:
        """Policy: the candidates that may be proposed."""
        return self.rules.policy

    # -- writing ------------------------------------------------------------------------------------------------------

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
        if not isinstance(content, Candidate):
            # A model's figure is clamped; a program's is a mistake.
            if isinstance(confidence, int | float) and not 0 <= confidence <= 1:
                raise InvalidInput("confidence", hint="a number from 0 to 1")
            chosen = kind_of(kind)
            content = Candidate(
                content=content,
                kind=chosen,
                key=key,
                level=str(level or CATALOG[chosen].level),  # None: the level of the kind
                category=category,
                data=data or {},
                ttl=None if ttl is None else ttl_of(ttl),
                confidence=confidence,
                source=Source(origin=checked_actor(actor).channel if origin is None else origin, session=actor.session),
                occurred_at=occurred_at,
            )
        request = requests.Add(candidate=content, idempotency_key=idempotency_key)
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
        said = messages_of(messages, session=actor.session)
        return await self.handle(requests.Record(messages=tuple(said)), actor=actor)

    async def capture(self, message: str | Message, *, actor: Actor, idempotency_key: str | None = None) -> RunReport:
        """Remember the durable facts in the user's message; the report lists facts written, blocked and skipped."""
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
        with words_read(self.clock.now()):
            return await captured_each(self, messages, actor=actor, idempotency_keys=idempotency_keys)

    async def remember(
        self,
        messages: str | Message | Mapping[str, Any] | Sequence[str | Message | Mapping[str, Any]],
        *,
        actor: Actor,
        infer: bool = True,
        metadata: Mapping[str, Any] | None = None,
    ) -> ConversationReceipts:
        """Remember a conversation in a program's usual form: a text, a dictionary with `role` and `content`, or a list
        of them. With `infer`, the durable facts in the user's messages are stored, else every message as it is.
        `metadata` becomes the data of each memory. Returns a receipt for each memory, with requests about memory in
        `asked`; if the language model or a budget stops it, memories written so far remain and the error is raised.
        """
        with words_read(self.clock.now()):
            return await remember(self, messages, actor=actor, infer=infer, metadata=metadata)

    # -- a whole turn -------------------------------------------------------------------------------------------------

    async def run(
        self,
        *,
        actor: Actor,
        message: str | Message | None = None,
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
        if message is not None and not isinstance(message, str | Message):
            raise InvalidInput("message", hint="a text or a Message; `remember` takes dictionaries and lists")
        for name, text in (("message", message.content if isinstance(message, Message) else message), ("goal", goal)):
            if text is not None and (not isinstance(text, str) or not text.strip()):
                raise InvalidInput(f"{name}:empty")
        from mnemic.extract import as_told_to

        said = Message(role="user", content=message, session=actor.session) if isinstance(message, str) else message
        turn = requests.Run(
            message=None if said is None else as_told_to(said, actor.user),
            goal=goal,
            context=context,
            idempotency_key=idempotency_key,
            min_score=checked_share(min_score, "min_score"),
            asked_at=None if asked_at is None else aware(asked_at, "asked_at"),
        )
        begun_at = self.clock.now()
        report = await self.run_turn(turn, actor, watch=watch)
        return report if goal is None else await recorded(self, actor, report, goal, begun_at)

    async def run_turn(
        self, turn: Run, actor: Actor, *, watch: Watch | None = None, read: Extraction | MnemicError | None = None
    ) -> RunReport:
        """Return the turn, wrapped by the dispatcher's middleware; each of its writes is dispatched separately."""

        async def proceed(_: Call) -> RunReport:
            request = TurnRequest(actor=actor, turn=turn, watch=watch, read=read)
            return await run_turn(self._turns.parts(self.gateway), request)

        call = Call(request=turn, actor=actor, rules=self.rules, engine=self)
        report: RunReport = await self.dispatcher.handle(call, proceed)
        return report
