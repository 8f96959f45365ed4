"""Administration verbs: review, consent, expiry, erasure, projections, audit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from mnemic import requests
from mnemic.errors import InvalidInput
from mnemic.maintenance.audit_verification import verified
from mnemic.maintenance.confirmed_requests import carried_out
from mnemic.maintenance.erase import verify
from mnemic.maintenance.maintenance_run import maintained
from mnemic.maintenance.maintenance_verbs import MaintenanceVerbs
from mnemic.maintenance.reports import Revocation
from mnemic.maintenance.review import decided, waiting
from mnemic.maintenance.subject_export import json_chunks, opened
from mnemic.maintenance.subject_export_page import page_chunks
from mnemic.policy.redaction_policy import RedactionRules
from mnemic.types import SHARED, Actor, AuditEvent, Level, Scope, Status, Where, WriteReceipt
from mnemic.write.consent import subject_token
from mnemic.write.limiter import consents

if TYPE_CHECKING:
    from mnemic.maintenance.erasure_receipt import ErasureReceipt
    from mnemic.maintenance.expiry_job import ExpiryRules
    from mnemic.maintenance.key_rotation import Rotation
    from mnemic.maintenance.reports import AuditReport, MaintenanceReport, ReviewOutcome
    from mnemic.maintenance.reveal import RevealResult
    from mnemic.maintenance.review import PendingReview
    from mnemic.maintenance.undo import UndoReceipt
    from mnemic.ports import SessionStore
    from mnemic.types import MemoryRequest, RequestOutcome

Form = Literal["json", "html"]
_PAGE = 200
"""Maximum number of waiting memories reviewed together."""


class AdministrationVerbs(MaintenanceVerbs):
    """Administration verbs of `MemoryEngine`. With `whole_tenant` the embedding program grants the actor access to
    others' proposals; without it they reach only the actor's own scopes at the granted levels.
    """

    sessions: SessionStore | None
    redaction: RedactionRules

    def _reach(self, actor: Actor, whole_tenant: bool) -> tuple[Scope, ...] | None:
        return None if whole_tenant else self.reach(actor)

    async def rollback(self, memory_id: str, version: int, *, actor: Actor) -> WriteReceipt:
        """Restore the content that a memory had in `version`, as its next version; the memory that replaced it ends.

        Only a version that was once active can be restored, so this needs no review. Raises MemoryNotFound,
        InvalidInput (`version`), VersionConflict, EmbedderFailed.
        """
        return await self.handle(requests.Rollback(memory_id=memory_id, version=version), actor=actor)

    # -- review -------------------------------------------------------------------------------------------------------

    async def reviews(
        self,
        *,
        actor: Actor,
        whole_tenant: bool = False,
        limit: int = 50,
        after: str | None = None,
        older_than: timedelta | None = None,
        shared: bool = False,
    ) -> Sequence[PendingReview]:
        """Return the memories that await review, oldest first, each with the memory it contradicts; `after` ends the
        previous page. `shared` adds others' memories at the actor's shared levels that are visible but not trusted yet.
        """
        unapproved = [scope for scope in self.reach(actor) if scope.level in SHARED] if shared else ()
        return await waiting(
            self.store,
            self.clock,
            tenant=actor.tenant,
            scopes=self._reach(actor, whole_tenant),
            shared=unapproved,
            limit=limit,
            after=after,
            older_than=older_than,
        )

    async def approve(
        self,
        memory_id: str,
        *,
        actor: Actor,
        content: str | None = None,
        merge_with: Sequence[str] = (),
        whole_tenant: bool = False,
        expected_version: int | None = None,
    ) -> WriteReceipt:
        """Approve a waiting memory, and close the one it contradicts. `content` replaces its text; with `merge_with` it
        also replaces these memories of its scope.

        Users decide alone on statements about themselves; of anything else the proposer cannot approve. The approved
        text passes policy, grant and limits as if it were added now. Raises ReviewDenied (`review_denied:proposer`),
        MemoryNotFound, VersionConflict, InvalidInput, and the breaches of policy.
        """
        request = requests.Approve(
            memory_id=memory_id,
            content=content,
            merge_with=tuple(merge_with),
            whole_tenant=whole_tenant,
            expected_version=expected_version,
        )
        return await self.handle(request, actor=actor)

    async def reject(self, memory_id: str, *, actor: Actor, whole_tenant: bool = False) -> WriteReceipt:
        """Turn a waiting memory down; it stays, unread, as `rejected` until it expires. Raises MemoryNotFound."""
        return await self.handle(requests.Reject(memory_id=memory_id, whole_tenant=whole_tenant), actor=actor)

    async def decide(
        self,
        memory_ids: Sequence[str],
        action: Literal["approve", "reject"],
        *,
        actor: Actor,
        whole_tenant: bool = False,
    ) -> Sequence[ReviewOutcome]:
        """Make the same decision on many waiting memories; a failing one reports its reason and does not stop the
        others.

        Raises StoreFailed; earlier decisions stay.
        """
        verb = self.approve if action == "approve" else self.reject
        return await decided(memory_ids, partial(verb, actor=actor, whole_tenant=whole_tenant))

    async def reject_older(
        self, older_than: timedelta, *, actor: Actor, whole_tenant: bool = False
    ) -> Sequence[WriteReceipt]:
        """Reject all memories pending for so long, so that the queue does not rot; return one receipt each."""
        receipts: list[WriteReceipt] = []
        after = None
        while page := await self.reviews(actor=actor, whole_tenant=whole_tenant, limit=_PAGE, after=after):
            after = page[-1].memory.memory_id
            aged = [one.memory for one in page if one.age >= older_than]
            for memory in aged:
                request = requests.Reject(memory_id=memory.memory_id, whole_tenant=whole_tenant, reason="aged")
                receipts.append(await self.handle(request, actor=actor))
        return receipts

    async def undo(self, memory_id: str, *, actor: Actor) -> UndoReceipt:
        """Undo a merge, a new value of a key, or an approval; see `mnemic.maintenance.undo`.

        Raises MemoryNotFound, InvalidInput (`undo:nothing_replaced`), VersionConflict, or WriteBlocked and the breaches
        of policy if a restored statement may not be written now.
        """
        receipt: UndoReceipt = await self.handle(requests.Undo(memory_id=memory_id), actor=actor)
        return receipt

    # -- consent ------------------------------------------------------------------------------------------------------

    async def consents(self, *, actor: Actor) -> dict[str, bool]:
        """Return the user's decisions, by key."""
        token = await subject_token(self.store, actor.tenant, actor.user)
        return dict((await consents(self.store, token, actor.tenant)).decided)

    async def grant_consent(self, key: str, *, actor: Actor) -> None:
        """From now on the user's memories under `key` may be written and found. Raises InvalidInput."""
        await self.handle(requests.Consent(key=key, granted=True), actor=actor)

    async def revoke_consent(self, key: str, *, actor: Actor, erase_held: bool = False) -> Revocation:
        """Deny writing and reading `key` for this user; `erase_held` also erases its values. Raises InvalidInput."""
        name = await self.handle(requests.Consent(key=key, granted=False), actor=actor)
        where = Where(scopes=(actor.scope(Level.USER),), keys=frozenset({name}), statuses=frozenset(Status))
        hidden = await self.store.count(where)
        erased = None
        if erase_held:
            erased = await self.handle(requests.EraseKey(key=name), actor=actor)
        return Revocation(key=name, hidden=0 if erased else hidden, erased=erased)

    # -- values behind markers ---------------------------------------------------------------------------------------

    async def reveal(self, memory_id: str, *, actor: Actor, role: str, whole_tenant: bool = False) -> RevealResult:
        """Return the values that a memory's markers replace. `role` is the embedding program's word that the actor has
        it; it must be one that the policy names. Each call leaves a line in the audit, also when it is denied.

        Raises MemoryNotFound, RevealDenied (`reveal_denied:role`), NotSupported without a key file, KeyFailed.
        """
        request = requests.Reveal(memory_id=memory_id, role=role, whole_tenant=whole_tenant)
        revealed: RevealResult = await self.handle(request, actor=actor)
        return revealed

    async def rotate_data_keys(self, *, actor: Actor, subject: str | None = None, keep_old: bool = False) -> Rotation:
        """Rotate the data key of the user `subject`, or of everybody with sealed data in the actor's tenant: data
        sealed with the old keys is re-encrypted while the store is in use, and they are destroyed once nothing needs
        them; see `mnemic.maintenance.key_rotation`. With `keep_old` they stay, for another store sealed with them.

        Raises NotSupported (`rotate`) without a key file, InvalidInput, KeyFailed, StoreFailed: a further call
        continues.
        """
        rotation: Rotation = await self.handle(requests.RotateDataKeys(subject=subject, keep_old=keep_old), actor=actor)
        return rotation

    # -- expiry, erasure, audit ---------------------------------------------------------------------------------------

    async def maintain(
        self, *, actor: Actor, rules: ExpiryRules | None = None, whole: bool = False, dry_run: bool = False
    ) -> MaintenanceReport:
        """Run every job: background capture, expiry and purge, outbox, file maintenance (`whole`: rewrite it)."""
        return await maintained(self, actor, rules, feeds=self.feeds, whole=whole, dry_run=dry_run)

    async def erase(self, subject: str, *, actor: Actor, block: bool = False) -> ErasureReceipt:
        """Erase everything about the user `subject` of the actor's tenant; see `mnemic.maintenance.erase`. With `block`
        nothing about them is ever stored again. After an interruption, another call continues.
        """
        receipt: ErasureReceipt = await self.handle(requests.Erase(subject=subject, block=block), actor=actor)
        return receipt

    async def carry_out(self, request: MemoryRequest, *, actor: Actor) -> RequestOutcome:
        """Carry out a message's request about memory (`RunReport.asked`), once its user has confirmed it: forget the
        named memories, erase everything about the user, or return the memories to show.

        Absent memories count as done. Raises InvalidInput (`memory_request`), StoreFailed.
        """
        return await carried_out(self, request, actor)

    async def export_subject(
        self, subject: str, *, actor: Actor, form: Form = "json", values: bool = False
    ) -> AsyncIterator[str]:
        """Yield all data stored about the user `subject` of the actor's tenant, and nothing about others, as the chunks
        of one JSON document or of one HTML page for people. `values` decrypts sealed values, for the subject only.
        Raises InvalidInput (`subject`, `form`), RevealDenied (`reveal_denied:subject`), NotSupported (`reveal`).
        """
        forms = {"json": json_chunks, "html": page_chunks}
        if form not in forms:
            raise InvalidInput("form", hint=f"one of {', '.join(forms)}")
        given: Any = {"sessions": self.sessions, "vault": self.vault, "quotas": self.rules.limits.quotas}
        holdings = await opened(self.store, self.clock, subject, actor=actor, values=values, **given)
        async for chunk in forms[form](holdings):
            yield chunk

    async def verify_erasure(self, receipt: ErasureReceipt) -> dict[str, int]:
        """Scan for erased data and return the number of finds by place: all zero if the receipt is right."""
        return await verify(self.store, receipt, feeds=self.feeds)

    async def audit(
        self, *, actor: Actor, after: int = 0, before: int | None = None, limit: int = 1000
    ) -> Sequence[AuditEvent]:
        """Return the tenant's audit after sequence `after`; with `before` the last `limit` lines before that."""
        return await self.store.audit(actor.tenant, after=after, before=before, limit=limit)

    async def verify_audit(self, *, actor: Actor) -> AuditReport:
        """Check every line of the tenant's audit."""
        return await verified(self.store, actor.tenant, None if self.vault is None else self.vault.keyring)
