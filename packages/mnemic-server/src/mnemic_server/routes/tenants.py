"""For admins of the service: its tenants, created, limited, suspended and resumed.

An admin of the service is an admin of the tenant `MNEMIC_TENANT`. None of these routes reads a memory, and an admin of
another tenant can use none of them. Each act is in the audit of the tenant that it concerns.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.maintenance.tenant_registry import tenant_data
from mnemic.policy.limits import Quota
from mnemic_server.access import AnyService, ServiceAdmin
from mnemic_server.operations_response_bodies import TenantPageResponse, TenantResponse
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.request_bodies import QuotaRequest, QuotasRequest, TenantRequest
from mnemic_server.response_bodies import answering
from mnemic_server.routes.operators import quotas_used

router = APIRouter(prefix="/v1/tenants", tags=["tenants"], route_class=ParsedBodyRoute)

TenantName = Annotated[str, Path(min_length=1, max_length=128)]


@router.get("", **answering(TenantPageResponse))
async def tenants(
    _: ServiceAdmin,
    service: AnyService,
    limit: Annotated[int, Query(ge=1, le=1000)] = 200,
    cursor: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
) -> dict[str, Any]:
    """List tenants. Every tenant that was made here or named by a credential, by name. `next` is the cursor of the next
    page.
    """
    found = await service.tenancy.tenants.page(after=cursor, limit=limit + 1)
    page = found[:limit]
    return {"tenants": [tenant_data(one) for one in page], "next": page[-1].tenant if len(found) > limit else None}


@router.post("", status_code=HTTPStatus.CREATED, **answering(TenantResponse, 201))
async def create(wanted: TenantRequest, principal: ServiceAdmin, service: AnyService) -> dict[str, Any]:
    """Create a tenant. It has no key yet: `POST /v1/keys` with its name makes one."""
    made = await service.tenancy.tenants.create(
        wanted.tenant, by=principal.actor.user, label=wanted.label, quotas=_quotas(wanted.quotas)
    )
    service.tenancy.forget_state(made.tenant)
    return tenant_data(made)


@router.put("/{tenant}/quotas", **answering(TenantResponse))
async def limit_(
    tenant: TenantName, wanted: QuotasRequest, principal: ServiceAdmin, service: AnyService
) -> dict[str, Any]:
    """Set the quotas of a tenant. Set the limits of a tenant, in place of the quotas of the settings. They apply
    everywhere within seconds.
    """
    limits = _quotas(wanted.quotas)
    limited = await service.tenancy.tenants.limit(tenant, limits, by=principal.actor.user)
    service.tenancy.forget_state(tenant)
    return tenant_data(limited)


@router.post("/{tenant}/suspension", **answering(TenantResponse))
async def suspend(tenant: TenantName, principal: ServiceAdmin, service: AnyService) -> dict[str, Any]:
    """Suspend a tenant. Refuse every credential of a tenant from now on (`tenant_suspended`); its data stays."""
    if tenant == service.home:
        raise InvalidInput("tenant:home", hint="the service's own tenant cannot be suspended")
    suspended = await service.tenancy.tenants.suspend(tenant, by=principal.actor.user)
    service.tenancy.forget_state(tenant)
    return tenant_data(suspended)


@router.delete("/{tenant}/suspension", **answering(TenantResponse))
async def resume(tenant: TenantName, principal: ServiceAdmin, service: AnyService) -> dict[str, Any]:
    """Resume a tenant. Its credentials work again."""
    resumed = await service.tenancy.tenants.resume(tenant, by=principal.actor.user)
    service.tenancy.forget_state(tenant)
    return tenant_data(resumed)


@router.get("/{tenant}", **answering(TenantResponse))
async def tenant_(tenant: TenantName, _: ServiceAdmin, service: AnyService) -> dict[str, Any]:
    """Get a tenant. One tenant, the limits that count for the whole of it, and how much of each is used."""
    known = await service.tenancy.tenants.find(tenant)
    if known is None:
        raise MemoryNotFound("tenant")
    engine = (await service.tenancy.tenant_state(tenant)).engine
    return {**tenant_data(known), "usage": await quotas_used(engine, tenant)}


def _quotas(wanted: Sequence[QuotaRequest] | None) -> list[Quota] | None:
    return None if wanted is None else [one.quota() for one in wanted]
