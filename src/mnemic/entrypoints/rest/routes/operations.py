"""For whoever looks after an installation: kinds, policy, quotas, and how it goes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Query

from mnemic.catalog import CATALOG
from mnemic.engine import MemoryEngine
from mnemic.entrypoints.rest.access import Operating, Reading, TheService
from mnemic.entrypoints.rest.overview import overview_dict
from mnemic.entrypoints.rest.shapes import PolicyTrial
from mnemic.entrypoints.wire import usage_dict
from mnemic.guard.limits import MINUTE, Quota
from mnemic.guard.parts import GuardFile
from mnemic.guard.policy_file import guard_data, read_guard
from mnemic.maintain.trial import tried
from mnemic.types import Kind, Level, Scope, Usage

router = APIRouter(prefix="/v1", tags=["operations"])


@router.get("/kinds")
async def kinds(actor: Reading, service: TheService) -> dict[str, Any]:
    """The seven kinds: where each lives, how long it is kept, what it promises, how much of it the user has."""
    engine = service.engine
    held = await engine.store.usage(actor.tenant, since=engine.clock.now(), scope=actor.scope(Level.USER))
    return {
        "kinds": [
            {
                "kind": spec.kind.value,
                "home": spec.home.value,
                "level": spec.level.value,
                "retention_days": spec.retention / timedelta(days=1) if spec.retention else None,
                "sliding": spec.sliding,
                "append_only": spec.append_only,
                "reviewed": spec.reviewed,
                "held": held.get(spec.kind, Usage()).rows if spec.durable else None,
            }
            for spec in CATALOG.values()
        ]
    }


@router.get("/policy")
async def policy(_: Operating, service: TheService) -> dict[str, Any]:
    """What may be remembered, as a policy file says it: keys, grant, budget, limits, redaction, entities."""
    return guard_data(_guard(service))


@router.post("/policy/trial")
async def trial(
    wanted: PolicyTrial,
    principal: Operating,
    service: TheService,
    limit: Annotated[int, Query(ge=1, le=2000)] = 500,
    cursor: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
) -> dict[str, Any]:
    """A dry run: what another policy would have said to the tenant's memories when they were proposed, oldest first.
    Nothing is changed. `next` is the cursor of the memories behind these.
    """
    proposed = read_guard(wanted.policy)
    found = await tried(service.engine.store, principal.tenant, _guard(service), proposed, after=cursor, limit=limit)
    return {
        "looked_at": found.looked_at,
        "refused": dict(found.refused),
        "changed": [
            {"memory_id": one.memory_id, "key": one.key, "now": one.now, "then": one.then} for one in found.changed
        ],
        "next": found.after,
    }


@router.get("/quotas")
async def quotas(actor: Reading, service: TheService) -> dict[str, Any]:
    """The limits that count for the user, and which part of each is used up (1: all of it)."""
    return await quotas_used(service.engine, actor.tenant, actor.scope(Level.USER))


@router.get("/tenant/quotas")
async def tenant_quotas(principal: Operating, service: TheService) -> dict[str, Any]:
    """The limits of the whole tenant, and which part of each is used up."""
    return await quotas_used(service.engine, principal.tenant)


@router.get("/overview")
async def overview(principal: Operating, service: TheService) -> dict[str, Any]:
    """How it goes: what the tenant holds, what waits, and of this process latency, hit rate and what is degraded."""
    return await overview_dict(service, principal.tenant)


async def quotas_used(engine: MemoryEngine, tenant: str, scope: Scope | None = None) -> dict[str, Any]:
    """The limits of a whole tenant, or of each user where `scope` is one user's, and what is held there."""
    per = "tenant" if scope is None else "user"
    held = await engine.store.usage(tenant, since=engine.clock.now() - MINUTE, scope=scope)
    chosen = [quota for quota in engine.gateway.limits.quotas if quota.per == per]
    return {"quotas": [_quota(quota, held) for quota in chosen], "held": usage_dict(held)}


def _quota(quota: Quota, held: Mapping[Kind, Usage]) -> dict[str, Any]:
    return {
        "per": quota.per,
        "kind": None if quota.kind is None else quota.kind.value,
        "rows": quota.rows,
        "bytes": quota.bytes,
        "writes_a_minute": quota.writes_a_minute,
        "soft": quota.soft,
        "used": quota.nearest(held),
    }


def _guard(service: TheService) -> GuardFile:
    gateway = service.engine.gateway
    return GuardFile(
        policy=gateway.policy,
        grant=gateway.grant,
        budget=gateway.budget,
        limits=gateway.limits,
        redaction=service.engine.redaction,
        entities=service.engine.reads,
    )
