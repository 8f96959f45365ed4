"""Limits as the store knows them: erasures, consents and usage. Checked at dispatch, and again in the writing
transaction.

A consent is one mark per user and key, an erasure one per user. The names of marks carry a keyed hash of the user, so
that they reveal nothing to a reader of the file alone.

A full quota evicts the oldest first. Closed memories (superseded, expired, rejected) go before a write is refused: one
value that changes often does not fill a quota with its past. Active ones go only if the quota allows it. They are
removed in the transaction that writes the new memory, each with its line in the audit log and its entry in the outbox.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, cast

from mnemic.errors import WriteBlocked
from mnemic.policy.grant import consent_required, retention_denied
from mnemic.policy.key_rules import Policy
from mnemic.policy.limits import ERASED, MINUTE, Consents, LimitCheck, Limits, Per, Quota, makes_room
from mnemic.ports.record_store import GetBeforeChange
from mnemic.types import Actor, Candidate, Kind, Level, Memory, Scope, Status, Usage
from mnemic.types.scope import checked_actor, token_of
from mnemic.types.values import canonical_key
from mnemic.unit_of_work import Mutation, Unit, commit
from mnemic.write.decide import is_known, is_repeated
from mnemic.write.pipeline import MemoryWritePipeline

if TYPE_CHECKING:
    from mnemic.ports import Clock, Reads, RecordStore
    from mnemic.ports.record_store import Marks, MarksAndDuplicate
    from mnemic.unit_of_work import Unit
    from mnemic.write.draft import Draft


EVICTED = "evicted"
"""Action in the audit log for an evicted memory."""
CLOSED = (Status.SUPERSEDED, Status.EXPIRED, Status.REJECTED)
NEAR = 64
"""Number of rows below the limit from which eviction is prepared, and of memories evicted for one portion."""
# Bounds the time before a write: among 2,000 memories the oldest are old enough.
_PAGE, _PAGES = 500, 4


async def room_in(store: RecordStore, limits: Limits, actor: Actor, usages: Mapping[Kind, Usage]) -> tuple[Memory, ...]:
    """Find those of the actor's own memories that may be evicted, in order; empty if no quota is near its limit.
    `usages` is the user's usage by kind. Raises StoreFailed.
    """
    near = [quota for quota in limits.quotas if quota.per == "user" and _is_filling(quota, usages)]
    if not near:
        return ()
    found = await _oldest(store, actor, CLOSED, _kinds(near))
    giving = [quota for quota in near if quota.on_full == "evict"]
    if giving and len(found) < NEAR:
        found += await _oldest(store, actor, (Status.ACTIVE,), _kinds(giving))
    return tuple(found[:NEAR])


async def evict_first(unit: Unit, room: Sequence[Memory], reason: str, *, actor: Actor, at: datetime) -> bool:
    """Remove the first memory of `room` that is unchanged and may relieve the quota of `reason`."""
    kinds = makes_room(reason)
    for memory in room if kinds is not None else ():
        if kinds != (None,) and (memory.kind,) != kinds:
            continue
        present = await unit.reads.get(memory.memory_id, scopes=[memory.scope])
        # Chosen before the transaction: a memory confirmed or corrected since then is worth keeping.
        if present is None or (present.version, present.status) != (memory.version, memory.status):
            continue
        return await unit.apply(Mutation.removal(present, EVICTED, actor=actor, at=at))
    return False


async def evicted_if_closed(unit: Unit, room: Sequence[Memory], reason: str, *, actor: Actor, at: datetime) -> bool:
    """Remove the first memory of `room` that this transaction has closed, and may relieve the quota of `reason`."""
    kinds = makes_room(reason)
    for memory in room if kinds is not None else ():
        present = await unit.reads.get(memory.memory_id, scopes=[memory.scope])
        fits = kinds == (None,) or (memory.kind,) == kinds
        if fits and present is not None and present.status in CLOSED:
            return await unit.apply(Mutation.removal(present, EVICTED, actor=actor, at=at))
    return False


def _is_filling(quota: Quota, usages: Mapping[Kind, Usage]) -> bool:
    used = [usage for kind, usage in usages.items() if quota.kind in (None, kind)]
    rows, size = sum(usage.rows for usage in used), sum(usage.bytes for usage in used)
    return (quota.rows is not None and rows + NEAR >= quota.rows) or (
        quota.bytes is not None and size >= quota.soft * quota.bytes
    )


def _kinds(quotas: Sequence[Quota]) -> frozenset[Kind]:
    named = [quota.kind for quota in quotas]
    return frozenset(Kind) if None in named else frozenset(kind for kind in named if kind is not None)


async def _oldest(
    store: RecordStore, actor: Actor, statuses: Collection[Status], kinds: frozenset[Kind]
) -> list[Memory]:
    """Return the user's memories of these states, those that were last changed longest ago first."""
    found: list[Memory] = []
    after = None
    for _ in range(_PAGES):
        page = await store.scan(
            actor.tenant, statuses=statuses, scope=actor.scope(Level.USER), after=after, limit=_PAGE
        )
        found += [memory for memory in page if memory.kind in kinds]
        if len(page) < _PAGE:
            break
        after = page[-1].memory_id
    return sorted(found, key=lambda memory: (memory.updated_at, memory.memory_id))[:NEAR]


