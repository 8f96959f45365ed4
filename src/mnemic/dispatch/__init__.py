"""Dispatch of requests: the only way in which a request changes memory.

Every request takes the same steps, in this order:

1. contract: the handler checks the request's shape and returns the statements that the request makes (`Handler.check`)
2. policy: keys, scopes, kinds, values and lengths of these statements
3. grant: the keys and levels that the runtime currently allows
4. limits: erasure and retention, consent, quotas
5. prepare, one transaction, publish (`Handler.carry_out`): no side effect before the transaction, which checks the
   limits once more

A single add is prepared before 4, so that one read of the store answers for consents and for an identical memory;
it is refused in the order above.

Concerns that cut across verbs are middleware: functions around these steps, in a list. Entity extraction on write is
one, and so are the watchers that feed a service's metrics.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from mnemic.errors import MnemicError, RunStopped
from mnemic.policy.budget import Budget
from mnemic.policy.candidate_check import check_candidate
from mnemic.policy.grant import Grant, denial
from mnemic.policy.key_rules import Policy
from mnemic.policy.limits import LimitCheck, Limits
from mnemic.ports.providers import charge_models_to
from mnemic.requests import Request
from mnemic.types import Actor, Candidate, Deadline, Scope, WriteReceipt
from mnemic.types.scope import checked_actor
from mnemic.write.commit import blocked_receipt
from mnemic.write.limiter import Limiter, refuse_if_erased_since

if TYPE_CHECKING:
    from mnemic.types import Cost, SearchResult
    from mnemic.write.draft import Draft


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """Rules that a request is judged by."""

    policy: Policy = field(default_factory=Policy)
    grant: Grant = field(default_factory=Grant)
    budget: Budget = field(default_factory=Budget)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        # It takes the shorter lifetime of each kind: applying it twice (here and in the gateway) is harmless.
        object.__setattr__(self, "policy", self.policy.with_longest(self.limits.longest))

    def scopes(self, actor: Actor) -> tuple[Scope, ...]:
        """Return the actor's scopes at every granted level that the actor has an owner for."""
        return checked_actor(actor).scopes(self.grant.reached_by(actor))


