"""One user's governance without an event loop: the review queue, consent, privacy, the audit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from mnemic.engine import MemoryEngine
from mnemic.maintain.erase import ErasureReceipt
from mnemic.maintain.review import Waiting
from mnemic.portal import Portal
from mnemic.stewardship import AuditReport, Decided, Revocation
from mnemic.types import Actor, AuditEvent, WriteReceipt


@dataclass(frozen=True, slots=True)
class _Face:
    """Verbs of the engine for one actor. `whole_tenant`: the program's word that they may see everybody's."""

    portal: Portal
    engine: MemoryEngine
    actor: Actor
    whole_tenant: bool = False


class ReviewQueue(_Face):
    """What waits for a person. Whoever proposed a memory cannot approve it."""

    def list(
        self, *, limit: int = 50, after: str | None = None, older_than: timedelta | None = None
    ) -> Sequence[Waiting]:
        """The queue, oldest first, with what each stands against; `after` ends the previous page."""
        return self.portal.call(
            self.engine.reviews,
            actor=self.actor,
            whole_tenant=self.whole_tenant,
            limit=limit,
            after=after,
            older_than=older_than,
        )

    def approve(
        self, memory_id: str, *, content: str | None = None, expected_version: int | None = None
    ) -> WriteReceipt:
        """Let it in, with `content` in other words; see `MemoryEngine.approve`. Raises ReviewDenied, MemoryNotFound,
        VersionConflict.
        """
        return self.portal.call(
            self.engine.approve,
            memory_id,
            actor=self.actor,
            content=content,
            whole_tenant=self.whole_tenant,
            expected_version=expected_version,
        )

    def merge(self, memory_id: str, into: Sequence[str], *, content: str | None = None) -> WriteReceipt:
        """Let it in, in the place of the memories named by `into` too, whose data it carries on."""
        return self.portal.call(
            self.engine.approve,
            memory_id,
            actor=self.actor,
            content=content,
            merge_with=into,
            whole_tenant=self.whole_tenant,
        )

    def reject(self, memory_id: str) -> WriteReceipt:
        """Turn it down. Raises MemoryNotFound."""
        return self.portal.call(self.engine.reject, memory_id, actor=self.actor, whole_tenant=self.whole_tenant)

    def approve_all(self, memory_ids: Sequence[str]) -> Sequence[Decided]:
        """Let many in; one that cannot be says why and stops no other."""
        return self.portal.call(
            self.engine.decide, memory_ids, "approve", actor=self.actor, whole_tenant=self.whole_tenant
        )

    def reject_all(self, memory_ids: Sequence[str]) -> Sequence[Decided]:
        """Turn many down."""
        return self.portal.call(
            self.engine.decide, memory_ids, "reject", actor=self.actor, whole_tenant=self.whole_tenant
        )

    def reject_older(self, than: timedelta) -> Sequence[WriteReceipt]:
        """Turn down what has waited for so long."""
        return self.portal.call(self.engine.reject_older, than, actor=self.actor, whole_tenant=self.whole_tenant)


class ConsentBook(_Face):
    """What may be remembered of the user, key by key."""

    def list(self) -> dict[str, bool]:
        """What the user has decided."""
        return self.portal.call(self.engine.consents, actor=self.actor)

    def grant(self, key: str) -> None:
        """Allow `key` from now on. Raises InvalidInput."""
        self.portal.call(self.engine.grant_consent, key, actor=self.actor)

    def revoke(self, key: str, *, erase_held: bool = False) -> Revocation:
        """Hide and refuse `key` from now on; with `erase_held` what is held under it goes for good."""
        return self.portal.call(self.engine.revoke_consent, key, actor=self.actor, erase_held=erase_held)


class Privacy(_Face):
    """Everything that is held about somebody, and its end."""

    def erase(self, subject: str, *, block: bool = False) -> ErasureReceipt:
        """Erase everything about the user `subject` of the tenant; see `MemoryEngine.erase`."""
        return self.portal.call(self.engine.erase, subject, actor=self.actor, block=block)

    def verify(self, receipt: ErasureReceipt) -> dict[str, int]:
        """What a scan finds now of what was erased, by place: nothing but zeros where the receipt holds."""
        return self.portal.call(self.engine.verify_erasure, receipt)


class AuditTrail(_Face):
    """The tenant's audit. It holds no content."""

    def list(self, *, after: int = 0, limit: int = 1000) -> Sequence[AuditEvent]:
        """Its lines from behind sequence `after`."""
        return self.portal.call(self.engine.audit, actor=self.actor, after=after, limit=limit)

    def verify(self) -> AuditReport:
        """Check every line."""
        return self.portal.call(self.engine.verify_audit, actor=self.actor)
