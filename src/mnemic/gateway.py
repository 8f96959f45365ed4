"""The gate between what was proposed and the memory itself: execution boundary in front of every write and every
retrieval.

Policy has judged shapes and allowlists by then; the gateway judges again what must hold whatever the caller checked
(limits, grant), turns levels into the actor's own scopes, and only then calls the write path or the search.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from mnemic.errors import BudgetSpent, InvalidIntent
from mnemic.guard.budget import Budget
from mnemic.guard.execution import Admission, Grant, admit, admit_intent
from mnemic.guard.limits import LimitCheck, Limits
from mnemic.guard.policy import Policy
from mnemic.identity import token_of
from mnemic.maintain.consent import consents, limit_check, settling_gate
from mnemic.ports import Clock
from mnemic.retrieve.bias import Bias
from mnemic.retrieve.search import Searcher
from mnemic.types import Actor, Blocked, Candidate, Deadline, Intent, Outcome, SearchResult, Where, WriteReceipt
from mnemic.write.gate import Gate
from mnemic.write.pipeline import MemoryWritePipeline

PREFERENCE = "preference"
"""The category under which the extractors keep what a user likes and dislikes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayWrite:
    """What became of a batch: a receipt for each candidate that passed, an entry for each that the runtime blocked."""

    receipts: tuple[WriteReceipt, ...] = ()
    blocked: tuple[Blocked, ...] = ()

    @property
    def failed(self) -> tuple[WriteReceipt, ...]:
        """Those that passed the gate and yet could not be stored."""
        return tuple(receipt for receipt in self.receipts if receipt.outcome is Outcome.BLOCKED)

    def keys(self, *, refreshed: bool) -> list[str | None]:
        """The keys that were written anew, or those that were only refreshed."""
        return [receipt.key for receipt in self.receipts if receipt.stored and receipt.was_duplicate is refreshed]


