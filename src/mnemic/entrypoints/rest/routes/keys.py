"""For administrators, operators and applications: keys and tokens.

An admin of the service manages the keys of any tenant, an operator and an admin of another tenant those of their own,
and an operator never an admin's; a key that one may not manage is not there. An application (a key without a user)
issues short tokens for its users.
"""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from mnemic.entrypoints.rest.access import (
    Administering,
    Issuing,
    Service,
    TheService,
    manages,
)
from mnemic.entrypoints.rest.credentials import ApiKey, Principal, Reach, Role
from mnemic.entrypoints.rest.parsed import Parsed
from mnemic.entrypoints.rest.problems import Refused
from mnemic.entrypoints.rest.shapes import KeyWanted, TokenWanted

router = APIRouter(prefix="/v1", tags=["keys"], route_class=Parsed)

KeyId = Annotated[str, Path(min_length=1, max_length=64)]


@router.get("/keys")
async def keys(principal: Administering, service: TheService) -> dict[str, Any]:
    """The keys that the caller may manage, without their secrets."""
    may = _reach(principal, service)
    return {"keys": [_key(key) for key in await service.keys.all() if may(key.principal)]}


@router.post("/keys", status_code=HTTPStatus.CREATED)
async def create(wanted: KeyWanted, principal: Administering, service: TheService) -> dict[str, Any]:
    """A new key. Its text is shown this once."""
    tenant = wanted.tenant or principal.tenant
    refusal = manages(principal, service, tenant=tenant, roles=wanted.roles)
    if refusal is not None:
        raise refusal
    key, text = await service.keys.create(
        tenant=tenant,
        roles=wanted.roles,
        user=wanted.user,
        agent=wanted.agent,
        label=wanted.label,
        ttl=None if wanted.ttl_hours is None else timedelta(hours=wanted.ttl_hours),
        by=principal.actor.user,
    )
    return {**_key(key), "api_key": text}


@router.post("/keys/{key_id}/rotation")
async def rotate(
    key_id: KeyId,
    principal: Administering,
    service: TheService,
    grace_seconds: Annotated[int, Query(ge=0, le=604_800)] = 3600,
) -> dict[str, Any]:
    """A new secret for a key; the old one works for `grace_seconds` more."""
    grace = timedelta(seconds=grace_seconds)
    text = await service.keys.rotate(key_id, grace=grace, may=_reach(principal, service), by=principal.actor.user)
    return {"key_id": key_id, "api_key": text}


@router.delete("/keys/{key_id}", status_code=HTTPStatus.NO_CONTENT)
async def revoke(key_id: KeyId, principal: Administering, service: TheService) -> None:
    """The key opens nothing from now on."""
    await service.keys.revoke(key_id, may=_reach(principal, service), by=principal.actor.user)


@router.post("/tokens", status_code=HTTPStatus.CREATED)
async def issue(wanted: TokenWanted, principal: Issuing, service: TheService) -> dict[str, Any]:
    """A short-lived token for a user of the application that asks, with roles that the application has."""
    if principal.user is not None:
        raise Refused(HTTPStatus.FORBIDDEN, "application_required")
    token = await service.tokens.issue(
        principal,
        user=wanted.user,
        session=wanted.session,
        roles=frozenset(map(Role, wanted.roles)),
        ttl=timedelta(seconds=wanted.ttl_seconds),
    )
    return {"token": token, "expires_in": wanted.ttl_seconds}


def _reach(principal: Principal, service: Service) -> Reach:
    def may(key: Principal) -> bool:
        return manages(principal, service, tenant=key.tenant, roles=key.roles) is None

    return may


def _key(key: ApiKey) -> dict[str, Any]:
    return {
        "key_id": key.key_id,
        "tenant": key.principal.tenant,
        "user": key.principal.user,
        "agent": key.principal.agent,
        "roles": sorted(key.principal.roles),
        "label": key.label,
        "created_at": key.created_at.isoformat(),
        "expires_at": key.expires_at.isoformat() if key.expires_at else None,
    }
