"""Requests without a statement: consent, erase, expire, data keys, revealed values.

They add nothing to memory, so they propose nothing for policy, grant and limits to check.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mnemic.dispatch import Call, Proposal
from mnemic.dispatch.handlers.update import AdministrationHandler
from mnemic.errors import MemoryNotFound, NotSupported
from mnemic.maintenance import erase, expiry_job, key_rotation, reveal
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.maintenance.expiry_job import ExpiryReport, ExpiryRules
from mnemic.maintenance.handlers.review import reach
from mnemic.maintenance.key_rotation import Rotation
from mnemic.maintenance.reveal import RevealResult
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.ports import SessionStore
from mnemic.types import Status
from mnemic.types.ratings import Rating
from mnemic.write.forget import require_person
from mnemic.write.limiter import Limiter, decide_consent
from mnemic.write.pipeline import MemoryWritePipeline
from mnemic.write.ratings import rate
from mnemic.write.tokenisation import TokenVault


@dataclass(frozen=True, slots=True)
class ConsentHandler(AdministrationHandler):
    """Handles `Consent`."""

    limiter: Limiter

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> str:
        """Return the canonical key that was decided about. Raises InvalidInput, WriteBlocked (`lower_trust`)."""
        request, actor = call.request, call.actor
        require_person(actor)
        return await decide_consent(
            self.limiter.store,
            self.limiter.clock,
            request.key,
            granted=request.granted,
            user=actor.user,
            actor=actor,
            policy=call.rules.policy,
        )


@dataclass(frozen=True, slots=True)
class RateHandler(AdministrationHandler):
    """Handles `Rate`, which changes only the order of the user's own searches: so a model may rate, too."""

    limiter: Limiter

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> Rating | None:
        """Return the rating, None if it was withdrawn. Raises InvalidInput, MemoryNotFound, WriteBlocked."""
        store, request, actor = self.limiter.store, call.request, call.actor
        memory = await store.get(request.memory_id, scopes=call.scopes)
        if memory is None or memory.status is Status.PENDING_REVIEW:
            raise MemoryNotFound()
        token = await self.limiter.token(actor)
        return await rate(store, self.limiter.clock, memory, request.verdict, token=token, actor=actor)


@dataclass(frozen=True, slots=True)
class EraseHandler(AdministrationHandler):
    """Handles `Erase` and `EraseKey`. `on_erased` is called after an erasure, so that caches of names are dropped."""

    pipeline: MemoryWritePipeline
    limiter: Limiter
    sessions: SessionStore | None
    vault: TokenVault | None
    on_erased: Callable[[], None]

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> ErasureReceipt:
        """Return the receipt of the erasure. Raises WriteBlocked (`lower_trust`)."""
        require_person(call.actor)
        given: dict[str, Any] = {"actor": call.actor, "feeds": self.pipeline.publisher.feeds}
        store, clock, request = self.limiter.store, self.limiter.clock, call.request
        if hasattr(request, "key"):
            return await erase.erase_key(store, clock, request.key, user=call.actor.user, **given)
        keyring = None if self.vault is None else self.vault.keyring
        receipt = await erase.erase(
            store, clock, request.subject, block=request.block, sessions=self.sessions, keyring=keyring, **given
        )
        self.on_erased()
        return receipt


@dataclass(frozen=True, slots=True)
class ExpireHandler(AdministrationHandler):
    """Handles `Expire`."""

    pipeline: MemoryWritePipeline
    limiter: Limiter

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> ExpiryReport:
        """Return the numbers of marked, purged and restored memories."""
        request, defaults = call.request, ExpiryRules(hard_kinds=call.rules.limits.hard_kinds)
        rules = ExpiryRules(
            grace=defaults.grace if request.grace is None else request.grace,
            apart=defaults.apart if request.apart is None else request.apart,
            hard_kinds=defaults.hard_kinds if request.hard_kinds is None else request.hard_kinds,
        )
        store, clock = self.limiter.store, self.limiter.clock
        report = await expiry_job.expire(store, clock, actor=call.actor, rules=rules, dry_run=request.dry_run)
        if not request.dry_run:
            await self.pipeline.publisher.catch_up()
        return report


@dataclass(frozen=True, slots=True)
class RotateKeysHandler(AdministrationHandler):
    """Handles `RotateDataKeys`."""

    limiter: Limiter
    vault: TokenVault | None

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> Rotation:
        """Return the number of subjects that have another key. Raises NotSupported (`rotate`) without a key file."""
        if self.vault is None:
            raise NotSupported("rotate", hint="nothing is sealed without a key file")
        store, clock, request = self.limiter.store, self.limiter.clock, call.request
        return await key_rotation.rotate_data_keys(
            store, clock, self.vault, actor=call.actor, subject=request.subject, keep_old=request.keep_old
        )


@dataclass(frozen=True, slots=True)
class RevealHandler(AdministrationHandler):
    """Handles `Reveal`, which changes only the audit log."""

    limiter: Limiter
    vault: TokenVault | None
    redaction: RedactionRules

    async def carry_out(self, call: Call, passed: Sequence[Proposal]) -> RevealResult:
        """Return the values. Raises MemoryNotFound, RevealDenied, NotSupported, KeyFailed."""
        store, request, actor = self.limiter.store, call.request, call.actor
        scopes = reach(call)
        if scopes is None:
            found = await store.scan(actor.tenant, statuses=list(Status), memory_ids=[request.memory_id])
            memory = found[0] if found else None
        else:
            memory = await store.get(request.memory_id, scopes=scopes)
        if memory is None:
            raise MemoryNotFound()
        clock = self.limiter.clock
        return await reveal.reveal(store, clock, self.vault, self.redaction, memory, actor=actor, role=request.role)
