"""For operators: kinds, policy, quotas, and the state of the installation."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query

from mnemic.engine import MemoryEngine
from mnemic.json_output import usage_dict
from mnemic.policy.limits import MINUTE, Quota
from mnemic.types import Kind, Level, Scope, Usage
from mnemic.types.memory_kinds import CATALOG
from mnemic_server.access import Operating, Reading, ServiceAdmin, TheService, principal_of
from mnemic_server.activity import activity
from mnemic_server.console_response_bodies import ActivityResponse, SettingsResponse
from mnemic_server.credentials import Principal
from mnemic_server.operations_response_bodies import (
    KindsResponse,
    OverviewResponse,
    PrincipalResponse,
    QuotasResponse,
)
from mnemic_server.overview import overview_dict
from mnemic_server.response_bodies import answering

router = APIRouter(prefix="/v1", tags=["operations"])


@router.get("/whoami", **answering(PrincipalResponse))
async def whoami(principal: Annotated[Principal, Depends(principal_of)]) -> dict[str, Any]:
    """Show the caller and its roles. Return the caller that the request's credential represents,
    and its permissions.
    """
    named = {"tenant": principal.tenant, "user": principal.user, "agent": principal.agent}
    return {**named, "roles": sorted(principal.roles)}


@router.get("/kinds", **answering(KindsResponse))
async def kinds(actor: Reading, service: TheService) -> dict[str, Any]:
    """List the kinds of memory. Return the seven kinds: storage place, lifetime, guarantees, and the user's amount of
    each.
    """
    engine = service.engine
    usages = await engine.store.usage(actor.tenant, since=engine.clock.now(), scope=actor.scope(Level.USER))
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
                "held": usages.get(spec.kind, Usage()).rows if spec.durable else None,
            }
            for spec in CATALOG.values()
        ]
    }


@router.get("/quotas", **answering(QuotasResponse))
async def quotas(actor: Reading, service: TheService) -> dict[str, Any]:
    """Show the quotas of the user. Return the limits that count for the user, and which part of each is used up (1: all
    of it).
    """
    return await quotas_used(service.engine, actor.tenant, actor.scope(Level.USER))


@router.get("/tenant/quotas", **answering(QuotasResponse))
async def tenant_quotas(principal: Operating, service: TheService) -> dict[str, Any]:
    """Show the quotas of the tenant. Return the limits of the whole tenant, and which part of each is used up."""
    return await quotas_used(service.engine, principal.tenant)


@router.get("/overview", **answering(OverviewResponse))
async def overview(principal: Operating, service: TheService) -> dict[str, Any]:
    """Show the state of the installation. Return the state of the installation: stored amounts of the tenant, memories
    waiting for review, and of this process latency, hit rate and degraded parts.
    """
    return await overview_dict(service, principal.tenant)


@router.get("/overview/days", **answering(ActivityResponse))
async def days(
    principal: Operating, service: TheService, days: Annotated[int, Query(ge=1, le=90)] = 30
) -> dict[str, Any]:
    """Count the activity of the last days. Count the memories written, forgotten and shown to models on each of the
    last days.
    """
    return await activity(service.engine.store, principal.tenant, service.engine.clock.now(), days)


@router.get("/settings", **answering(SettingsResponse))
async def settings(_: ServiceAdmin, service: TheService) -> dict[str, Any]:
    """Show the settings in force. Of a password or a key it says only that it is set."""
    return {"settings": list(service.settings)}


async def quotas_used(engine: MemoryEngine, tenant: str, scope: Scope | None = None) -> dict[str, Any]:
    """Return the limits of a whole tenant, or of each user if `scope` is one user's, and the stored amounts."""
    per = "tenant" if scope is None else "user"
    usages = await engine.store.usage(tenant, since=engine.clock.now() - MINUTE, scope=scope)
    chosen = [quota for quota in engine.rules.limits.quotas if quota.per == per]
    return {"quotas": [_quota(quota, usages) for quota in chosen], "held": usage_dict(usages)}


def _quota(quota: Quota, usages: Mapping[Kind, Usage]) -> dict[str, Any]:
    return {
        "per": quota.per,
        "kind": None if quota.kind is None else quota.kind.value,
        "rows": quota.rows,
        "bytes": quota.bytes,
        "writes_a_minute": quota.writes_a_minute,
        "soft": quota.soft,
        "used": quota.nearest(usages),
    }
