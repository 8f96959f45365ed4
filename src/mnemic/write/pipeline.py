"""The write pipeline: nine steps in three phases.

**Prepare**, without side effect: 1 validate, 2 redact, 3 fingerprint, 4 embed. **Settle**, one transaction: 3 again, 6
conflict and 5 merge (`mnemic.write.decide`), 7 commit. **Publish**, best effort, after the commit: 8 and 9, the
projections. The embedder is called before any transaction is open; a failure before the commit leaves no trace in the
store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from mnemic.errors import BudgetSpent, EmbedderFailed, InvalidConfig, InvalidInput, MnemicError, SpaceMismatch
from mnemic.policy.grant import Grant
from mnemic.policy.key_rules import Policy
from mnemic.policy.statement_dates import dated
from mnemic.types import Actor, Candidate, Deadline, Memory, Origin, Scope, WriteReceipt
from mnemic.types.identity import new_id
from mnemic.unit_of_work import Unit, commit
from mnemic.write.batch import MAX_WITHOUT_VECTOR, Batches, PipelineSteps, settled_at_once
from mnemic.write.commit import CommitResult, Gate, GateRefusal, IdempotentRequest, blocked_receipt, pass_gate
from mnemic.write.draft import Draft, PrepareSteps, StepTimer
from mnemic.write.fingerprint import fingerprint, request_digest, request_key
from mnemic.write.missing_vectors import drafts_without_vector
from mnemic.write.model_judge import judge_near
from mnemic.write.publish import Publisher
from mnemic.write.redact import Redactor, redact
from mnemic.write.revise import Revision, revision_of
from mnemic.write.thresholds import WriteRules
from mnemic.write.tokenisation import TokenVault, finish_tokens
from mnemic.write.validate import validate
from mnemic.write.write_job import Job, embed
from mnemic.write.write_transaction import FirstTry, is_known, settling

if TYPE_CHECKING:
    from mnemic.ports import Clock, Embedder, Keyring, RecordStore
    from mnemic.ports.projections import Projection
    from mnemic.write.model_judge import Judge

__all__ = ["MemoryWritePipeline", "vault_of"]

MAX_SECRETS = 10_000


def _validated(draft: Draft) -> Draft:
    """Return the draft, checked, with the times that its words give."""
    checked = validate(draft)
    # A memory that is corrected or restored has its times.
    if draft.home is not None:
        return checked
    return checked.with_decision("ok", candidate=dated(checked.candidate, draft.now.astimezone(draft.rules.zone)))


class MemoryWritePipeline:
    """Turns candidates into memories, each with a receipt of every step's decision and cost. A write is all or nothing.
    A candidate that is delivered twice makes one memory: it is recognised by its idempotency key and by its fingerprint
    in its scope. `successor` is the embedder that the store is migrating to.
    """

    def __init__(
        self,
        store: RecordStore,
        embedder: Embedder,
        clock: Clock,
        rules: WriteRules | None = None,
        *,
        redactor: Redactor | None = None,
        vault: TokenVault | None = None,
        judge: Judge | None = None,
        projections: Sequence[Projection] = (),
    ) -> None:
        self._store, self._embedder, self._clock = store, embedder, clock
        self.rules = rules or WriteRules()
        self.redactor = redactor or Redactor()
        if self.redactor.tokenises and vault is None:
            raise InvalidConfig("redaction.entities", hint="tokenise needs a key file: `mnemic keys init` makes one")
        self._vault, self._judge = vault, judge
        self.publisher = Publisher(store, clock, projections)
        self._secrets: dict[str, bytes] = {}
        self.successor: Embedder | None = None
        self._prepare: PrepareSteps = (
            ("validate", _validated),
            ("redact", partial(redact, redactor=self.redactor)),
            ("fingerprint", fingerprint),
        )

    def use(self, embedder: Embedder) -> None:
        """Embed with `embedder` from now on."""
        self._embedder, self.successor = embedder, None

    async def write(
        self,
        candidate: Candidate,
        *,
        actor: Actor,
        policy: Policy,
        idempotency_key: str | None = None,
        deadline: Deadline | None = None,
        gate: Gate | None = None,
        begun: Job | None = None,
    ) -> WriteReceipt:
        """Store one candidate, whose job may have `begun`, and return once it is committed; `blocked` if the `gate`
        refuses it at the end.

        Raises InvalidInput, IdempotencyConflict, EmbedderFailed, StoreFailed, or BudgetSpent (`max_seconds`); then
        nothing was stored, but for CommitUnknown, after which the same idempotency key must be used again.
        """
        job = begun or await self._job(candidate, idempotency_key, actor=actor, policy=policy, gate=None)
        job.gate = gate
        # Nothing has been read or embedded yet: a blocked candidate costs no model call.
        if (blocked := job.blocked) is not None:
            return blocked
        _check(deadline)
        # A repeated statement needs no vector; the check outside the transaction only saves the embedding and decides
        # nothing.
        job.known = job.known if begun else await is_known(self._store, job.draft)
        # Before the transaction: an embedder may take seconds, and no other writer could commit meanwhile.
        await self._embed([job], deadline)
        return await self._finish(job, deadline=deadline)

    async def write_many(
        self,
        candidates: Sequence[Candidate],
        *,
        actor: Actor,
        policy: Policy,
        idempotency_keys: Sequence[str | None] | None = None,
        grant: Grant | None = None,
        deadline: Deadline | None = None,
        on_progress: Callable[[int], None] | None = None,
        gate: Gate | None = None,
    ) -> list[WriteReceipt]:
        """Return one receipt per candidate, in order. Each is stored separately; a failing one is `blocked` with the
        error's reason and does not stop the others. Candidates outside the `grant` are blocked too.

        Texts are embedded in batches; the steps a batch shares carry the time of the whole batch. `on_progress`
        receives the number of finished candidates.
        """
        keys = list(idempotency_keys) if idempotency_keys is not None else [None] * len(candidates)
        if len(keys) != len(candidates):
            raise InvalidInput("idempotency_keys", hint="one per candidate")
        # A judge is a model call between search and decision, during which a shared transaction must not stay open.
        grouped = self._judge is None and self._store.capabilities.grouped
        steps = PipelineSteps(
            begin=partial(self._job, actor=actor, policy=policy, gate=gate),
            embed=partial(self._embed, deadline=deadline, must=len(candidates) > MAX_WITHOUT_VECTOR),
            finish=partial(self._finish, deadline=deadline),
            settle=partial(settled_at_once, self._store, deadline=deadline),
        )
        batches = Batches(self._store, steps, grouped=grouped, grant=grant)
        return await batches.write(list(zip(candidates, keys, strict=True)), on_progress)

    async def revise(
        self,
        memory_id: str,
        content: str,
        *,
        actor: Actor,
        scopes: Sequence[Scope],
        policy: Policy,
        changes: Mapping[str, Any] = MappingProxyType({}),
        expected_version: int | None = None,
        origin: Origin,
        deadline: Deadline | None = None,
        gate: Gate | None = None,
    ) -> WriteReceipt:
        """Correct a live memory: the same memory_id in its next version, with the old one in the history. `changes` are
        fields of a candidate; the others stay unchanged.

        Lower trust cannot correct higher trust: `blocked` with `lower_trust`. A correction of a kind that is always
        reviewed waits for a person while the original stays. Raises MemoryNotFound, VersionConflict if it is no longer
        at `expected_version`, InvalidInput (`content:duplicate` if another memory of the scope has the same content).
        """
        revision = Revision(memory_id, tuple(scopes), expected_version, new_id(self._clock.now()))
        known = revision.check_memory(await self._store.get(memory_id, scopes=scopes))
        timer = StepTimer(self._clock)
        revised = replace(revision_of(known, content, origin, actor), **changes)
        given: dict[str, Any] = {"home": known.scope, "timer": timer, "deadline": deadline, "must": False}
        draft = await self.prepare_draft(revised, actor=actor, policy=policy, **given)
        if draft.blocked is not None:
            return blocked_receipt(draft.candidate, draft.blocked, timer)

        async def work(unit: Unit) -> CommitResult | None:
            return await pass_gate(gate, unit, draft, await revision.write(unit, draft=draft))

        try:
            settled = await commit(self._store, work, deadline=deadline, scope=known.scope)
        except GateRefusal as refused:
            return blocked_receipt(draft.candidate, refused.reason, timer)
        assert settled is not None
        return await self._publish(settled, timer, deadline)

    async def redraft(self, known: Memory, content: str, *, actor: Actor, origin: Origin, policy: Policy) -> Draft:
        """Return a draft that replaces the text of `known` by `content`; see `drafted`."""
        revised = revision_of(known, content, origin, actor)
        return await self.prepare_draft(revised, home=known.scope, actor=actor, policy=policy)

    async def prepare_draft(
        self,
        candidate: Candidate,
        *,
        home: Scope,
        actor: Actor,
        policy: Policy,
        timer: StepTimer | None = None,
        deadline: Deadline | None = None,
        embedded: bool = True,
        must: bool = True,
    ) -> Draft:
        """Return the candidate as it would be stored in the scope `home`: checked, redacted and `embedded`, but not
        stored.

        `Draft.blocked` is the reason why it must not be stored. Raises InvalidInput, EmbedderFailed.
        """
        timer = timer or StepTimer(self._clock)
        draft = await self._prepare_draft(candidate, actor, policy, timer, home=home)
        if draft.blocked is not None or not embedded:
            return draft
        job = Job(draft, None, timer)
        await self._embed([job], deadline, must=must)
        return job.draft

    async def redact_text(self, text: str, *, tenant: str) -> str:
        """`text` as it may be logged or shown. Raises InvalidInput (`redaction`)."""
        return self.redactor.redact(text, await self.secret(tenant)).text

    async def secret(self, tenant: str) -> bytes:
        """Return the tenant's secret, which never changes; those of the tenants used last are cached."""
        # Popped and inserted again: the order of a dict is then the order of use, and the first entry the oldest.
        known = self._secrets.pop(tenant, None)
        self._secrets[tenant] = secret = await self._store.secret(tenant) if known is None else known
        if len(self._secrets) > MAX_SECRETS:
            del self._secrets[next(iter(self._secrets))]
        return secret

    # -- the phases ---------------------------------------------------------------------------------------------------

    async def _job(
        self, candidate: Candidate, idempotency_key: str | None, *, actor: Actor, policy: Policy, gate: Gate | None
    ) -> Job:
        timer = StepTimer(self._clock)
        draft = await self._prepare_draft(candidate, actor, policy, timer)
        request = None
        if draft.blocked is None and idempotency_key is not None:
            name = request_key(draft.secret, draft.actor.user, idempotency_key)
            request = IdempotentRequest(name, request_digest(draft))
        return Job(draft, request, timer, gate)

    async def _prepare_draft(
        self, candidate: Candidate, actor: Actor, policy: Policy, timer: StepTimer, *, home: Scope | None = None
    ) -> Draft:
        """Return the draft after the preparing steps, or after the one that ended the write."""
        secret, now = await self.secret(actor.tenant), self._clock.now()
        given: dict[str, Any] = {"rules": self.rules, "secret": secret, "now": now, "home": home}
        draft = Draft(candidate=candidate, given=candidate, actor=actor, policy=policy, **given)
        # Each step receives the result of the one before: a hash of text that was not redacted would reveal it.
        for name, step in self._prepare:
            draft = step(draft)
            timer.note(name, draft.decision)
            if draft.blocked is not None:
                return draft
        if draft.tokens and self._vault is not None:
            # Reads a key file, which would block the event loop.
            return await asyncio.to_thread(finish_tokens, draft, self._vault)
        return draft

    async def _embed(self, jobs: Sequence[Job], deadline: Deadline | None, *, must: bool = False) -> None:
        """Give the jobs their vectors. If the embedder does not answer they continue without vectors, unless they
        `must` have them.
        """
        _check(deadline)
        fresh = [job for job in jobs if not job.known]
        try:
            drafts = await embed([job.draft for job in fresh], self._embedder, deadline) if fresh else []
        except EmbedderFailed as failure:
            drafts = drafts_without_vector(fresh, failure, self._embedder.space, deadline, must=must)
        for job, draft in zip(fresh, drafts, strict=True):
            job.draft = draft
        for job in jobs:
            job.timer.note("embed", "known" if job.known else "embedded" if job.draft.vector else "left")

    async def _finish(self, job: Job, first: FirstTry | None = None, *, deadline: Deadline | None) -> WriteReceipt:
        """Return the receipt of a job that is settled now, or whose first try already ended in `first`."""
        if self._judge is not None:
            job.draft = await judge_near(job.draft, self._judge, self._store, deadline, job.timer)
        try:
            while True:
                tried, first = first, None
                if isinstance(tried, BaseException):
                    raise tried
                if tried is None:
                    _check(deadline)
                    tried = await commit(self._store, settling(job), deadline=deadline, scope=job.draft.scope)
                settled, timer = tried
                if settled is not None:
                    break
                # The identical memory is gone by now, or the store has changed to other vectors.
                self._follow(job)
                job.known = False
                await self._embed([job], deadline)
        except GateRefusal as refused:
            return blocked_receipt(job.draft.candidate, refused.reason, job.timer)
        return await self._publish(settled, timer, deadline)

    def _follow(self, job: Job) -> None:
        """Switch to the embedder that the store has migrated to, if a draft's vector is from an older space."""
        # Equal spaces: this process has embedded with its configured model, so the store has moved on.
        if job.draft.space == self._embedder.space:
            if self.successor is None:
                raise SpaceMismatch(hint="the store has changed to another embedder; restart with that one")
            self.use(self.successor)

    async def _publish(self, settled: CommitResult, timer: StepTimer, deadline: Deadline | None) -> WriteReceipt:
        timer.note("commit", settled.decision)
        missed = await self.publisher.publish(settled.changes, deadline=deadline)
        timer.note("publish", "missed:" + ",".join(missed) if missed else str(len(settled.changes)))
        receipt, durable = settled.receipt, self._store.capabilities.durable
        return replace(receipt, steps=tuple(timer.steps), durable=durable, degraded=receipt.degraded + missed)


async def begin_job(
    pipeline: MemoryWritePipeline,
    store: RecordStore,
    candidate: Candidate,
    *,
    actor: Actor,
    policy: Policy,
    key: str | None,
) -> Job | None:
    """Return the job of a write, prepared to ask `store`, which has `MarksAndDuplicate`. None for other stores, and if
    the write will be refused or changes something outside the store.
    """
    if pipeline._vault is not None or not hasattr(store, "marks_and_duplicate"):
        return None
    with suppress(MnemicError):  # raised again where it counts, by `write`
        job = await pipeline._job(candidate, key, actor=actor, policy=policy, gate=None)
        return None if job.draft.blocked else job
    return None


def vault_of(keyring: Keyring | None) -> TokenVault | None:
    """Return the vault of the keyring, or None: without a key nothing is sealed."""
    if keyring is None:
        return None
    return TokenVault(keyring)


def _check(deadline: Deadline | None) -> None:
    if deadline is not None and deadline.expired:
        raise BudgetSpent("max_seconds")
