"""The engine's verbs of review, consent, erasure and audit, carried out by a service; the faces of them are those of
`mnemic.maintenance.governance`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from types import SimpleNamespace
from typing import Any, Literal
from urllib.parse import quote

from mnemic.engine import MemoryEngine
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.maintenance.reports import AuditReport, ReviewOutcome, Revocation
from mnemic.maintenance.review import PendingReview, decide_each
from mnemic.retrieve.export import from_dict
from mnemic.types import Actor, AuditEvent, Level, RequestOutcome, Scope, WriteReceipt, from_json
from mnemic_client.failures import failure_of
from mnemic_client.remote import Remote
from mnemic_client.request_bodies import memories
from mnemic_client.response_values import receipt_of
from mnemic_client.verb_parameters import like, verb_at

PAGE = 200
WAITED = 10
"""Seconds for which the service is asked to wait for the end of an erasure, before it is asked again."""


class RemoteGovernance:
    """These verbs of `MemoryEngine` at a service. `actor` and `whole_tenant` say nothing to it: the credential says who
    asks, and a queue is always that of the whole tenant, for its reviewers.
    """

    def __init__(self, remote: Remote) -> None:
        self._remote = remote

    @like(MemoryEngine.reviews)
    async def reviews(self, given: SimpleNamespace) -> Sequence[PendingReview]:
        """Return the memories that await review."""
        least = given.older_than
        asked = {"limit": given.limit, "cursor": given.after, "shared": given.shared or None}
        asked["older_than_days"] = None if least is None else max(0, least.days)
        found = [_waiting_of(one) for one in (await self._remote.call("GET", "/v1/reviews", params=asked))["reviews"]]
        return found if least is None else [one for one in found if one.age >= least]

    approve = verb_at(MemoryEngine.approve, "POST /v1/reviews/{memory_id}/approval", receipt_of)

    reject = verb_at(MemoryEngine.reject, "POST /v1/reviews/{memory_id}/rejection", receipt_of)

    async def decide(
        self,
        memory_ids: Sequence[str],
        action: Literal["approve", "reject"],
        *,
        actor: Actor,
        whole_tenant: bool = False,
    ) -> Sequence[ReviewOutcome]:
        """Return the same decision about many; one that fails says why and stops no other."""
        decided = partial(self.approve if action == "approve" else self.reject, actor=actor)
        return await decide_each(memory_ids, decided)

    async def reject_older(
        self, older_than: timedelta, *, actor: Actor, whole_tenant: bool = False
    ) -> Sequence[WriteReceipt]:
        """Reject the memories that have waited for this long."""
        receipts: list[WriteReceipt] = []
        while page := await self.reviews(actor=actor, limit=PAGE, older_than=older_than):
            receipts += [await self.reject(one.memory.memory_id, actor=actor) for one in page]
        return receipts

    consents = verb_at(MemoryEngine.consents, "GET /v1/consents", lambda answer: dict(answer["consents"]))

    grant_consent = verb_at(MemoryEngine.grant_consent, "PUT /v1/consents/{key}", lambda _: None)

    async def revoke_consent(self, key: str, *, actor: Actor | None = None, erase_held: bool = False) -> Revocation:
        """Hide and refuse `key` from now on."""
        asked = {"erase_held": str(erase_held).lower()}
        answer = await self._remote.call("DELETE", f"/v1/consents/{quote(key, safe='')}", params=asked)
        erased = None if answer["erasure"] is None else await _wait_for_erasure(self._remote, answer["erasure"])
        return Revocation(key=answer["key"], hidden=0 if erased else answer["hidden"], erased=erased)

    async def erase(self, subject: str | None, *, actor: Actor | None = None, block: bool = False) -> ErasureReceipt:
        """Erase everything about the credential's user (None), or for an operator about `subject` of the tenant.
        Returns once it has finished, however long that takes. Raises the errors of the erasure.
        """
        named = None if actor is not None and subject == actor.user else subject
        job = await self._remote.call("POST", "/v1/erasures", {"subject": named, "block": block}, repeatable=True)
        return await _wait_for_erasure(self._remote, job)

    async def verify_erasure(self, receipt: ErasureReceipt) -> dict[str, int]:
        """Return the finds of a new scan for erased data, by place."""
        answer = await self._remote.call("POST", "/v1/erasures/verification", receipt.as_dict(), repeatable=True)
        traces: dict[str, int] = answer["traces"]
        return traces

    audit = verb_at(MemoryEngine.audit, "GET /v1/audit", lambda answer: [event_of(one) for one in answer["events"]])

    verify_audit = verb_at(MemoryEngine.verify_audit, "GET /v1/audit/verification", partial(from_json, AuditReport))


async def carried_out(remote: Remote, shown: Mapping[str, Any]) -> RequestOutcome:
    """Return the result of a request about memory, once its erasure has finished. Raises the errors of that."""
    erased = None if shown["erasure"] is None else await _wait_for_erasure(remote, shown["erasure"])
    return RequestOutcome(
        forgotten=tuple(shown["forgotten"]),
        erasure=None if erased is None else erased.as_dict(),
        memories=tuple(memories(shown["memories"])),
    )


async def _wait_for_erasure(remote: Remote, job: dict[str, Any]) -> ErasureReceipt:
    """Return the receipt of an erasure, once it has finished. Raises its errors."""
    place = f"/v1/erasures/{quote(job['erasure_id'], safe='')}"
    while job["state"] == "running":
        job = await remote.call("GET", place, params={"wait": WAITED})
    if job["erased"] is None:
        raise failure_of({"reason": job["reason"]}, None)
    return ErasureReceipt.from_dict(job["erased"])


def event_of(said: Mapping[str, Any]) -> AuditEvent:
    """One line of the audit."""
    level, owner = said["level"], said["owner"]
    fields = {name: said[name] for name in ("sequence", "tenant", "action", "actor", "memory_id", "version")}
    return AuditEvent(
        **fields,
        at=datetime.fromisoformat(said["at"]),
        scope=None if level is None else Scope(tenant=said["tenant"], level=Level(level), owner=owner),
        detail=said["detail"],
        hash=said["hash"],
    )


def _waiting_of(said: Mapping[str, Any]) -> PendingReview:
    return PendingReview(
        memory=from_dict(said["memory"]),
        against=tuple(from_dict(one) for one in said["against"]),
        age=timedelta(seconds=said["age_seconds"]),
        proposer=said["proposer"],
    )
