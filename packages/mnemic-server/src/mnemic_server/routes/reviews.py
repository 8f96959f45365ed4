"""For reviewers and operators: what waits, what happened, what time has done."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Query

from mnemic.json_output import memory_dict, receipt_dict
from mnemic.maintenance.review import PendingReview
from mnemic.retrieve.export import plain
from mnemic.types import AuditEvent, to_json
from mnemic_server.access import Correcting, Deciding, Operating, Reviewing, TheService
from mnemic_server.kind_request_bodies import ConsolidationRequest, ExpiryRequest
from mnemic_server.operations_response_bodies import (
    AuditPageResponse,
    AuditReportResponse,
    ConsolidatedResponse,
    ExpiryResponse,
    HealthResponse,
    MaintenanceResponse,
    RereadResponse,
    RereadUndoneResponse,
    ReviewPageResponse,
)
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.request_bodies import Approval, MemoryId
from mnemic_server.response_bodies import ReceiptResponse, answering

router = APIRouter(prefix="/v1", tags=["stewards"], route_class=ParsedBodyRoute)

MAX_DAYS = 36_500
_OWN = 100_000
"""Largest number of a person's waiting memories that is counted."""


@router.get("/reviews", **answering(ReviewPageResponse))
async def reviews(
    desk: Reviewing,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
    older_than_days: Annotated[int | None, Query(ge=0, le=MAX_DAYS)] = None,
    shared: Annotated[
        bool, Query(description="Also what others wrote at shared levels and nobody has approved.")
    ] = False,
) -> dict[str, Any]:
    """List memories that wait for review. List the memories of the tenant that wait for review, or without the role
    `reviewer` the caller's own ones, oldest first, with the memories they contradict. `next` is the cursor of the next
    page, `waiting` their total number. `shared` also lists memories that others wrote at shared levels, which are
    visible but not yet trusted.
    """
    older = None if older_than_days is None else timedelta(days=older_than_days)
    engine, actor = desk.engine, desk.actor
    found = await engine.reviews(
        actor=actor, whole_tenant=desk.whole_tenant, limit=limit, after=cursor, older_than=older, shared=shared
    )
    last = found[-1].memory.memory_id if len(found) == limit else None
    if desk.whole_tenant:
        waiting = await engine.store.waiting(actor.tenant)
    else:
        waiting = len(await engine.reviews(actor=actor, limit=_OWN))
    return {"reviews": [_waiting(one) for one in found], "next": last, "waiting": waiting}


@router.post("/reviews/{memory_id}/approval", **answering(ReceiptResponse))
async def approve(memory_id: MemoryId, desk: Deciding, verdict: Annotated[Approval, Body()]) -> dict[str, Any]:
    """Approve a memory. Its proposer is refused, unless it is a statement about themself. Without the role `reviewer`
    it must be one of the caller's own memories.
    """
    receipt = await desk.engine.approve(
        memory_id,
        actor=desk.actor,
        content=verdict.content,
        merge_with=verdict.merge_with,
        expected_version=verdict.expected_version,
        whole_tenant=desk.whole_tenant,
    )
    return receipt_dict(receipt)


@router.post("/reviews/{memory_id}/rejection", **answering(ReceiptResponse))
async def reject(memory_id: MemoryId, desk: Deciding) -> dict[str, Any]:
    """Reject a memory. Turn a waiting memory down; without the role `reviewer`, one of the caller's own."""
    return receipt_dict(await desk.engine.reject(memory_id, actor=desk.actor, whole_tenant=desk.whole_tenant))


