"""Limits as the store knows them: erasures, consents and usage. Checked at dispatch, and again in the writing
transaction.

A consent is one mark per user and key, an erasure one per user. The names of marks carry a keyed hash of the user, so
that they reveal nothing to a reader of the file alone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mnemic.policy.grant import consent_required, retention_denied
from mnemic.policy.limits import ERASED, MINUTE, Consents, LimitCheck, Limits, Per, makes_room
from mnemic.types import Actor, Candidate, Kind, Level, Memory, Scope, Usage
from mnemic.types.identity import token_of
from mnemic.types.values import canonical_key
from mnemic.unit_of_work import Mutation, Unit
from mnemic.write.pipeline import MemoryWritePipeline

if TYPE_CHECKING:
    from mnemic.ports import Clock, Reads, RecordStore
    from mnemic.ports.optional_capabilities import Marks

_ERASED = "erased"
EVICTED = "evicted"
"""Action in the audit log for an evicted memory."""


def consent_prefix(token: str) -> str:
    """Return the prefix of the names of a user's consents."""
    return f"subject/{token}/consent/"


def tombstone(token: str) -> str:
    """Return the name of the mark that an erasure leaves."""
    return f"subject/{token}/{_ERASED}"


async def consents(store: Marks, token: str, tenant: str) -> Consents:
    """Read the user's decisions so far."""
    marks = await store.marks(tenant, f"subject/{token}/")
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
    nothing is stored for a user who was erased, or under a key whose consent was revoked, in the meantime. `room` lists
    memories that may be evicted from the user's quota.
    """

    clock: Clock
    limits: Limits
    token: str
    actor: Actor
    room: tuple[Memory, ...] = ()

    async def __call__(self, tx: Reads, candidate: Candidate) -> str | None:
        """Return the reason to undo the write, or None."""
        # An erasure waits for the lock, so it finds the writes that pass here, and later writes find its tombstone.
        erased = await tx.find_mark(self.actor.tenant, tombstone(self.token), lock="shared")
        if erased is not None and json.loads(erased)["block"]:
            return retention_denied(ERASED)
        if candidate.key is not None and (revoked := await _revoked(tx, self.token, self.actor, candidate.key)):
            return revoked
        return await self._overshot(tx, candidate) if self.limits.quotas else None

    async def make_room(self, unit: Unit, reason: str, *, spared: Collection[str]) -> bool:
        """Remove the first memory of `room` that is unchanged."""
        kinds = makes_room(reason)
        for memory in self.room if kinds is not None else ():
            if memory.memory_id in spared or (kinds != (None,) and (memory.kind,) != kinds):
                continue
            present = await unit.reads.get(memory.memory_id, scopes=[memory.scope])
            # Chosen before the transaction: a memory confirmed or corrected since then is worth keeping.
            if present is None or (present.version, present.status) != (memory.version, memory.status):
                continue
            return await unit.apply(Mutation.removal(present, EVICTED, actor=self.actor, at=self.clock.now()))
        return False

    async def _overshot(self, tx: Reads, candidate: Candidate) -> str | None:
        from mnemic.write.near_quotas import may_exceed_quota

        # The tenant comes last: a writer that waits for the whole tenant has its own scope's lock by then.
        scopes: tuple[tuple[Per, Scope | None], ...] = (("user", self.actor.scope(Level.USER)), ("tenant", None))
        for per, scope in scopes:
            if any(quota.per == per and quota.applies(candidate) for quota in self.limits.quotas):
                since = self.clock.now() - MINUTE
                usages = await tx.usage(self.actor.tenant, since=since, scope=scope, settled=False)
                # A settled reading waits for the tenant's other writers: only near a quota is that worth it.
                if scope is None and may_exceed_quota(self.limits, candidate, usages):
                    usages = await tx.usage(self.actor.tenant, since=since)
                if (reason := self.limits.overshot(candidate, per, usages)) is not None:
                    return reason
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limiter:
    """Consent, quotas and retention, as stored. Raises StoreFailed."""

    store: RecordStore
    clock: Clock
    pipeline: MemoryWritePipeline

    async def check(self, actor: Actor, limits: Limits) -> LimitCheck:
        """Return the limits for the actor as of now."""
        since = self.clock.now() - MINUTE
        usages: dict[Per, dict[Kind, Usage]] = {}
        # At most two reads, of the user and of the tenant, for any number of quotas.
        for per in {quota.per for quota in limits.quotas}:
            scope = actor.scope(Level.USER) if per == "user" else None
            usages[per] = dict(await self.store.usage(actor.tenant, since=since, scope=scope))
        has_room = "user" in usages and bool(await self._room(actor, limits, usages["user"]))
        decided = await consents(self.store, await self.token(actor), actor.tenant)
        return LimitCheck(limits, decided, usages, has_room=has_room)

    async def gate(self, actor: Actor, limits: Limits) -> PreCommitCheck:
        """Return the check of these limits for the inside of the writing transaction."""
        room: tuple[Memory, ...] = ()
        if any(quota.per == "user" for quota in limits.quotas):
            since = self.clock.now() - MINUTE
            usages = await self.store.usage(actor.tenant, since=since, scope=actor.scope(Level.USER))
            # Candidates for eviction are chosen before the transaction and checked again inside it (`make_room`).
            room = await self._room(actor, limits, usages)
        return PreCommitCheck(self.clock, limits, await self.token(actor), actor, room)

    async def _room(self, actor: Actor, limits: Limits, usages: Mapping[Kind, Usage]) -> tuple[Memory, ...]:
        from mnemic.write.eviction import room_in

        return await room_in(self.store, limits, actor, usages)

    async def token(self, actor: Actor) -> str:
        """Return the keyed hash that names the actor's user in marks. The tenant's secret is read once and cached."""
        return token_of(await self.pipeline.secret(actor.tenant), actor.user)


async def _revoked(tx: Reads, token: str, actor: Actor, named: str) -> str | None:
    key = canonical_key(named)
    decided = await tx.find_mark(actor.tenant, consent_prefix(token) + key, lock="shared")
    return consent_required(key) if decided is not None and not json.loads(decided)["granted"] else None
