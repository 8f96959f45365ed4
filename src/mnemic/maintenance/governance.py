"""One user's governance, for callers with an event loop and without: the review queue, consent, privacy, the audit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from mnemic.engine import MemoryEngine
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.maintenance.reports import AuditReport, ReviewOutcome, Revocation
from mnemic.maintenance.review import PendingReview
from mnemic.runtime.sync_facade import CallMode, DualModeApi, M, verb
from mnemic.types import Actor, AuditEvent, WriteReceipt


class _Governed(DualModeApi[M]):
    """Review verbs of the engine for one actor. `whole_tenant` includes all users and is the program's
    responsibility.
    """

    def __init__(
        self, call_mode: CallMode[M], engine: MemoryEngine, actor: Actor, *, whole_tenant: bool = False
    ) -> None:
        super().__init__(call_mode)
        self._engine = engine
        self._actor = actor
        self._whole_tenant = whole_tenant


class ReviewQueue(_Governed[M]):
    """Memories that wait for a person: the author if it is about themself, else anyone but the proposer."""

    @verb
    async def list(
        self,
        *,
        limit: int = 50,
        after: str | None = None,
        older_than: timedelta | None = None,
        shared: bool = False,
    ) -> Sequence[PendingReview]:
        """Return the queue, oldest first, with the memory that each entry contradicts; `after` ends the previous page.
        `shared` adds the memories that others wrote at shared levels: searchable already, but not trusted yet.
        """
        return await self._engine.reviews(
            actor=self._actor,
            whole_tenant=self._whole_tenant,
            limit=limit,
            after=after,
            older_than=older_than,
            shared=shared,
        )

    @verb
    async def approve(
        self, memory_id: str, *, content: str | None = None, expected_version: int | None = None
    ) -> WriteReceipt:
        """Approve it, with `content` in other words; see `MemoryEngine.approve`. Raises ReviewDenied, MemoryNotFound,
        VersionConflict.
        """
        return await self._engine.approve(
            memory_id,
            actor=self._actor,
            content=content,
            whole_tenant=self._whole_tenant,
            expected_version=expected_version,
        )

    @verb
    async def merge(self, memory_id: str, into: Sequence[str], *, content: str | None = None) -> WriteReceipt:
        """Approve it; it also replaces the memories named by `into`, and takes over their data."""
        return await self._engine.approve(
            memory_id,
            actor=self._actor,
            content=content,
            merge_with=into,
            whole_tenant=self._whole_tenant,
        )

    @verb
    async def reject(self, memory_id: str) -> WriteReceipt:
        """Reject it. Raises MemoryNotFound."""
        return await self._engine.reject(memory_id, actor=self._actor, whole_tenant=self._whole_tenant)

    @verb
    async def approve_all(self, memory_ids: Sequence[str]) -> Sequence[ReviewOutcome]:
        """Approve many; a refused one reports its reason and does not stop the others."""
        return await self._engine.decide(memory_ids, "approve", actor=self._actor, whole_tenant=self._whole_tenant)

    @verb
    async def reject_all(self, memory_ids: Sequence[str]) -> Sequence[ReviewOutcome]:
        """Reject many."""
        return await self._engine.decide(memory_ids, "reject", actor=self._actor, whole_tenant=self._whole_tenant)

    @verb
    async def reject_older(self, than: timedelta) -> Sequence[WriteReceipt]:
        """Reject the entries that have waited for this long."""
        return await self._engine.reject_older(than, actor=self._actor, whole_tenant=self._whole_tenant)


class ConsentBook(_Governed[M]):
    """Consent of the user, key by key."""

    @verb
    async def list(self) -> dict[str, bool]:
        """Return the user's decisions."""
        return await self._engine.consents(actor=self._actor)

    @verb
    async def grant(self, key: str) -> None:
        """Allow `key` from now on. Raises InvalidInput."""
        await self._engine.grant_consent(key, actor=self._actor)

    @verb
    async def revoke(self, key: str, *, erase_held: bool = False) -> Revocation:
        """Hide and refuse `key` from now on; `erase_held` also erases the memories stored under it."""
        return await self._engine.revoke_consent(key, actor=self._actor, erase_held=erase_held)


class Privacy(_Governed[M]):
    """Personal data stored about a user, and its erasure."""

    @verb
    async def erase(self, subject: str | None = None, *, block: bool = False) -> ErasureReceipt:
        """Erase everything about this user, or about `subject` of the tenant; see `MemoryEngine.erase`."""
        return await self._engine.erase(subject or self._actor.user, actor=self._actor, block=block)

    @verb
    async def verify(self, receipt: ErasureReceipt) -> dict[str, int]:
        """Scan for erased data and return the number of finds by place: all zero if the receipt is right."""
        return await self._engine.verify_erasure(receipt)


class AuditTrail(_Governed[M]):
    """Audit log of the tenant, without content."""

    @verb
    async def list(self, *, after: int = 0, before: int | None = None, limit: int = 1000) -> Sequence[AuditEvent]:
        """Return its lines after sequence `after`; with `before` the last `limit` lines before that one."""
        return await self._engine.audit(actor=self._actor, after=after, before=before, limit=limit)

    @verb
    async def verify(self) -> AuditReport:
        """Check every line."""
        return await self._engine.verify_audit(actor=self._actor)
