"""The gateway of a turn: candidates and intents that a model or a rule proposed, within policy, grant and limits.

Writes are dispatched as requests (`mnemic.dispatch`); a retrieval's levels become the actor's own scopes here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from mnemic.dispatch import BatchReceipts, Call, Dispatcher, Rules, Watchers
from mnemic.dispatch.handlers.add import AddManyHandler
from mnemic.errors import InvalidIntent
from mnemic.extract.file_reader import FileReader
from mnemic.inject.token_count import TokenCount, estimated_tokens
from mnemic.policy.budget import Budget
from mnemic.policy.grant import Grant, admit_intent
from mnemic.policy.key_rules import Policy
from mnemic.policy.limits import Limits
from mnemic.ports import Clock
from mnemic.ports.record_store import Marks
from mnemic.requests import AddMany
from mnemic.retrieve.policy_candidates import PreferenceBias, checked_pinned
from mnemic.retrieve.prefetch import ReadDecisions
from mnemic.retrieve.search import Searcher
from mnemic.retrieve.search_state import Decisions
from mnemic.types import (
    Actor,
    Blocked,
    Candidate,
    Deadline,
    Intent,
    JsonValue,
    Outcome,
    SearchResult,
    Where,
    WriteReceipt,
)
from mnemic.types.filter_language import checked_filter, with_values
from mnemic.types.memory import without_bytes
from mnemic.write.limiter import Limiter, consents, consents_in, marks_of_user
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.prepare import item_key, redact_value
from mnemic.write.ratings import ratings_in

PREFERENCE = "preference"
"""Category in which the extractors store likes and dislikes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayWrite:
    """Result of a batch: a receipt for each candidate that passed, an entry for each that the runtime blocked."""

    receipts: tuple[WriteReceipt, ...] = ()
    blocked: tuple[Blocked, ...] = ()

    @property
    def failed(self) -> tuple[WriteReceipt, ...]:
        """Those that passed the gate and yet could not be stored."""
        return tuple(receipt for receipt in self.receipts if receipt.outcome is Outcome.BLOCKED)

    def keys(self, *, refreshed: bool) -> list[str | None]:
        """Return the keys that were rewritten, or those that were only refreshed."""
        return [receipt.key for receipt in self.receipts if receipt.stored and receipt.was_duplicate is refreshed]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryGateway:
    """Writes and reads of memories, within the runtime's current grant."""

    pipeline: MemoryWritePipeline
    searcher: Searcher
    clock: Clock
    policy: Policy = field(default_factory=Policy)
    grant: Grant = field(default_factory=Grant)
    budget: Budget = field(default_factory=Budget)
    limits: Limits = field(default_factory=Limits)
    watchers: Watchers = field(default_factory=Watchers)
    dispatcher: Dispatcher | None = None
    token_count: TokenCount = estimated_tokens
    files: FileReader = field(default_factory=FileReader)

    def __post_init__(self) -> None:
        # Idempotent, so it does not matter whether the engine has already applied the limits (`Rules`).
        object.__setattr__(self, "policy", self.policy.with_longest(self.limits.longest))

    @property
    def rules(self) -> Rules:
        """Rules that requests are judged by."""
        return Rules(policy=self.policy, grant=self.grant, budget=self.budget, limits=self.limits)

    @property
    def limiter(self) -> Limiter:
        """Consent, quotas and retention."""
        return Limiter(store=self.searcher.store, clock=self.clock, pipeline=self.pipeline)

    async def hidden_keys(self, actor: Actor) -> frozenset[str]:
        """Return the keys the actor has not consented to, as of now: nothing under them is found."""
        token = await self.limiter.token(actor)
        return (await consents(self.searcher.store, token, actor.tenant)).hidden(self.policy, self.limits)

    async def decisions(self, actor: Actor) -> ReadDecisions:
        """Return a function that reads what the user decided from marks: those of a store, or of a snapshot of it."""
        token = await self.limiter.token(actor)

        async def read(marks: Marks) -> Decisions:
            found = await marks_of_user(marks, token, actor.tenant)
            return Decisions(consents_in(found, token).hidden(self.policy, self.limits), ratings_in(found, token))

        return read

    async def write(
        self,
        candidates: Sequence[Candidate],
        *,
        actor: Actor,
        idempotency_key: str | None = None,
        deadline: Deadline | None = None,
    ) -> GatewayWrite:
        """Store the candidates that the grant allows. A bad candidate does not stop the others; its receipt has the
        reason.

        With an `idempotency_key` a second delivery of the same candidates changes nothing. Raises BudgetSpent
        (`max_capture_items`) before anything is written.
        """
        request = AddMany(
            candidates=tuple(candidates),
            # A key per candidate: a retry may propose the same statements in another order, or only some of them.
            idempotency_keys=tuple(item_key(idempotency_key, candidate) for candidate in candidates),
            captured=True,
        )
        call = Call(request=request, actor=actor, rules=self.rules, deadline=deadline)
        written: BatchReceipts = await (self.dispatcher or self._own_dispatcher()).handle(call)
        return GatewayWrite(
            receipts=tuple(one for place, one in enumerate(written.receipts) if place not in written.denied),
            blocked=tuple(
                Blocked(key=one.key, reason=one.reason or "", level=one.level)
                for place, one in enumerate(written.receipts)
                if place in written.denied
            ),
        )

    def _own_dispatcher(self) -> Dispatcher:
        """Return a dispatcher for captures alone, of a gateway that was built without an engine."""
        adding = AddManyHandler(self.pipeline, self.limiter)
        return Dispatcher(limiter=self.limiter, handlers={AddMany: adding}, middleware=(self.watchers,))

    async def write_captured(
        self,
        candidates: Sequence[Candidate],
        *,
        actor: Actor,
        idempotency_key: str | None = None,
        deadline: Deadline | None = None,
    ) -> GatewayWrite:
        """Write in portions of `max_capture_items`. That budget bounds the proposals of a model, not the size of a
        user's message.
        """
        done = GatewayWrite()
        portion = self.budget.max_capture_items
        # `max(1, ...)`: no candidates still make one dispatched request, which middleware and limits see.
        for start in range(0, max(1, len(candidates)), portion):
            part = candidates[start : start + portion]
            more = await self.write(part, actor=actor, idempotency_key=idempotency_key, deadline=deadline)
            done = GatewayWrite(receipts=(*done.receipts, *more.receipts), blocked=(*done.blocked, *more.blocked))
        return done

    async def retrieve(
        self, intent: Intent, *, actor: Actor, preference_bias: bool = False, deadline: Deadline | None = None
    ) -> SearchResult:
        """Return the results of the intent, within the grant. Raises ScopeDenied, InvalidIntent, or MnemicError if all
        lists fail.
        """
        if any(len(text) > self.budget.max_query_chars for text in (intent.query, *intent.parts)):
            raise InvalidIntent("query_too_long")
        if not 1 <= intent.top_k <= self.budget.max_retrieve_top_k:
            raise InvalidIntent("top_k")
        # Without `asked_at`: a model cannot choose the day from which "last week" counts.
        return await self.find(intent, actor=actor, bias=self.bias(preference_bias), deadline=deadline)

    async def find(
        self,
        intent: Intent,
        *,
        actor: Actor,
        bias: PreferenceBias,
        asked_at: datetime | None = None,
        named: bool = False,
        deadline: Deadline | None = None,
    ) -> SearchResult:
        """Return the results of a valid intent, within the grant and without hidden keys; its texts are redacted first.
        `asked_at` (None: now) and `named` are as in `Searcher.search`. Raises ScopeDenied, or MnemicError if all lists
        fail.
        """
        spans = self.watchers.spans
        if spans is None:
            return await self._find(intent, actor, bias, asked_at, named, deadline)
        with spans.of_search(actor) as found:
            found.append(await self._find(intent, actor, bias, asked_at, named, deadline))
            return found[0]

    async def _find(
        self,
        intent: Intent,
        actor: Actor,
        bias: PreferenceBias,
        asked_at: datetime | None,
        named: bool,
        deadline: Deadline | None,
    ) -> SearchResult:
        granted = admit_intent(intent, self.grant, actor)
        result = await self.searcher.search(
            await self.pipeline.redact_text(granted.query, tenant=actor.tenant),
            self.where(granted, actor),
            top_k=granted.top_k,
            parts=[await self.pipeline.redact_text(part, tenant=actor.tenant) for part in granted.parts],
            bias=bias,
            min_score=granted.min_score,
            named=named,
            known_at=granted.known_at,
            asked_at=asked_at or self.clock.now(),
            deadline=deadline,
            decisions=await self.decisions(actor),
            data=await self.as_stored(granted.where, actor),
        )
        hits = [replace(hit, memory=without_bytes(hit.memory)) for hit in result.hits]
        return self.watchers.report_search(replace(result, hits=tuple(hits)))

    async def as_stored(self, where: Mapping[str, JsonValue] | None, actor: Actor) -> Mapping[str, JsonValue] | None:
        """Return a filter on data whose values are as data is stored, without personal data: what was given to a memory
        finds it. Raises InvalidInput (`where`, `operator`).
        """
        given = checked_filter(where)
        if given is None:
            return None
        secret = await self.pipeline.secret(actor.tenant)
        return with_values(given, lambda value: redact_value(value, self.pipeline.redactor, secret))

    def where(self, intent: Intent, actor: Actor) -> Where:
        """Return the filter of an admitted intent: the actor's own scopes at its levels, live memories only."""
        return Where(
            scopes=actor.scopes(intent.levels or ()),
            kinds=frozenset(intent.kinds) if intent.kinds is not None else None,
            categories=frozenset(intent.categories) if intent.categories is not None else None,
            keys=frozenset(intent.keys) if intent.keys is not None else None,
            happened_from=intent.happened_from,
            happened_to=intent.happened_to,
            as_of=intent.as_of,
            live_at=self.clock.now(),
        )

    def bias(self, preference_bias: bool) -> PreferenceBias:
        """Return the policy's preference keys if the bias is requested, and the pinned memories of every answer."""
        rules = (self.policy.keys or {}).values()
        return PreferenceBias(
            # Without a request for the bias, preferences compete by their relevance alone.
            keys=frozenset(rule.key for rule in rules if rule.preference) if preference_bias else frozenset(),
            bonus=self.policy.preference_bias,
            pinned_keys=frozenset(rule.key for rule in rules if rule.pinned),
            pinned_kinds=self.policy.pinned_kinds,
            pinned_categories=self.policy.pinned_categories,
        )

    def with_pinned(self, preference_bias: bool, pinned: int) -> PreferenceBias:
        """Return the bias, with up to `pinned` pinned memories and preferences in addition to the best hits, most
        relevant first. Raises InvalidInput (`pinned`).
        """
        bias, most = self.bias(preference_bias), checked_pinned(pinned)
        return replace(bias, pinned_categories=bias.pinned_categories | {PREFERENCE}, beside=most)