# Of a large limit a tenth, of a small one at least the crowd: far from both, writers need not wait.
_LAST_PART = 0.1
_CROWD = {"rows": 1000, "bytes": 64 * 1024 * 1024, "writes_a_minute": 1000}
"""Maximum that uncommitted writers add together, of each limit."""


async def overshot(tx: Reads, candidate: Candidate, limits: Limits, actor: Actor, now: datetime) -> str | None:
    """Return the reason to undo the write of the candidate, which `tx` has made, or None."""
    # The tenant comes last: a writer that waits for the whole tenant has its own scope's lock by then.
    scopes: tuple[tuple[Per, Scope | None], ...] = (("user", actor.scope(Level.USER)), ("tenant", None))
    for per, scope in scopes:
        if any(quota.per == per and quota.applies(candidate) for quota in limits.quotas):
            usages = await tx.usage(actor.tenant, since=now - MINUTE, scope=scope, settled=False)
            # A settled reading waits for the tenant's other writers: only near a quota is that worth it.
            if scope is None and may_exceed_quota(limits, candidate, usages):
                usages = await tx.usage(actor.tenant, since=now - MINUTE)
            if (reason := limits.overshot(candidate, per, usages)) is not None:
                return reason
    return None


def may_exceed_quota(limits: Limits, candidate: Candidate, usages: Mapping[Kind, Usage]) -> bool:
    """Return True if a crowd of writers that do not see each other could pass a quota of the candidate's tenant."""
    quotas = (quota for quota in limits.quotas if quota.per == "tenant" and quota.applies(candidate))
    return any(_is_near(quota, usages) for quota in quotas)


def _is_near(quota: Quota, usages: Mapping[Kind, Usage]) -> bool:
    for name, part in quota.nearest(usages).items():
        limited = name.rpartition(".")[2]
        limit = getattr(quota, limited)
        if limit * (1 - part) < max(limit * _LAST_PART, _CROWD[limited]):
            return True
    return False


_ERASED = "erased"


def consent_prefix(token: str) -> str:
    """Return the prefix of the names of a user's consents."""
    return f"subject/{token}/consent/"


def tombstone(token: str) -> str:
    """Return the name of the mark that an erasure leaves."""
    return f"subject/{token}/{_ERASED}"


ENDED = "ended"
"""Name of the mark that the end of a tenant leaves."""
_READ_AT: ContextVar[datetime | None] = ContextVar("words_read_at", default=None)


@contextmanager
def refuse_if_erased_since(at: datetime, *, anew: bool = False) -> Iterator[None]:
    """Note when the words were read that are written inside the block: an erasure that begins later refuses them,
    however long a model takes. The time of an outer block stays, unless they are read `anew`.
    """
    token = _READ_AT.set(at if anew else _READ_AT.get() or at)
    try:
        yield
    finally:
        _READ_AT.reset(token)


def words_read_at() -> datetime | None:
    """Return when the words were read that are being written, as far as that is known."""
    return _READ_AT.get()


async def is_erased(tx: Reads, tenant: str, token: str, *, read_at: datetime | None) -> bool:
    """Return True if words of the user that were read then may not be written: the user was erased since, or for good,
    or the tenant has ended. Call it in the writing transaction: an erasure waits for the lock, so it finds the writes
    that pass here, and later writes find its mark.
    """
    names = (tombstone(token), ENDED)
    return any([_bars(await tx.find_mark(tenant, name, lock="shared"), read_at) for name in names])


