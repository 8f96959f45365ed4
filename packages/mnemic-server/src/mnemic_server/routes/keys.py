"""For administrators, operators and applications: keys and tokens.

An admin of the service manages the keys of any tenant; an operator and an admin of another tenant manage those of their
tenant, an operator never those of an admin; a key outside these limits does not exist for the caller. An application (a
key without a user) issues short-lived tokens for its users.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from mnemic_server.access import (
    Administering,
    Issuing,
    Reading,
    ServiceContext,
    TheService,
    is_service_admin,
    manages,
)
from mnemic_server.credentials import ApiKey, KeyFilter, Principal, Role
from mnemic_server.operations_response_bodies import KeyResponse, KeysResponse, NewSecretResponse, TokenResponse
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.problems import Refusal
from mnemic_server.request_bodies import KeyRequest, TokenRequest
from mnemic_server.response_bodies import answering
from mnemic_server.service_reason_codes import APPLICATION_REQUIRED

router = APIRouter(prefix="/v1", tags=["keys"], route_class=ParsedBodyRoute)

MAX_OWN_KEYS = 1000
KeyId = Annotated[str, Path(min_length=1, max_length=64)]


@router.get("/keys", **answering(KeysResponse))
async def keys(
    principal: Administering,
    service: TheService,
    limit: Annotated[int, Query(ge=1, le=1000)] = 1000,
    cursor: Annotated[str | None, Query(min_length=1, max_length=64)] = None,
) -> dict[str, Any]:
    """List API keys. Return the keys that the caller may manage, oldest first, without their secrets. `next` is the
    cursor of the page after this one.
    """
    may = _reach(principal, service)
    tenant = None if is_service_admin(principal, service) else principal.tenant
    known = [key for key in await service.keys.all(tenant=tenant) if may(key.principal)]
    return await _page(service, [key for key in known if cursor is None or key.key_id > cursor], limit)


@router.get("/keys/own", **answering(KeysResponse))
async def own_keys(actor: Reading, service: TheService) -> dict[str, Any]:
    """List API keys that act as the caller. Return the keys that represent the caller, no matter who created them: each
    gives access to the caller's memories.
    """
    known = await service.keys.all(tenant=actor.tenant)
    return await _page(service, [key for key in known if key.principal.user == actor.user], MAX_OWN_KEYS)


@router.post("/keys", status_code=HTTPStatus.CREATED, **answering(KeyResponse, 201))
async def create(wanted: KeyRequest, principal: Administering, service: TheService, request: Request) -> dict[str, Any]:
    """Create an API key. Its text is shown this once."""
    tenant = wanted.tenant or principal.tenant
    refusal = manages(principal, service, tenant=tenant, roles=wanted.roles)
    if refusal is not None:
        await service.watch.note_refused(request, principal, refusal.reason)
        raise refusal
    key, text = await service.keys.create(
        tenant=tenant,
        roles=wanted.roles,
        user=wanted.user,
        agent=wanted.agent,
        label=wanted.label,
        ttl=timedelta(hours=wanted.ttl_hours) if wanted.ttl_hours else None,
        by=principal.actor.user,
    )
    return {**_key(key), "api_key": text}


@router.post("/keys/{key_id}/rotation", **answering(NewSecretResponse))
async def rotate(
    key_id: KeyId,
    principal: Administering,
    service: TheService,
    grace_seconds: Annotated[int, Query(ge=0, le=604_800)] = 3600,
) -> dict[str, Any]:
    """Rotate an API key. Return a new secret for a key; the old one works for `grace_seconds` more."""
    grace = timedelta(seconds=grace_seconds)
    text = await service.keys.rotate(key_id, grace=grace, may=_reach(principal, service), by=principal.actor.user)
    return {"key_id": key_id, "api_key": text}


@router.delete("/keys/{key_id}", status_code=HTTPStatus.NO_CONTENT)
async def revoke(key_id: KeyId, principal: Administering, service: TheService) -> None:
    """Revoke an API key. It opens nothing from now on."""
    await service.keys.revoke(key_id, may=_reach(principal, service), by=principal.actor.user)


@router.post("/tokens", status_code=HTTPStatus.CREATED, **answering(TokenResponse, 201))
async def issue(
    wanted: TokenRequest,
    principal: Issuing,
    service: TheService,
    shown: Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))],
) -> dict[str, Any]:
    """Issue a token for a user. Return a short-lived token for a user of the application that asks, with roles that the
    application has. The key itself has to be shown for it: a browser's session has it not.
    """
    if principal.user is not None or shown is None:
        raise Refusal(HTTPStatus.FORBIDDEN, APPLICATION_REQUIRED)
    token = await service.tokens.issue(
        shown.credentials.strip(),
        user=wanted.user,
        session=wanted.session,
        roles=frozenset(map(Role, wanted.roles)),
        ttl=timedelta(seconds=wanted.ttl_seconds),
    )
    return {"token": token, "expires_in": wanted.ttl_seconds}


def _reach(principal: Principal, service: ServiceContext) -> KeyFilter:
    def may(key: Principal) -> bool:
        return manages(principal, service, tenant=key.tenant, roles=key.roles) is None

    return may


async def _page(service: ServiceContext, keys: Sequence[ApiKey], limit: int) -> dict[str, Any]:
    used = await service.keys.last_used()
    shown = [{**_key(key), "last_used_at": _iso(used.get(key.key_id))} for key in keys[:limit]]
    return {"keys": shown, "next": keys[limit - 1].key_id if len(keys) > limit else None}


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _key(key: ApiKey) -> dict[str, Any]:
    return {
        "key_id": key.key_id,
        "tenant": key.principal.tenant,
        "user": key.principal.user,
        "agent": key.principal.agent,
        "roles": sorted(key.principal.roles),
        "label": key.label,
        "created_at": key.created_at.isoformat(),
        "created_by": key.created_by,
        "expires_at": _iso(key.expires_at),
    }