@dataclass(slots=True, kw_only=True)
class Watchers:
    """Who is told of every write and every search, whichever verb it came by: for counting. They neither wait nor
    raise; None: nobody.
    """

    on_write: Callable[[WriteReceipt], None] | None = None
    on_search: Callable[[SearchResult], None] | None = None

    def wrote(self, receipt: WriteReceipt) -> WriteReceipt:
        """Tell of a write; its receipt comes back."""
        if self.on_write is not None:
            self.on_write(receipt)
        return receipt

    def searched(self, result: SearchResult) -> SearchResult:
        """Tell of a search; its result comes back."""
        if self.on_search is not None:
            self.on_search(result)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryGateway:
    """Writes and retrieves what the runtime's grant allows at this moment."""

    pipeline: MemoryWritePipeline
    searcher: Searcher
    policy: Policy
    grant: Grant
    budget: Budget
    clock: Clock
    limits: Limits = field(default_factory=Limits)
    watchers: Watchers = field(default_factory=Watchers)

    def __post_init__(self) -> None:
        object.__setattr__(self, "policy", self.policy.within(self.limits.longest))

    async def limit_check(self, actor: Actor) -> LimitCheck:
        """Consent, quotas and retention for the actor, as they stand now."""
        store, token = self.searcher.store, await self._token(actor)
        return await limit_check(store, self.clock, self.limits, token, actor)

    async def gate(self, actor: Actor) -> Gate:
        """What is asked again in the transaction of each of the actor's writes."""
        return await settling_gate(self.searcher.store, self.clock, self.limits, await self._token(actor), actor)

    async def hidden_keys(self, actor: Actor) -> frozenset[str]:
        """The keys the actor has not consented to, as of now: nothing under them is found."""
        store, token = self.searcher.store, await self._token(actor)
        return (await consents(store, token, actor.tenant)).hidden(self.policy, self.limits)

    async def _token(self, actor: Actor) -> str:
        # The pipeline asks for a tenant's secret once: the store's writer must not stand in the way of a search.
        return token_of(await self.pipeline.secret(actor.tenant), actor.user)

    async def admitted(self, candidates: Sequence[Candidate], actor: Actor) -> tuple[Admission, LimitCheck]:
        """What the runtime lets through now. Raises BudgetSpent (`max_capture_items`)."""
        check = await self.limit_check(actor)
        return admit(candidates, self.grant, self.budget, checks=[check]), check

    async def write(
        self,
        candidates: Sequence[Candidate],
        *,
        actor: Actor,
        idempotency_key: str | None = None,
        deadline: Deadline | None = None,
    ) -> GatewayWrite:
        """Store what the grant lets through. One bad candidate does not stop the others; its receipt says why.

        With an `idempotency_key` a second delivery of the same candidates changes nothing. Raises BudgetSpent
        (`max_capture_items`) before anything is written.
        """
        if len(candidates) > self.budget.max_capture_items:
            raise BudgetSpent("max_capture_items")
        admission, check = await self.admitted(candidates, actor)
        receipts = await self.pipeline.write_many(
            admission.allowed,
            actor=actor,
            policy=self.policy,
            idempotency_keys=[item_key(idempotency_key, candidate) for candidate in admission.allowed],
            deadline=deadline,
            gate=await self.gate(actor),
        )
        warned = [
            self.watchers.wrote(replace(receipt, warnings=check.warnings(candidate)))
            for candidate, receipt in zip(admission.allowed, receipts, strict=True)
        ]
        return GatewayWrite(receipts=tuple(warned), blocked=tuple(admission.blocked))

    async def write_captured(
        self,
        candidates: Sequence[Candidate],
        *,
        actor: Actor,
        idempotency_key: str | None = None,
        deadline: Deadline | None = None,
    ) -> GatewayWrite:
        """`write` in portions of `max_capture_items`: that bounds what a model proposes at once, not what a user's own
        message may hold.
        """
        done = GatewayWrite()
        portion = self.budget.max_capture_items
        for start in range(0, max(1, len(candidates)), portion):
            part = candidates[start : start + portion]
            more = await self.write(part, actor=actor, idempotency_key=idempotency_key, deadline=deadline)
            done = GatewayWrite(receipts=(*done.receipts, *more.receipts), blocked=(*done.blocked, *more.blocked))
        return done

    async def retrieve(
        self, intent: Intent, *, actor: Actor, preference_bias: bool = False, deadline: Deadline | None = None
    ) -> SearchResult:
        """What the intent asks for, within the grant. Raises ScopeDenied, InvalidIntent, or MnemicError when all lists
        fail.
        """
        if any(len(text) > self.budget.max_query_chars for text in (intent.query, *intent.parts)):
            raise InvalidIntent("query_too_long")
        if not 1 <= intent.top_k <= self.budget.max_retrieve_top_k:
            raise InvalidIntent("top_k")
        granted = admit_intent(intent, self.grant)
        result = await self.searcher.search(
            await self.pipeline.redacted(granted.query, tenant=actor.tenant),
            self.where(granted, actor),
            top_k=granted.top_k,
            parts=[await self.pipeline.redacted(part, tenant=actor.tenant) for part in granted.parts],
            bias=self.bias(preference_bias),
            min_score=granted.min_score,
            known_at=granted.known_at,
            asked_at=self.clock.now(),
            deadline=deadline,
            hidden=partial(self.hidden_keys, actor),
        )
        return self.watchers.searched(result)

    def where(self, intent: Intent, actor: Actor) -> Where:
        """The filter of an admitted intent: the actor's own scopes at its levels, live memories only."""
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

    def bias(self, preference_bias: bool) -> Bias:
        """The policy's preference keys where the bias is asked for, and what stands in every answer."""
        rules = (self.policy.keys or {}).values()
        return Bias(
            keys=frozenset(rule.key for rule in rules if rule.preference) if preference_bias else frozenset(),
            bonus=self.policy.preference_bias,
            standing_keys=frozenset(rule.key for rule in rules if rule.standing),
            standing_kinds=self.policy.standing_kinds,
            standing_categories=self.policy.standing_categories,
        )

    def beside(self, preference_bias: bool, standing: int) -> Bias:
        """The same, but what stands, and every preference with it, comes beside the best hits: the `standing` most
        relevant of them.
        """
        bias = self.bias(preference_bias)
        return replace(bias, standing_categories=bias.standing_categories | {PREFERENCE}, beside=standing)


def item_key(idempotency_key: str | None, candidate: Candidate) -> str | None:
    """The idempotency key of one candidate of a batch: the batch's key and what the candidate says."""
    if idempotency_key is None:
        return None
    said = "\x1f".join((candidate.level, candidate.kind, candidate.key or "", candidate.content))
    return f"{idempotency_key}:{hashlib.sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