async def is_erased_in(store: Marks, tenant: str, token: str, *, read_at: datetime) -> bool:
    """Return `is_erased` as of now, for what is written elsewhere than in the store. Raises StoreFailed."""
    names = (tombstone(token), ENDED)
    return any([_bars((await store.marks(tenant, name)).get(name), read_at) for name in names])


def _bars(mark: str | None, read_at: datetime | None) -> bool:
    if mark is None:
        return False
    left = json.loads(mark)
    return left["block"] or (read_at is not None and datetime.fromisoformat(left["at"]) > read_at)


async def apply_of_user(store: RecordStore, tenant: str, token: str, marks: Mapping[str, str | None]) -> bool:
    """Write marks of a user's, unless they are erased; return whether they are written. Raises StoreFailed."""
    read_at = words_read_at()

    async def work(unit: Unit) -> bool:
        if await is_erased(unit.reads, tenant, token, read_at=read_at):
            return False
        await unit.apply(Mutation(tenant=tenant, marks=marks))
        return True

    return await commit(store, work)


async def consents(store: Marks, token: str, tenant: str) -> Consents:
    """Read the user's decisions so far."""
    return consents_in(await marks_of_user(store, token, tenant), token)


async def marks_of_user(store: Marks, token: str, tenant: str) -> Mapping[str, str]:
    """Return the marks with what a user decided: consents, ratings, an erasure."""
    return await store.marks(tenant, f"subject/{token}/")


def consents_in(marks: Mapping[str, str], token: str) -> Consents:
    """Return the consents that are among the marks of a user."""
    if not marks:
        return Consents()
    prefix = consent_prefix(token)
    decided = {
        name.removeprefix(prefix): bool(json.loads(value)["granted"])
        for name, value in marks.items()
        if name.startswith(prefix)
    }
    erased = marks.get(tombstone(token))
    return Consents(decided=decided, erased=erased is not None and bool(json.loads(erased)["block"]))