@dataclass(slots=True, kw_only=True)
class Proposal:
    """A statement that will be stored once the request has been carried out.

    The handler names the candidate, the `subject` (the user whose consent and quotas apply), and how to judge it:
    `adds` is False if no memory is added; `within_grant` is False if the embedding program vouches for the level (a
    reviewer of the whole tenant); `lenient`: a breach of policy blocks the statement with its reason instead of ending
    the request; `prepare` makes its draft, so that the store is asked for an identical memory when it is asked for
    consents. The check leaves the candidate as policy spells it, the `reason` why it is blocked, `warnings` about
    limits nearly used up, and the `draft`, if it was prepared and compared with the stored memories.
    """

    candidate: Candidate
    subject: Actor
    prepare: Callable[[Candidate], Awaitable[Draft]] | None = None
    adds: bool = True
    within_grant: bool = True
    lenient: bool = False
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    draft: Draft | None = None

    def blocked_receipt(self) -> WriteReceipt:
        """Return the receipt of a proposal that is blocked."""
        return blocked_receipt(self.candidate, self.reason or "blocked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request in progress: its actor, rules and deadline. `engine` is the engine that received it."""

    request: Any
    actor: Actor
    rules: Rules
    engine: Any = None
    deadline: Deadline | None = None

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes that the request reaches."""
        return self.rules.scopes(self.actor)


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReceipts:
    """The answer to many writes: a receipt for each, in order, and the places of those that the grant denied."""

    receipts: list[WriteReceipt]
    denied: frozenset[int] = frozenset()


class Handler(Protocol):
    """Handler of one kind of request. Only the dispatcher calls these methods, `check` first."""

    async def check(self, call: Call) -> Sequence[Proposal]:
        """Return the statements that the request makes. Raises the error in its shape, or MemoryNotFound."""

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> Any:
        """Prepare, commit one transaction, publish; the answer. A blocked proposal is not written."""


Proceed = Callable[[Call], Awaitable[Any]]


class Middleware(Protocol):
    """Wraps the handling of every request: it awaits `proceed`, once at most, and may look at the answer."""

    async def __call__(self, call: Call, *, proceed: Proceed) -> Any:
        """Return the answer to the request."""


class Spans(Protocol):
    """Makes a span around each write and each search (`mnemic.tracing`)."""

    def of_write(self, call: Call) -> AbstractContextManager[list[Any]]:
        """Span of a request, whose answer is put into the list."""

    def of_search(self, actor: Actor) -> AbstractContextManager[list[SearchResult]]:
        """Span of a search, whose result is put into the list."""


@dataclass(slots=True, kw_only=True)
class Watchers:
    """Callbacks after each write, each search and each call of a language model, the last with its tenant, for
    counting. They neither wait nor raise. As a middleware they receive every receipt; the others, which are not
    dispatched, are reported separately. `spans` are around writes and searches.
    """

    on_write: Callable[[WriteReceipt], None] | None = None
    on_search: Callable[[SearchResult], None] | None = None
    on_model: Callable[[str, Cost], None] | None = None
    spans: Spans | None = None

    async def __call__(self, call: Call, *, proceed: Proceed) -> Any:
        """Return the answer to the request, once its receipts are reported."""
        if self.spans is None:
            answer = await proceed(call)
        else:
            with self.spans.of_write(call) as answers:
                answer = await proceed(call)
                answers.append(answer)
        if self.on_write is not None:
            for receipt in answer.receipts if isinstance(answer, BatchReceipts) else [answer]:
                if isinstance(receipt, WriteReceipt):
                    self.on_write(receipt)
        return answer

    def charge_models(self, tenant: str) -> None:
        """Report the calls of language models from here on as the tenant's, also those in tasks started by this one."""
        if self.on_model is not None:
            charge_models_to(partial(self.on_model, tenant))

    def report_search(self, result: SearchResult) -> SearchResult:
        """Report a search; returns its result."""
        if self.on_search is not None:
            self.on_search(result)
        return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispatcher:
    """Handles every request that can change memory; see the module."""

    limiter: Limiter
    handlers: Mapping[type[Request[Any]], Handler]
    middleware: Sequence[Middleware] = ()

    async def handle(self, call: Call, proceed: Proceed | None = None) -> Any:
        """Return the answer to the request, produced by the steps, or by `proceed` in their place, through the
        middleware, the first one outermost. Raises InvalidInput, the breaches of policy (RunStopped), and the errors of
        the engine's method; after an error nothing has been stored.
        """
        proceed = proceed or self._steps
        # Wrapped from the inside out, so that the first in the list sees the request first.
        for one in reversed(self.middleware):
            proceed = partial(one, proceed=proceed)
        with refuse_if_erased_since(self.limiter.clock.now()):
            return await proceed(call)

    async def _steps(self, call: Call) -> Any:
        handler = self.handlers[type(call.request)]
        proposals = await handler.check(call)
        if proposals:
            await self._check_proposals(call, proposals)
        return await handler.carry_out(call, proposals)

    async def _check_proposals(self, call: Call, proposals: Sequence[Proposal]) -> None:
        """Policy, grant and limits, in this order, for each proposal."""
        # One check for each subject: it counts what it admits, so that a batch cannot pass a quota that each of its
        # statements alone respects.
        rules, checks = call.rules, dict[str, LimitCheck]()
        for one in proposals:
            try:
                candidate = one.candidate = check_candidate(one.candidate, rules.policy, rules.budget)
            except RunStopped as breach:
                if not one.lenient:
                    raise
                one.reason = breach.reason
                continue
            # By name alone: all proposals of a call belong to one tenant.
            check = checks.get(one.subject.user)
            if check is None:
                with suppress(MnemicError):  # an error in the statement itself comes after those of limits
                    one.draft = None if one.prepare is None else await one.prepare(candidate)
                check = await self.limiter.check(one.subject, rules.limits, one.draft)
                checks[one.subject.user] = check
            # The grant before the limits: a statement that is not allowed now must not use up room.
            reason = denial(candidate, rules.grant, level=one.within_grant)
            one.reason = reason or (check(candidate) if one.adds else check.unless_counted(candidate))
            if one.reason is None and rules.limits.quotas:
                one.warnings = check.warnings(candidate)
