"""The console: its files, and signing in to it.

An API key is exchanged once for a session cookie (`mnemic_server.browser_sessions`); the pages then call the same
routes as every other client, with the same permissions.
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse
from pydantic import StringConstraints

from mnemic_server.access import (
    AnyService,
    ServiceContext,
    is_secure,
    is_service_admin,
    principal_of,
    require_open,
    require_rate,
    require_same_origin,
)
from mnemic_server.browser_sessions import COOKIE, LASTS, SECURE_COOKIE, session_cookie
from mnemic_server.credentials import Principal, shown_key
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.problems import Refusal
from mnemic_server.request_bodies import Strict
from mnemic_server.service_reason_codes import NOT_FOUND, UNAUTHENTICATED
from mnemic_server.static_files import StaticFile

router = APIRouter(include_in_schema=False, route_class=ParsedBodyRoute)

_ROOT = files("mnemic_server") / "console"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Content-Security-Policy of the pages. The last two: no script can turn text into markup or code, by any way."""
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SignIn(Strict):
    """Credential that a browser signs in with."""

    api_key: Annotated[str, StringConstraints(min_length=1, max_length=512)]


@router.get("/", response_class=RedirectResponse)
async def front() -> str:
    """Show the console to a browser that opens the address."""
    return "/console"


@router.get("/console/session", response_model=None)
async def who(request: Request, service: AnyService, *, probe: bool = False) -> dict[str, Any] | Response:
    """Return the user this browser has signed in as, and the token that its changes must carry. Refuses with 401; to a
    page that only probes for a session, it answers 204 instead, which no browser logs as an error.
    """
    try:
        principal = await principal_of(request, service)
    except Refusal as refused:
        if probe and refused.status == HTTPStatus.UNAUTHORIZED:
            return Response(status_code=HTTPStatus.NO_CONTENT)
        raise
    session = await service.sessions.find(session_cookie(request, secure=is_secure(request, service)))
    return _seen(principal, service, session.csrf_token if session else None, signed_in=session is not None)


@router.post("/console/session")
async def sign_in(given: SignIn, request: Request, response: Response, service: AnyService) -> dict[str, Any]:
    """Exchange an API key for a session. Refuses with 401, the same for every flaw of the key, with 429 past its rate,
    and with 403 where its tenant is suspended.
    """
    require_same_origin(request, service)
    shown = shown_key(given.api_key.strip())
    principal = None if shown is None else await service.keys.principal(*shown)
    if shown is None or principal is None:
        await service.watch.wrong(request)
        raise Refusal(HTTPStatus.UNAUTHORIZED, UNAUTHENTICATED)
    require_rate(principal, request, service)
    await require_open(principal, service)
    service.watch.right(request, principal)
    cookie, session = await service.sessions.begin(principal, shown[1])
    await service.watch.note_signed(request, principal, "signed_in")
    set_session(response, cookie, secure=is_secure(request, service))
    return _seen(session.principal, service, session.csrf_token, signed_in=True)


def set_session(response: Response, cookie: str, *, secure: bool) -> None:
    """Give the browser its session; over TLS under a name that no other host and no page without TLS can set."""
    lasts, name = int(LASTS.total_seconds()), SECURE_COOKIE if secure else COOKIE
    response.set_cookie(name, cookie, max_age=lasts, path="/", httponly=True, samesite="strict", secure=secure)


def end_session(response: Response, *, secure: bool) -> None:
    """Remove the cookie."""
    name = SECURE_COOKIE if secure else COOKIE
    response.delete_cookie(name, path="/", httponly=True, samesite="strict", secure=secure)


@router.delete("/console/session", response_model=None)
async def sign_out(request: Request, service: AnyService) -> Response:
    """End the session, in every window of this browser. Answers 200 with the address `there` that ends the provider's
    own session, if it has one; else 204.
    """
    await service.watch.note_signed(request, await principal_of(request, service), "signed_out")
    id_token = await service.sessions.end(session_cookie(request, secure=is_secure(request, service)))
    there = None
    if service.sign_on is not None and id_token is not None:
        there = await service.sign_on.end(id_token, address_of(request, service) + "/console")
    gone = Response(status_code=HTTPStatus.NO_CONTENT) if there is None else JSONResponse({"there": there})
    end_session(gone, secure=is_secure(request, service))
    return gone


def address_of(request: Request, service: ServiceContext) -> str:
    """Return the address under which browsers reach the service, without a slash at its end."""
    return (service.url or str(request.base_url)).rstrip("/")


@router.get("/console")
@router.get("/console/{path:path}")
async def file(request: Request, path: str = "") -> Response:
    """Return a file of the console. The files contain no user data and need no credential."""
    found = _files().get(path or "index.html")
    if found is None:
        raise Refusal(HTTPStatus.NOT_FOUND, NOT_FOUND)
    return found.answer(request.headers, _HEADERS)


@cache
def _files() -> dict[str, StaticFile]:
    """Return every file by its path: no other path exists."""
    kept = {}
    for folder in ("", "pages/"):
        for entry in (_ROOT / folder).iterdir():
            if (read := StaticFile.read(entry)) is not None:
                kept[folder + entry.name] = read
    return kept


def _seen(principal: Principal, service: ServiceContext, csrf_token: str | None, *, signed_in: bool) -> dict[str, Any]:
    return {
        "tenant": principal.tenant,
        "user": principal.user,
        "key_id": principal.key_id,
        "roles": sorted(principal.roles),
        "service_admin": is_service_admin(principal, service),
        "csrf_token": csrf_token,
        "signed_in": signed_in,
    }