@dataclass(frozen=True, slots=True)
class PreCommitCheck:
    """Check of the limits inside the writing transaction: concurrent writers together cannot exceed a quota, and
    nothing is stored for a user who was erased since the words were read (`read_at`), or under a key whose consent was
    revoked, in the meantime. `room` lists memories that may be evicted from the user's quota.
    """

    clock: Clock
    limits: Limits
    token: str
    actor: Actor
    room: tuple[Memory, ...] = ()
    read_at: datetime | None = None

    async def __call__(self, tx: Reads, candidate: Candidate) -> str | None:
        """Return the reason to undo the write, or None."""
        if await is_erased(tx, self.actor.tenant, self.token, read_at=self.read_at):
            return retention_denied(ERASED)
        if candidate.key is not None and (
            revoked := await _revocation_reason(tx, self.token, self.actor, candidate.key)
        ):
            return revoked
        if not self.limits.quotas:
            return None
        return await overshot(tx, candidate, self.limits, self.actor, self.clock.now())

    async def make_room(self, unit: Unit, reason: str, *, spared: Collection[str]) -> bool:
        """Remove the first memory of `room` that is unchanged: closed ones first, then what this write has closed, and
        an active one only if there is neither: a mere change of a value must not cost another fact.
        """
        remove = partial(evict_first, unit, reason=reason, actor=self.actor, at=self.clock.now())
        room = [memory for memory in self.room if memory.memory_id not in spared]
        replaced = [memory for memory in self.room if memory.memory_id in spared]
        return (
            await remove([one for one in room if one.status in CLOSED])
            or await evicted_if_closed(unit, replaced, reason, actor=self.actor, at=self.clock.now())
            or await remove([one for one in room if one.status not in CLOSED])
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Limiter:
    """Consent, quotas and retention, as stored. Raises StoreFailed."""

    store: RecordStore
    clock: Clock
    pipeline: MemoryWritePipeline

    async def get(self, memory_id: str, actor: Actor, scopes: Sequence[Scope]) -> Memory | None:
        """Return a memory that the actor is about to change."""
        if len(scopes) != 1 or not isinstance(self.store, GetBeforeChange):
            return await self.store.get(memory_id, scopes=scopes)
        prefix = f"subject/{await self.token(actor)}/"
        return await self.store.get_before_change(memory_id, scope=scopes[0], prefix=prefix)

    async def check(self, actor: Actor, limits: Limits, draft: Draft | None = None) -> LimitCheck:
        """Return the limits for the actor as of now; mark `draft` as known if an identical memory is there."""
        since = self.clock.now() - MINUTE
        usages: dict[Per, dict[Kind, Usage]] = {}
        # At most two reads, of the user and of the tenant, for any number of quotas.
        for per in {quota.per for quota in limits.quotas}:
            scope = actor.scope(Level.USER) if per == "user" else None
            usages[per] = dict(await self.store.usage(actor.tenant, since=since, scope=scope))
        has_room = "user" in usages and bool(await self._room(actor, limits, usages["user"]))
        token = await self.token(actor)
        if draft is None or draft.blocked is not None:
            decided = await consents(self.store, token, actor.tenant)
        elif hasattr(self.store, "marks_and_duplicate"):
            # Both in one read, as of one moment.
            store = cast("MarksAndDuplicate", self.store)
            named = f"subject/{token}/", draft.scope, draft.fingerprint
            marks, same = await store.marks_and_duplicate(actor.tenant, *named, request=draft.request_key)
            draft.known = same is not None and is_repeated(same, draft)
            decided = consents_in(marks, token)
        else:
            decided = await consents(self.store, token, actor.tenant)
            draft.known = await is_known(self.store, draft)
        return LimitCheck(limits, decided, usages, has_room=has_room)

    async def gate(self, actor: Actor, limits: Limits) -> PreCommitCheck:
        """Return the check of these limits for the inside of the writing transaction."""
        room: tuple[Memory, ...] = ()
        if any(quota.per == "user" for quota in limits.quotas):
            since = self.clock.now() - MINUTE
            usages = await self.store.usage(actor.tenant, since=since, scope=actor.scope(Level.USER))
            # Candidates for eviction are chosen before the transaction and checked again inside it (`make_room`).
            room = await self._room(actor, limits, usages)
        return PreCommitCheck(self.clock, limits, await self.token(actor), actor, room, words_read_at())

    async def _room(self, actor: Actor, limits: Limits, usages: Mapping[Kind, Usage]) -> tuple[Memory, ...]:
        return await room_in(self.store, limits, actor, usages)

    async def token(self, actor: Actor) -> str:
        """Return the keyed hash that names the actor's user in marks. The tenant's secret is read once and cached."""
        return token_of(await self.pipeline.secret(checked_actor(actor).tenant), actor.user)


async def _revocation_reason(tx: Reads, token: str, actor: Actor, named: str) -> str | None:
    key = canonical_key(named)
    decided = await tx.find_mark(actor.tenant, consent_prefix(token) + key, lock="shared")
    return consent_required(key) if decided is not None and not json.loads(decided)["granted"] else None


WAITING = "waiting/"
"""Prefix of the names of the marks of messages that wait for a reader in the background."""


def waiting_prefix(token: str) -> str:
    """Return the prefix of the names of the marks of a user's waiting messages."""
    return f"{WAITING}{token}/"


async def subject_token(store: RecordStore, tenant: str, user: str) -> str:
    """Return the pseudonym of a user for places where the name must not appear; see `token_of`."""
    return token_of(await store.secret(tenant), user)


async def decide_consent(
    store: RecordStore, clock: Clock, key: str, *, granted: bool, user: str, actor: Actor, policy: Policy
) -> str:
    """Store the decision of `user` about `key`, with its line in the audit log; return the canonical key.

    The audit log names keys of the policy; of others it has a keyed hash, because they may reveal something about a
    person. The decision takes effect in every process once this returns; repeating it changes nothing. Raises
    InvalidInput for an invalid key, WriteBlocked (`retention_denied`) for a user who was erased meanwhile, or for good.
    """
    name = canonical_key(key)
    token = await subject_token(store, actor.tenant, user)
    shown_key = name if name in (policy.keys or ()) else await subject_token(store, actor.tenant, f"key\x1f{name}")
    now: datetime = clock.now()

    decided = Mutation.line(
        "consent_granted" if granted else "consent_revoked",
        actor=actor,
        at=now,
        detail={"subject": token, "key": shown_key, "agent": actor.agent},
        marks={consent_prefix(token) + name: json.dumps({"granted": granted, "at": now.isoformat()})},
    )

    read_at = words_read_at()

    async def work(unit: Unit) -> None:
        if await is_erased(unit.reads, actor.tenant, token, read_at=read_at):
            raise WriteBlocked(retention_denied(ERASED))
        # Writes under the key that passed the check share the lock: once this is committed, so are they.
        known = await unit.reads.find_mark(actor.tenant, consent_prefix(token) + name, lock="exclusive")
        if known is None or json.loads(known)["granted"] is not granted:
            await unit.apply(decided)

    await commit(store, work)
    return name
