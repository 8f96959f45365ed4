"""The write pipeline, the same for one statement and for many.

**Prepare**, without side effect: 1 validate, 2 redact, 3 fingerprint, 4 embed. **Settle**, one transaction
(`mnemic.write.commit`): 3 again, 6 conflict, 5 merge, 7 commit. **Publish**, best effort, after the commit: 8 and 9,
the projections. The embedder is called before any transaction is open; a failure before the commit leaves no trace in
the store.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

from mnemic.errors import (
    BudgetSpent,
    EmbedderFailed,
    InvalidConfig,
    InvalidInput,
    MnemicError,
    SpaceMismatch,
    StoreFailed,
)
from mnemic.policy.key_rules import Policy
from mnemic.policy.statement_dates import dated
from mnemic.ports import RecordStore, Snapshot, VectorPrefetch
from mnemic.ports.record_store import BatchedFingerprints, SecretBeforeWrite
from mnemic.types import Actor, Candidate, Deadline, JsonValue, Memory, Origin, Scope, Vector, WriteReceipt
from mnemic.types.scope import new_id
from mnemic.unit_of_work import commit, commit_each
from mnemic.write.commit import Gate, GateRefusal, Settled, blocked_receipt, settle
from mnemic.write.decide import is_known, is_repeated
from mnemic.write.draft import Draft, StepTimer, WriteRules
from mnemic.write.missing_vectors import leave_without_vector
from mnemic.write.model_judge import JUDGES_SHARE, judge_changes, judge_near
from mnemic.write.outbox import Publisher
from mnemic.write.prepare import (
    Redactor,
    embed,
    fingerprint_of,
    redact,
    redact_value,
    request_digest,
    request_key,
    validate,
    within_limits,
)
from mnemic.write.revise import Revision, revision_of
from mnemic.write.tokenisation import TokenVault, finish_tokens

if TYPE_CHECKING:
    from mnemic.ports import Clock, Embedder, Keyring, RecordStore
    from mnemic.ports.projections import Projection
    from mnemic.write.model_judge import Judge, Translator


# As many texts as the embedder takes at a time; a larger batch would only delay progress and cancelling.
BATCH = 32
MAX_WITHOUT_VECTOR = 8
"""Maximum number of memories of one call that may continue without a vector; a larger batch is a job,
which runs again.
"""

P = TypeVar("P")
B = TypeVar("B")
T = TypeVar("T")


def note_siblings(drafts: Sequence[Draft]) -> None:
    """Give each draft the other candidates read from its words: none is an earlier statement that it could replace. A
    value under a key is safe from all the statements of its message.
    """
    found = [draft for draft in drafts if draft.candidate.source.span]
    if any(draft.candidate.key is not None for draft in found):
        for draft in drafts:
            read = [one.fingerprint for one in found if _read_together(draft.candidate, one.candidate)]
            draft.read_with = frozenset(read)


def _read_together(candidate: Candidate, other: Candidate) -> bool:
    mine, theirs = candidate.source.span, other.source.span
    if mine is None or theirs is None or candidate.source.ref != other.source.ref or candidate.key == other.key:
        return False
    # A value under a key is safe from every statement of its message, other statements only from those that share
    # words with them.
    return other.key is not None or (mine[0] < theirs[1] and theirs[0] < mine[1])


async def find_duplicates(store: RecordStore, drafts: Sequence[Draft]) -> None:
    """Mark the drafts that need no vector, so that a duplicate costs no embedding. Settling looks again."""

    async def work(snapshot: Snapshot) -> list[bool]:
        if not isinstance(snapshot, BatchedFingerprints):
            return [await is_known(snapshot, draft) for draft in drafts]
        asked: dict[Scope, list[str]] = {}
        for draft in drafts:
            asked.setdefault(draft.scope, []).append(draft.fingerprint)
        found = {scope: await snapshot.find_fingerprints(scope, wanted) for scope, wanted in asked.items()}
        same = [found[draft.scope].get(draft.fingerprint) for draft in drafts]
        return [one is not None and is_repeated(one, draft) for draft, one in zip(drafts, same, strict=True)]

    for draft, known in zip(drafts, await store.read(work), strict=True):
        draft.known = known


async def announce_vectors(store: RecordStore, drafts: Iterable[Draft]) -> None:
    """Announce the vectors of these drafts to a store with batched similarity."""
    if not isinstance(store, VectorPrefetch):
        return
    asking: dict[tuple[Scope, float], list[Vector]] = {}
    for draft in drafts:
        if not draft.known and draft.vector and not draft.spec.append_only and draft.review_reason is None:
            asking.setdefault((draft.scope, draft.rules.compared_from), []).append(draft.vector)
    for (scope, at_least), vectors in asking.items():
        # A single vector is compared as quickly when its candidate is settled.
        if len(vectors) > 1:
            with suppress(StoreFailed):  # harmless: missing vectors are read when the candidate is settled
                await store.expect(scope, vectors, at_least=at_least)


async def run_pipelined(
    batches: Iterator[Callable[[], Coroutine[Any, Any, P]]],
    embed: Callable[[P], Awaitable[B]],
    settle: Callable[[B], Coroutine[Any, Any, T]],
) -> AsyncGenerator[T, None]:
    """Yield the result of `settle` for each batch, in order. While one batch is settled, the next is embedded and the
    one after that prepared, and none beyond it.

    If closed or cancelled early, it waits for the batch that is being settled: that is either finished or has not
    begun.
    """
    preparing = _next(batches)
    settling: asyncio.Task[T] | None = None
    try:
        while preparing is not None:
            prepared = await preparing
            preparing = _next(batches)
            batch = await embed(prepared)
            # Only now: the embedding of this batch ran beside the commit of the one before.
            if settling is not None:
                yield await settling
            settling = asyncio.create_task(settle(batch))
        if settling is not None:
            yield await settling
    finally:
        # A cancelled transaction either commits or rolls back; its end is awaited so that no write follows the return.
        await _end_tasks(preparing, settling)


def _next(batches: Iterator[Callable[[], Coroutine[Any, Any, P]]]) -> asyncio.Task[P] | None:
    prepare = next(batches, None)
    return None if prepare is None else asyncio.create_task(prepare())


async def _end_tasks(*tasks: asyncio.Task[Any] | None) -> None:
    running = [task for task in tasks if task is not None and not task.done()]
    for task in running:
        task.cancel()
    if running:
        await asyncio.wait(running)


__all__ = ["MemoryWritePipeline", "vault_of"]

MAX_SECRETS = 10_000


Entry = Draft | WriteReceipt
"""A write of a batch: on its way, or ended."""


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
        translator: Translator | None = None,
        projections: Sequence[Projection] = (),
    ) -> None:
        self._store, self._embedder, self._clock = store, embedder, clock
        self.rules = rules or WriteRules()
        self.redactor = redactor or Redactor()
        if self.redactor.tokenises and vault is None:
            raise InvalidConfig("redaction.entities", hint="tokenise needs a key file: `mnemic keys init` makes one")
        self._vault, self._judge, self._translator = vault, judge, translator
        self.publisher = Publisher(store, clock, projections)
        self._secrets: dict[str, bytes] = {}
        self.successor: Embedder | None = None

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
    ) -> WriteReceipt:
        """Store one candidate and return once it is committed; `blocked` if the `gate` refuses it at the end.

        Raises InvalidInput, IdempotencyConflict, EmbedderFailed, StoreFailed, or BudgetSpent (`max_seconds`); then
        nothing was stored, but for CommitUnknown, after which the same idempotency key must be used again.
        """
        draft = await self.prepare(candidate, actor=actor, policy=policy, idempotency_key=idempotency_key)
        # Nothing has been read or embedded yet: a blocked candidate costs no model call.
        if draft.blocked is None:
            _check(deadline)
            # A repeated statement needs no vector; the check outside the transaction only saves the embedding and
            # decides nothing.
            draft.known = await is_known(self._store, draft)
        return await self.write_draft(draft, deadline=deadline, gate=gate)

    async def write_draft(self, draft: Draft, *, deadline: Deadline | None, gate: Gate | None) -> WriteReceipt:
        """Store a prepared draft, as `write` does with its candidate."""
        if draft.blocked is not None:
            return blocked_receipt(draft.candidate, draft.blocked, draft.timer)
        draft.gate = gate
        await self._seal_tokens(draft)
        # Before the transaction: an embedder may take seconds, and no other writer could commit meanwhile.
        await self._embed([draft], deadline)
        (ended,) = await self._settle([draft], deadline)
        if isinstance(ended, MnemicError):
            raise ended
        return ended

    async def write_many(
        self,
        candidates: Sequence[Candidate],
        *,
        actor: Actor,
        policy: Policy,
        idempotency_keys: Sequence[str | None] | None = None,
        deadline: Deadline | None = None,
        gate: Gate | None = None,
    ) -> list[WriteReceipt]:
        """Return one receipt per candidate, in order. Each is stored separately; a failing one is `blocked` with the
        error's reason and does not stop the others. Texts are embedded in batches; the steps a batch shares carry the
        time of the whole batch.
        """
        keys = list(idempotency_keys) if idempotency_keys is not None else [None] * len(candidates)
        if len(keys) != len(candidates):
            raise InvalidInput("idempotency_keys", hint="one per candidate")
        given = list(zip(candidates, keys, strict=True))
        must = len(candidates) > MAX_WITHOUT_VECTOR

        async def begin_batch(first: int) -> list[Entry]:
            begin = partial(self._begin, actor=actor, policy=policy, gate=gate)
            batch = []
            for candidate, key in given[first : first + BATCH]:
                await asyncio.sleep(0)  # let other tasks run: settled and embedded drafts have answers to give
                batch.append(await begin(candidate, key))
            return await self._end_failed(batch, self._find_known)

        async def embed_batch(batch: list[Entry]) -> list[Entry]:
            return await self._end_failed(batch, partial(self._embed, deadline=deadline, must=must))

        batches = (partial(begin_batch, first) for first in range(0, len(given), BATCH))
        receipts: list[WriteReceipt] = []
        settling = run_pipelined(batches, embed_batch, partial(self._settle_batch, deadline=deadline))
        # `aclosing`: if this is cancelled, no batch runs on in the background.
        async with aclosing(settling) as settled:
            async for done in settled:
                receipts += done
        return receipts

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
        revised = replace(revision_of(known, content, origin, actor), **changes)
        given: dict[str, Any] = {"home": known.scope, "deadline": deadline, "must": False}
        draft = await self.prepare_draft(revised, actor=actor, policy=policy, **given)
        if draft.blocked is not None:
            return blocked_receipt(draft.candidate, draft.blocked, draft.timer)
        draft.gate = gate
        try:
            settled = await commit(
                self._store, partial(revision.write, draft=draft), deadline=deadline, scope=known.scope
            )
        except GateRefusal as refused:
            return blocked_receipt(draft.candidate, refused.reason, draft.timer)
        (receipt,) = await self._publish([settled], deadline)
        return receipt

    async def redraft(self, known: Memory, content: str, *, actor: Actor, origin: Origin, policy: Policy) -> Draft:
        """Return a draft that replaces the text of `known` by `content`; see `prepare_draft`."""
        revised = revision_of(known, content, origin, actor)
        return await self.prepare_draft(revised, home=known.scope, actor=actor, policy=policy)

    async def prepare_draft(
        self,
        candidate: Candidate,
        *,
        home: Scope,
        actor: Actor,
        policy: Policy,
        deadline: Deadline | None = None,
        embedded: bool = True,
        must: bool = True,
    ) -> Draft:
        """Return the candidate as it would be stored in the scope `home`: checked, redacted and `embedded`, but not
        stored.

        `Draft.blocked` is the reason why it must not be stored. Raises InvalidInput, EmbedderFailed.
        """
        draft = await self.prepare(candidate, actor=actor, policy=policy, home=home)
        if draft.blocked is None:
            await self._seal_tokens(draft)
            if embedded:
                await self._embed([draft], deadline, must=must)
        return draft

    async def redact_text(self, text: str, *, tenant: str) -> str:
        """`text` as it may be logged or shown. Raises InvalidInput (`redaction`)."""
        return self.redactor.redact(text, await self.secret(tenant)).text

    async def redact_data(self, data: Mapping[str, JsonValue], *, tenant: str) -> Mapping[str, JsonValue]:
        """Return `data` as it may be shown. Raises InvalidInput (`redaction`)."""
        shown = redact_value(data, self.redactor, await self.secret(tenant))
        return shown if isinstance(shown, Mapping) else {}

    async def secret(self, tenant: str, *, scope: Scope | None = None) -> bytes:
        """Return the tenant's secret, which never changes; those of the tenants used last are cached. `scope`: the one
        of the tenant's to which the caller is about to write.
        """
        # Popped and inserted again: the order of a dict is then the order of use, and the first entry the oldest.
        secret = self._secrets.pop(tenant, None)
        if secret is None and scope is not None and isinstance(self._store, SecretBeforeWrite):
            secret = await self._store.secret_before_write(scope)
        self._secrets[tenant] = secret = await self._store.secret(tenant) if secret is None else secret
        if len(self._secrets) > MAX_SECRETS:
            del self._secrets[next(iter(self._secrets))]
        return secret

    # -- the phases ---------------------------------------------------------------------------------------------------

    async def prepare(
        self,
        candidate: Candidate,
        *,
        actor: Actor,
        policy: Policy,
        idempotency_key: str | None = None,
        home: Scope | None = None,
    ) -> Draft:
        """Return the draft after the preparing steps, or after the one that blocked it. Raises InvalidInput."""
        scope = actor.scope(candidate.level) if home is None else home
        secret = await self.secret(actor.tenant, scope=scope)
        now, timer = self._clock.now(), StepTimer(self._clock.monotonic)
        given: dict[str, Any] = {"rules": self.rules, "secret": secret, "now": now, "timer": timer, "home": home}
        draft = Draft(candidate=candidate, actor=actor, policy=policy, **given)
        checked = validate(candidate, policy, now)
        # A memory that is corrected or restored has its times.
        draft.candidate = dated(checked, now.astimezone(self.rules.zone)) if home is None else checked
        timer.note("validate", "ok")
        # Before the fingerprint: a hash of text that was not redacted would reveal it.
        redacted = redact(draft.candidate, self.redactor, secret)
        draft.candidate, draft.tokens, draft.blocked = redacted.candidate, redacted.tokens, redacted.blocked_reason
        if draft.blocked is None:
            # A marker can be longer than the text that it replaces.
            within_limits(draft.candidate.content)
            within_limits(draft.candidate.context, "context")
        timer.note("redact", "blocked" if draft.blocked is not None else redacted.counts)
        if draft.blocked is not None:
            return draft
        draft.fingerprint = fingerprint_of(secret, draft.scope, draft.candidate)
        timer.note("fingerprint", "hashed")
        if idempotency_key is not None:
            draft.request_key = request_key(secret, actor.user, idempotency_key)
            draft.request_digest = request_digest(draft)
        return draft

    async def _seal_tokens(self, draft: Draft) -> None:
        if draft.tokens and draft.blocked is None and self._vault is not None:
            # Reads a key file, which would block the event loop.
            await asyncio.to_thread(finish_tokens, draft, self._vault)

    async def _begin(
        self, candidate: Candidate, key: str | None, *, actor: Actor, policy: Policy, gate: Gate | None
    ) -> Entry:
        """Return the draft of a write of a batch, or its receipt if it ends here."""
        try:
            draft = await self.prepare(candidate, actor=actor, policy=policy, idempotency_key=key)
            await self._seal_tokens(draft)
        except MnemicError as error:
            return blocked_receipt(candidate, error.reason)
        if draft.blocked is not None:
            return blocked_receipt(draft.candidate, draft.blocked, draft.timer)
        draft.gate = gate
        return draft

    async def _end_failed(self, batch: list[Entry], step: Callable[[Sequence[Draft]], Awaitable[None]]) -> list[Entry]:
        """Return the batch after a step that all its drafts take; if that fails, those that need a vector end."""
        drafts = [one for one in batch if isinstance(one, Draft)]
        try:
            if drafts:
                await step(drafts)
        except MnemicError as error:
            return [
                blocked_receipt(one.candidate, error.reason, one.timer)
                if isinstance(one, Draft) and not one.known
                else one
                for one in batch
            ]
        return batch

    async def _find_known(self, drafts: Sequence[Draft]) -> None:
        note_siblings(drafts)
        await find_duplicates(self._store, drafts)

    async def _embed(self, drafts: Sequence[Draft], deadline: Deadline | None, *, must: bool = False) -> None:
        """Give the drafts their vectors. If the embedder does not answer they continue without vectors, unless they
        `must` have them.
        """
        _check(deadline)
        fresh = [draft for draft in drafts if not draft.known]
        try:
            if fresh:
                await embed(fresh, self._embedder, deadline)
        except EmbedderFailed as failure:
            leave_without_vector(fresh, failure, self._embedder.space, deadline, must=must)
        for draft in drafts:
            draft.timer.note("embed", "known" if draft.known else "embedded" if draft.vector else "left")

    async def _settle_batch(self, batch: list[Entry], deadline: Deadline | None) -> list[WriteReceipt]:
        drafts = [one for one in batch if isinstance(one, Draft)]
        await announce_vectors(self._store, drafts)
        ended = iter(zip(drafts, await self._settle(drafts, deadline), strict=True))
        receipts = []
        for one in batch:
            if isinstance(one, Draft):
                draft, done = next(ended)
                one = (
                    blocked_receipt(draft.candidate, done.reason, draft.timer)
                    if isinstance(done, MnemicError)
                    else done
                )
            receipts.append(one)
        return receipts

    async def _settle(self, drafts: Sequence[Draft], deadline: Deadline | None) -> list[WriteReceipt | MnemicError]:
        """Commit the drafts, each as a whole or not at all, and publish them; return the receipt of each, or the error
        that it ended with.
        """
        if self._judge is None:
            return await self._commit(drafts, deadline)
        judged_by = None if deadline is None else deadline.share(JUDGES_SHARE)
        ended: list[WriteReceipt | MnemicError] = []
        # Its model call stands between search and decision, when no shared transaction must be open; it sees what the
        # one before has left.
        for draft in drafts:
            await judge_near(draft, self._judge, self._store, judged_by)
            ended += await self._commit([draft], deadline)
        return ended

    async def _commit(self, drafts: Sequence[Draft], deadline: Deadline | None) -> list[WriteReceipt | MnemicError]:
        await judge_changes(drafts, self._embedder, self._store, self._translator, deadline)
        tried = await self._try_each(drafts, deadline)
        for place, draft in enumerate(drafts):
            # The identical memory is gone by now, or the store has changed to other vectors.
            while (again := tried[place]) is None:
                tried[place] = await self._try_again(draft, deadline)
            if isinstance(again, BaseException) and not isinstance(again, MnemicError | GateRefusal):
                raise again
        receipts = iter(await self._publish([one for one in tried if isinstance(one, Settled)], deadline))
        return [_ended(draft, one) or next(receipts) for draft, one in zip(drafts, tried, strict=True)]

    async def _try_each(
        self, drafts: Sequence[Draft], deadline: Deadline | None
    ) -> list[Settled | BaseException | None]:
        if deadline is not None and deadline.expired:
            return [BudgetSpent("max_seconds")] * len(drafts)
        # Identifiers are chosen before the transaction, so that a run from the start reuses them.
        works = [partial(settle, draft=draft, memory_id=new_id(draft.now)) for draft in drafts]
        return await commit_each(self._store, works, scopes=[draft.scope for draft in drafts], deadline=deadline)

    async def _try_again(self, draft: Draft, deadline: Deadline | None) -> Settled | BaseException | None:
        """Try once more with a vector from the embedder that the store has migrated to, if it has."""
        try:
            # Equal spaces: this process has embedded with its configured model, so the store has moved on.
            if draft.space == self._embedder.space:
                if self.successor is None:
                    raise SpaceMismatch(hint="the store has changed to another embedder; restart with that one")
                self.use(self.successor)
            draft.known = False
            await self._embed([draft], deadline)
        except MnemicError as error:
            return error
        (tried,) = await self._try_each([draft], deadline)
        return tried

    async def _publish(self, settled: Sequence[Settled], deadline: Deadline | None) -> list[WriteReceipt]:
        for one in settled:
            one.timer.note("commit", one.decision)
        missed = await self.publisher.publish([change for one in settled for change in one.changes], deadline=deadline)
        receipts = []
        for one in settled:
            lagging = missed if one.changes else ()
            one.timer.note("publish", "missed:" + ",".join(lagging) if lagging else str(len(one.changes)))
            receipt, durable = one.receipt, self._store.capabilities.durable
            receipts.append(
                replace(receipt, steps=one.timer.steps, durable=durable, degraded=receipt.degraded + lagging)
            )
        return receipts


def _ended(draft: Draft, tried: Settled | BaseException | None) -> WriteReceipt | MnemicError | None:
    """Return how a draft that was not settled has ended."""
    if isinstance(tried, GateRefusal):
        return blocked_receipt(draft.candidate, tried.reason, draft.timer)
    return tried if isinstance(tried, MnemicError) else None


def vault_of(keyring: Keyring | None) -> TokenVault | None:
    """Return the vault of the keyring, or None: without a key nothing is sealed."""
    if keyring is None:
        return None
    return TokenVault(keyring)


def _check(deadline: Deadline | None) -> None:
    if deadline is not None and deadline.expired:
        raise BudgetSpent("max_seconds")