@router.get("/audit", **answering(AuditPageResponse))
async def audit(
    principal: Operating,
    service: TheService,
    after: Annotated[int, Query(ge=0, le=2**53, description="Lines after this sequence.")] = 0,
    before: Annotated[int | None, Query(ge=1, le=2**53, description="The last lines before this sequence.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> dict[str, Any]:
    """Read the audit log. `next` is the `after` of the next page."""
    events = await service.engine.audit(actor=principal.actor, after=after, before=before, limit=limit)
    return {
        "events": [_event(event) for event in events],
        "next": events[-1].sequence if len(events) == limit else None,
    }


@router.get("/audit/verification", **answering(AuditReportResponse))
async def verify_audit(principal: Operating, service: TheService) -> dict[str, Any]:
    """Verify the audit log. Check every line of the tenant's audit against the one before, and those
    that are signed.
    """
    report: dict[str, Any] = to_json(await service.engine.verify_audit(actor=principal.actor))
    return report


@router.post("/maintenance", **answering(MaintenanceResponse))
async def maintain(
    principal: Operating,
    service: TheService,
    whole: Annotated[bool, Query(description="Write the file as a whole.")] = False,
    dry_run: Annotated[bool, Query(description="Say what would be done, and do nothing.")] = False,
) -> dict[str, Any]:
    """Run all maintenance jobs. Every job that time makes necessary: expiry and purge, the outbox, the file."""
    report: dict[str, Any] = to_json(await service.engine.maintain(actor=principal.actor, whole=whole, dry_run=dry_run))
    return report


@router.post("/expiry", **answering(ExpiryResponse))
async def expire(wanted: ExpiryRequest, principal: Operating, service: TheService) -> dict[str, Any]:
    """Expire and purge memories. Mark the expired memories of the tenant, and purge those that were marked a grace
    period ago.
    """
    rules = None if wanted.rules is None else wanted.rules.rules()
    report = await service.engine.expire(actor=principal.actor, rules=rules, dry_run=wanted.dry_run)
    fields: dict[str, Any] = to_json(report)
    return fields


@router.post("/consolidations", **answering(ConsolidatedResponse))
async def consolidate(
    principal: Operating,
    service: TheService,
    dry_run: Annotated[bool, Query(description="Say what would be written, and write nothing.")] = False,
    wanted: Annotated[ConsolidationRequest, Body()] = ConsolidationRequest(),  # noqa: B008 - it is never changed
) -> dict[str, Any]:
    """Consolidate memories. It writes summaries, profiles and reflections of the tenant's users. By rules, or where
    `rules` of the body say so by the model.
    """
    rules = None if wanted.rules is None else wanted.rules.rules()
    report = await service.engine.consolidate(actor=principal.actor, rules=rules, dry_run=dry_run)
    done: dict[str, Any] = to_json(report)
    return done


@router.post("/rereads", **answering(RereadResponse))
async def reread(
    actor: Correcting,
    service: TheService,
    since: Annotated[datetime | None, Query(description="Only messages said from then on.")] = None,
    limit: Annotated[int | None, Query(ge=1, le=10_000, description="Messages; changes need all of them.")] = None,
    dry_run: Annotated[bool, Query(description="Say what would be changed, and change nothing.")] = False,
) -> dict[str, Any]:
    """Read recorded messages again. Read the caller's recorded messages again with the reader of today, and bring
    memory to what it would hold. A reading that was stopped by `limit` or an error, or only shown, is continued by the
    next call with the same `since`, if the same process takes it within an hour.
    """
    done = await service.readings.reread(service.engine, actor=actor, since=since, limit=limit, dry_run=dry_run)
    report: dict[str, Any] = to_json(done)
    return report


@router.post("/rereads/{run_id}/undo", **answering(RereadUndoneResponse))
async def undo_reread(
    run_id: Annotated[str, Path(min_length=1, max_length=64)], actor: Correcting, service: TheService
) -> dict[str, Any]:
    """Undo what reading again changed. Take back what reading again has changed; what has changed since stays."""
    return {"memories": await service.engine.undo_reread(run_id, actor=actor)}


@router.get("/doctor", **answering(HealthResponse))
async def doctor(
    principal: Operating, service: TheService, limit: Annotated[int, Query(ge=1, le=10_000)] = 2000
) -> dict[str, Any]:
    """Find memories that need attention. List the tenant's memories that a person should look at: duplicates,
    contradictions, unused ones.
    """
    health: dict[str, Any] = to_json(await service.engine.doctor(actor=principal.actor, limit=limit))
    return health


def _waiting(one: PendingReview) -> dict[str, Any]:
    return {
        "memory": memory_dict(one.memory),
        "against": [memory_dict(memory) for memory in one.against],
        "age_seconds": one.age.total_seconds(),
        "proposer": one.proposer,
    }


def _event(event: AuditEvent) -> dict[str, Any]:
    return {
        "sequence": event.sequence,
        "tenant": event.tenant,
        "action": event.action,
        "at": event.at.isoformat(),
        "actor": event.actor,
        "level": event.scope.level.value if event.scope else None,
        "owner": event.scope.owner if event.scope else None,
        "memory_id": event.memory_id,
        "version": event.version,
        "detail": plain(event.detail),
        "hash": event.hash,
    }
