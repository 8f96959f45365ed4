"""Signing in to the console at the OpenID provider: there and back. Only browsers come here, by following links."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from mnemic.errors import MnemicError
from mnemic_server.access import AnyService, ServiceContext, require_open, require_rate
from mnemic_server.oidc_sign_in import COOKIE, LASTS, PATH, SECURE_COOKIE, SignOnFailed
from mnemic_server.problems import Refusal
from mnemic_server.routes.console import address_of, set_session
from mnemic_server.service_reason_codes import NOT_FOUND

router = APIRouter(include_in_schema=False)


@router.get(PATH + "/provider")
async def provider(service: AnyService) -> dict[str, Any]:
    """Return the provider that offers sign-in in addition to a key; null: none."""
    return {"name": service.sign_on.client.name if service.sign_on else None}


@router.get(PATH)
async def begin(request: Request, service: AnyService) -> Response:
    """Send the browser to the provider."""
    if service.sign_on is None:
        raise Refusal(HTTPStatus.NOT_FOUND, NOT_FOUND)
    redirect_uri = _redirect_uri(request, service)
    secure = redirect_uri.startswith("https:")
    try:
        address, cookie = await service.sign_on.begin(redirect_uri)
    except SignOnFailed as failure:
        return _refusal_response(failure.reason, secure=secure)
    away = RedirectResponse(address, HTTPStatus.SEE_OTHER)
    # Lax: the provider's page leads back here, and the cookie has to come along.
    away.set_cookie(
        _name(secure=secure),
        cookie,
        max_age=int(LASTS.total_seconds()),
        path=_path(secure=secure),
        httponly=True,
        samesite="lax",
        secure=secure,
    )
    return away


@router.get(PATH + "/callback")
async def callback(request: Request, service: AnyService) -> Response:
    """Receive the browser that the provider sends back: a session starts, or the sign-in page shows the reason."""
    if service.sign_on is None:
        raise Refusal(HTTPStatus.NOT_FOUND, NOT_FOUND)
    redirect_uri = _redirect_uri(request, service)
    secure = redirect_uri.startswith("https:")
    try:
        answer, begun = dict(request.query_params), request.cookies.get(_name(secure=secure), "")
        principal, id_token = await service.sign_on.finish(begun, answer, redirect_uri)
        require_rate(principal, request, service)
        await require_open(principal, service)
        cookie, _ = await service.sessions.begin_for(principal, id_token)
        await service.watch.note_signed(request, principal, "signed_in")
    except (SignOnFailed, Refusal, MnemicError) as failure:
        return _refusal_response(failure.reason, secure=secure)
    home = RedirectResponse("/console", HTTPStatus.SEE_OTHER)
    _end(home, secure=secure)
    set_session(home, cookie, secure=secure)
    return home


def _refusal_response(reason: str, *, secure: bool) -> Response:
    back = RedirectResponse(f"/console?refused={reason}", HTTPStatus.SEE_OTHER)
    _end(back, secure=secure)
    return back


def _end(response: Response, *, secure: bool) -> None:
    name, path = _name(secure=secure), _path(secure=secure)
    response.delete_cookie(name, path=path, httponly=True, samesite="lax", secure=secure)


def _name(*, secure: bool) -> str:
    return SECURE_COOKIE if secure else COOKIE


def _path(*, secure: bool) -> str:
    """Return the path of the cookie: `__Host-` wants the whole host."""
    return "/" if secure else PATH


def _redirect_uri(request: Request, service: ServiceContext) -> str:
    return address_of(request, service) + PATH + "/callback"
