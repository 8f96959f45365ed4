"""The governance of a memory that a service keeps: the review queue, consent, privacy, the audit; see
`mnemic_maintenance.governance`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from mnemic.errors import MnemicError, StoreFailed
from mnemic.retrieve.export import from_dict
from mnemic.runtime.sync_facade import CallMode, DualModeApi, M, verb
from mnemic.types import AuditEvent, Level, RequestOutcome, Scope, WriteReceipt
from mnemic_client.failures import failure_of
from mnemic_client.remote import Remote
from mnemic_client.request_bodies import memories
from mnemic_client.response_values import receipt_of
from mnemic_maintenance.erasure_receipt import ErasureReceipt
from mnemic_maintenance.reports import AuditReport, ReviewOutcome, Revocation
from mnemic_maintenance.review import PendingReview

PAGE = 200
WAITED = 10
"""Seconds for which the service is asked to wait for the end of an erasure, before it is asked again."""


class _Governed(DualModeApi[M]):
    def __init__(self, ground: CallMode[M], remote: Remote) -> None:
        super().__init__(ground)
        self._remote = remote

    async def _waiting(
        self, limit: int, after: str | None, older_than: timedelta | None, *, shared: bool = False
    ) -> list[PendingReview]:
        days = None if older_than is None else max(0, older_than.days)
        asked = {"limit": limit, "cursor": after, "older_than_days": days, "shared": shared or None}
        answer = (await self._remote.call("GET", "/v1/reviews", params=asked))["reviews"]
        found = [_waiting_of(one) for one in answer]
        return found if older_than is None else [one for one in found if one.age >= older_than]

    async def _approve(self, memory_id: str, body: Mapping[str, Any]) -> WriteReceipt:
        place = f"/v1/reviews/{quote(memory_id, safe='')}/approval"
        return receipt_of(await self._remote.call("POST", place, {n: v for n, v in body.items() if v is not None}))

    async def _reject(self, memory_id: str) -> WriteReceipt:
        return receipt_of(await self._remote.call("POST", f"/v1/reviews/{quote(memory_id, safe='')}/rejection"))


class RemoteReviews(_Governed[M]):
    """Memories of the tenant that await review. The proposer of a memory cannot approve it."""

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
        `shared` adds the memories that others wrote at shared levels: visible already, but not trusted yet.
        """
        return await self._waiting(limit, after, older_than, shared=shared)

    @verb
    async def approve(
        self, memory_id: str, *, content: str | None = None, expected_version: int | None = None
    ) -> WriteReceipt:
        """Let it in, with `content` in other words. Raises ReviewDenied, MemoryNotFound, VersionConflict."""
        return await self._approve(memory_id, {"content": content, "expected_version": expected_version})

    @verb
    async def merge(self, memory_id: str, into: Sequence[str], *, content: str | None = None) -> WriteReceipt:
        """Let it in, in the place of the memories named by `into` too, whose data it carries on."""
        return await self._approve(memory_id, {"content": content, "merge_with": [*into]})

    @verb
    async def reject(self, memory_id: str) -> WriteReceipt:
        """Turn it down. Raises MemoryNotFound."""
        return await self._reject(memory_id)

    @verb
    async def approve_all(self, memory_ids: Sequence[str]) -> Sequence[ReviewOutcome]:
        """Let many in; one that cannot be says why and stops no other."""
        return [await _decided(one, self._approve(one, {})) for one in memory_ids]

    @verb
    async def reject_all(self, memory_ids: Sequence[str]) -> Sequence[ReviewOutcome]:
        """Turn many down."""
        return [await _decided(one, self._reject(one)) for one in memory_ids]

    @verb
    async def reject_older(self, than: timedelta) -> Sequence[WriteReceipt]:
        """Reject the entries that have waited for this long."""
        receipts: list[WriteReceipt] = []
        while page := await self._waiting(PAGE, None, than):
            receipts += [await self._reject(one.memory.memory_id) for one in page]
        return receipts


class RemoteConsents(_Governed[M]):
    """Consent of the user, key by key."""

    @verb
    async def list(self) -> dict[str, bool]:
        """Return the user's decisions."""
        decided: dict[str, bool] = (await self._remote.call("GET", "/v1/consents"))["consents"]
        return decided

    @verb
    async def grant(self, key: str) -> None:
        """Allow `key` from now on. Raises InvalidInput."""
        await self._remote.call("PUT", f"/v1/consents/{quote(key, safe='')}")

    @verb
    async def revoke(self, key: str, *, erase_held: bool = False) -> Revocation:
        """Hide and refuse `key` from now on; `erase_held` also erases the memories stored under it."""
        asked = {"erase_held": str(erase_held).lower()}
        answer = await self._remote.call("DELETE", f"/v1/consents/{quote(key, safe='')}", params=asked)
        erased = None if answer["erasure"] is None else await _ended(self._remote, answer["erasure"])
        return Revocation(key=answer["key"], hidden=0 if erased else answer["hidden"], erased=erased)


class RemotePrivacy(_Governed[M]):
    """Personal data stored about a user, and its erasure."""

    @verb
    async def erase(self, subject: str | None = None, *, block: bool = False) -> ErasureReceipt:
        """Erase everything about the user, or for an operator about `subject` of the tenant. Returns once it has
        finished, however long that takes. Raises the errors of the erasure.
        """
        job = await self._remote.call("POST", "/v1/erasures", {"subject": subject, "block": block}, repeatable=True)
        return await _ended(self._remote, job)

    @verb
    async def verify(self, receipt: ErasureReceipt) -> dict[str, int]:
        """Return the finds of a new scan for erased data, by place: all zero if the receipt is right."""
        answer = await self._remote.call("POST", "/v1/erasures/verification", receipt.as_dict(), repeatable=True)
        traces: dict[str, int] = answer["traces"]
        return traces


class RemoteAudit(_Governed[M]):
    """Audit log of the tenant, without content."""

    @verb
    async def list(self, *, after: int = 0, before: int | None = None, limit: int = 1000) -> Sequence[AuditEvent]:
        """Return its lines after sequence `after`; with `before` the last `limit` lines before that one."""
        asked = {"after": after, "before": before, "limit": limit}
        return [event_of(one) for one in (await self._remote.call("GET", "/v1/audit", params=asked))["events"]]

    @verb
    async def verify(self) -> AuditReport:
        """Check every line."""
        answer = await self._remote.call("GET", "/v1/audit/verification")
        return AuditReport(**{one.name: answer[one.name] for one in fields(AuditReport) if one.name in answer})


async def carried_out(remote: Remote, shown: Mapping[str, Any]) -> RequestOutcome:
    """Return the result of a request about memory, once its erasure has finished. Raises the errors of that."""
    erased = None if shown["erasure"] is None else await _ended(remote, shown["erasure"])
    return RequestOutcome(
        forgotten=tuple(shown["forgotten"]),
        erasure=None if erased is None else erased.as_dict(),
        memories=tuple(memories(shown["memories"])),
    )


async def _ended(remote: Remote, job: dict[str, Any]) -> ErasureReceipt:
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


async def _decided(memory_id: str, deciding: Any) -> ReviewOutcome:
    try:
        receipt: WriteReceipt = await deciding
    except StoreFailed:
        raise
    except MnemicError as error:
        return ReviewOutcome(memory_id=memory_id, reason=error.reason)
    return ReviewOutcome(memory_id=memory_id, receipt=receipt, reason=receipt.reason)
