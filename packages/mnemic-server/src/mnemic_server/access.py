"""Checks of a route's caller: authentication, roles and rate limits."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from starlette.requests import HTTPConnection

from mnemic.engine import MemoryEngine
from mnemic.kinds.persona import Profile
from mnemic.maintenance.reread import Readings
from mnemic.maintenance.tenant_engine import Tenancy
from mnemic.types import Actor, Level, Origin
from mnemic_server import service_reason_codes
from mnemic_server.bearer_tokens import Tokens
from mnemic_server.browser_sessions import CSRF_HEADER, Sessions, session_cookie
from mnemic_server.credentials import ApiKeys, Principal, Role
from mnemic_server.erasure_jobs import Erasures
from mnemic_server.login_throttle import RefusedLogins
from mnemic_server.loopback import is_loopback
from mnemic_server.oidc_sign_in import SignOn
from mnemic_server.problems import Refusal, unauthenticated_error, user_required
from mnemic_server.prometheus_metrics import Meter
from mnemic_server.rate_limit import RateLimit, wait_within_tenant
from mnemic_server.request_limits import BODY_BYTES, REFUSED
from mnemic_server.session_names import SessionName, in_session
from mnemic_server.streams import Streams
from mnemic_server.webhooks import Webhooks

BYTES_OF_A_CALL = 16 * 1024
"""Size of a body that counts as one further call."""
_KNOWN, _COUNTED = "principal", "counted"
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_bearer = HTTPBearer(auto_error=False, description="An API key, a token of this service, or a provider's JWT")


@dataclass(slots=True, kw_only=True)
class ServiceContext:
    """Objects that every route works with. `open_to` is the principal of calls without a credential; None refuses them.
    `open_metrics`: metrics need none.
    `profiles` are the agents' profiles by their makers. `home` is the tenant whose admins administer the service.
    """

    engine: MemoryEngine
    tenancy: Tenancy
    home: str = "default"
    origins: frozenset[str] = frozenset()
    """Origins of pages that may call the service with a credential that they send themselves."""
    url: str | None = None
    """The address under which browsers reach the service; None: the one in their requests."""
    keys: ApiKeys
    tokens: Tokens
    sessions: Sessions
    rate: RateLimit
    meter: Meter
    watch: RefusedLogins
    erasures: Erasures
    webhooks: Webhooks
    settings: Sequence[Mapping[str, Any]] = ()
    open_to: Principal | None = None
    open_metrics: bool = False
    sign_on: SignOn | None = None
    tenant_rate: RateLimit | None = None
    """Rate of all credentials of a tenant together; None: only the rates of single credentials apply."""
    streams: Streams = field(default_factory=Streams)
    readings: Readings = field(default_factory=Readings)
    profiles: Callable[[str], Profile | None] = lambda _: None
    running: set[asyncio.Task[Any]] = field(default_factory=set)
    """Turns that continue after their caller has disconnected."""


async def service_of(request: Request) -> ServiceContext:
    """Return the service a request came to."""
    service: ServiceContext = request.app.state.service
    return service


AnyService = Annotated[ServiceContext, Depends(service_of)]
"""View for callers without a tenant."""


async def principal_of(request: Request, service: AnyService, _: Annotated[Any, Depends(_bearer)] = None) -> Principal:
    """Return the principal of the request's credential. Refuses with 401, the same for every flaw, and 429 past the
    rate.
    """
    return await admit_caller(request, service)


async def admit_caller(request: HTTPConnection, service: ServiceContext) -> Principal:
    """Return the principal for a request outside of the routes."""
    state = request.scope.get("state", {})
    refusal: Refusal | None = state.get(REFUSED)
    if refusal is not None:
        raise refusal
    principal = state.pop(_KNOWN, None) or await credential_of(request, service)
    if principal is None:
        raise unauthenticated_error()
    require_rate(principal, request, service)
    await require_open(principal, service)
    service.engine.watchers.charge_models(principal.tenant)
    return principal


async def require_open(principal: Principal, service: ServiceContext) -> None:
    """Refuse with 403 a caller of a suspended tenant."""
    if (await service.tenancy.tenant_state(principal.tenant)).suspended:
        raise Refusal(HTTPStatus.FORBIDDEN, service_reason_codes.TENANT_SUSPENDED)


async def tenant_service(service: AnyService, principal: Annotated[Principal, Depends(principal_of)]) -> ServiceContext:
    """Return the service by the rules of the caller's tenant."""
    state = await service.tenancy.tenant_state(principal.tenant)
    return replace(service, engine=state.engine)


TheService = Annotated[ServiceContext, Depends(tenant_service)]


def require_rate(principal: Principal, request: HTTPConnection, service: ServiceContext) -> None:
    """Charge a request to the caller's rate, except for the part that was charged before. Refuses with 429."""
    state = request.scope.get("state", {})
    _take(principal, request, service, state.get(BODY_BYTES, 0))


def _take(principal: Principal, request: HTTPConnection, service: ServiceContext, size: int) -> None:
    state = request.scope.setdefault("state", {})
    due, counted = 1 + size // BYTES_OF_A_CALL, f"{_COUNTED}:{principal.caller}"
    calls, state[counted] = due - state.get(counted, 0), due
    wait = service.rate.wait_for(principal.caller, calls=calls) if calls > 0 else 0.0
    if not wait and calls > 0 and service.tenant_rate is not None:
        wait = wait_within_tenant(service.tenant_rate, principal, calls)
    if wait:
        after = {"Retry-After": str(int(wait) + 1)}
        raise Refusal(HTTPStatus.TOO_MANY_REQUESTS, service_reason_codes.RATE_LIMITED, headers=after)


async def admit(request: HTTPConnection, size: int, *, service: ServiceContext) -> Principal:
    """Return the principal of a request's credential, and charge a body of `size` before it is read; the route repeats
    neither. Refuses with 401 a credential that is invalid, with 403 a request from another site's page, with 429 one
    beyond the rate.
    """
    state = request.scope.setdefault("state", {})
    principal: Principal | None = state.get(_KNOWN) or await credential_of(request, service)
    if principal is None:
        raise unauthenticated_error()
    state[_KNOWN] = principal
    _take(principal, request, service, size)
    return principal


async def credential_of(request: HTTPConnection, service: ServiceContext) -> Principal | None:
    """Return the current principal of a request's credential; None if it is invalid. Refuses with 429 an address that
    has presented too many invalid ones.
    """
    header = request.headers.get("authorization", "")
    if not header:
        return await _browsing(service, request)
    scheme, _, text = header.partition(" ")
    # No credential is longer than this; a longer text must not reach a hash or a parser.
    if scheme.lower() != "bearer" or not text.isascii() or len(text) > 8192:
        return None
    shown = text.strip()
    principal = await service.keys.authenticate(shown) or await service.tokens.authenticate(shown)
    if principal is None:
        await service.watch.wrong(request)
    else:
        service.watch.right(request, principal)
    return principal


async def _browsing(service: ServiceContext, request: HTTPConnection) -> Principal | None:
    """Return the principal of a request without an Authorization header. A cookie, which a browser adds to every
    request, proves no intent: such a request must come from a page of this service, and one that changes anything must
    carry the session's CSRF token.
    """
    cookie = session_cookie(request, secure=is_secure(request, service))
    session = None if service.open_to else await service.sessions.find(cookie)
    if session is None and service.open_to is None:
        return None
    require_same_origin(request, service, loopback=service.open_to is not None)
    if session is None:
        return service.open_to
    given = request.headers.get(CSRF_HEADER, "").encode()
    if request.scope["method"] not in _SAFE and not hmac.compare_digest(given, session.csrf_token.encode()):
        raise Refusal(HTTPStatus.FORBIDDEN, service_reason_codes.CSRF_TOKEN)
    return session.principal


def require_same_origin(request: HTTPConnection, service: ServiceContext, *, loopback: bool = False) -> None:
    """Refuse with 403 a request that a browser sends for another site's page (Fetch metadata, Origin). With `loopback`
    also one under a host name other than this machine's (DNS rebinding).
    """
    refuse_foreign_origin(request, service)
    if request.headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        raise Refusal(HTTPStatus.FORBIDDEN, service_reason_codes.CROSS_SITE)
    if loopback and not is_loopback(request.url.hostname or ""):
        raise Refusal(HTTPStatus.FORBIDDEN, service_reason_codes.FOREIGN_HOST)


def refuse_foreign_origin(request: HTTPConnection, service: ServiceContext) -> None:
    """Refuse with 403 a request from a page of another site: of another host or port, or a page without TLS if browsers
    reach the service by TLS. Clients other than browsers send no origin.
    """
    origin = request.headers.get("origin")
    if origin is None:
        return
    scheme, _, place = origin.partition("://")
    if place != request.headers.get("host") or (scheme != "https" and is_secure(request, service)):
        raise Refusal(HTTPStatus.FORBIDDEN, service_reason_codes.CROSS_SITE)


def is_secure(request: HTTPConnection, service: ServiceContext) -> bool:
    """Return True if browsers reach the service by TLS: by the service's address, or by the request."""
    return (service.url or str(request.base_url)).startswith("https:")


def require_role(principal: Principal, *roles: Role) -> None:
    """Refuse with 403 a caller without any of `roles`."""
    if principal.roles.isdisjoint(roles):
        raise _lacking(*roles)


def _lacking(*roles: Role) -> Refusal:
    reason = f"{service_reason_codes.ROLE_REQUIRED}:{'|'.join(sorted(roles))}"
    return Refusal(HTTPStatus.FORBIDDEN, reason, detail="the credential lacks a role: `/v1/whoami` lists those it has")


def is_service_admin(principal: Principal, service: ServiceContext) -> bool:
    """Return True if the caller acts across tenants: only an admin of the service's own tenant does."""
    return Role.ADMIN in principal.roles and principal.tenant == service.home


def require_service_admin(principal: Principal, service: ServiceContext) -> None:
    """Refuse with 403 a caller who may not act across tenants."""
    if not is_service_admin(principal, service):
        raise Refusal(HTTPStatus.FORBIDDEN, service_reason_codes.HOME_TENANT_REQUIRED)


def manages(principal: Principal, service: ServiceContext, *, tenant: str, roles: Collection[str]) -> Refusal | None:
    """Return the reason why the caller may not manage keys of `tenant` with `roles`; None if it may. The one rule for
    creating, reading, rotating and revoking a key: a caller who gets a key's secret can do everything the key can.
    """
    if principal.roles.isdisjoint({Role.ADMIN, Role.OPERATOR}):
        return _lacking(Role.ADMIN, Role.OPERATOR)
    foreign = tenant != principal.tenant
    if (foreign or Role.ADMIN in roles) and Role.ADMIN not in principal.roles:
        return _lacking(Role.ADMIN)
    if foreign and not is_service_admin(principal, service):
        return Refusal(HTTPStatus.FORBIDDEN, service_reason_codes.HOME_TENANT_REQUIRED)
    return None


def require_user(principal: Principal) -> None:
    """Refuse an application, which represents no user, with 403."""
    if principal.user is None:
        raise user_required()


def require_roles(*roles: Role) -> Callable[..., Awaitable[Principal]]:
    """Return a dependency: the caller, who must have one of `roles`. Refuses with 403."""

    async def check(
        principal: Annotated[Principal, Depends(principal_of)], request: Request, service: AnyService
    ) -> Principal:
        try:
            require_role(principal, *roles)
        except Refusal as refusal:
            await service.watch.note_refused(request, principal, refusal.reason)
            raise
        return principal

    return check


async def service_admin(
    principal: Annotated[Principal, Depends(require_roles(Role.ADMIN))], service: AnyService
) -> Principal:
    """Return a dependency: an admin of the service. Refuses with 403 an admin of any other tenant."""
    require_service_admin(principal, service)
    return principal


@dataclass(frozen=True, slots=True)
class ReviewView:
    """A caller's view of the review queue: of the whole tenant with the role `reviewer`, else of the person's own
    memories, for which `engine` grants only the level `user`.
    """

    engine: MemoryEngine
    actor: Actor
    whole_tenant: bool


async def review_desk(
    principal: Annotated[Principal, Depends(require_roles(Role.REVIEWER, Role.SUBJECT))], service: TheService
) -> ReviewView:
    """Return a dependency: the caller's view of waiting memories. Refuses with 403 a non-reviewing application."""
    if Role.REVIEWER in principal.roles:
        return ReviewView(service.engine, principal.actor, whole_tenant=True)
    require_user(principal)
    rules = service.engine.rules
    grant = replace(rules.grant, levels=rules.grant.levels & {Level.USER})
    own = service.engine.under(policy=rules.policy, grant=grant, budget=rules.budget, limits=rules.limits)
    return ReviewView(own, principal.actor, whole_tenant=False)


async def deciding(
    desk: Annotated[ReviewView, Depends(review_desk)], principal: Annotated[Principal, Depends(principal_of)]
) -> ReviewView:
    """Return a dependency: the view of a person who decides. An application is refused with 403: it could not be
    distinguished from the proposer of the memories that it decides on.
    """
    require_user(principal)
    return desk


def acting(*roles: Role) -> Callable[..., Awaitable[Actor]]:
    """Return a dependency: the actor of the engine's call. An application without a user is refused with 403."""
    admitted = Depends(require_roles(*roles))

    async def check(principal: Principal = admitted, session: SessionName = None) -> Actor:
        require_user(principal)
        return in_session(principal.actor, session)

    return check


async def deleting(
    actor: Annotated[Actor, Depends(acting(Role.WRITER, Role.SUBJECT))],
    principal: Annotated[Principal, Depends(principal_of)],
) -> Actor:
    """Return a dependency: the actor of a deletion. A reviewer, whose approval a shared memory would need, acts for the
    operator.
    """
    return replace(actor, channel=Origin.OPERATOR) if Role.REVIEWER in principal.roles else actor


Reading = Annotated[Actor, Depends(acting(Role.READER, Role.WRITER, Role.SUBJECT))]
Writing = Annotated[Actor, Depends(acting(Role.WRITER))]
Correcting = Annotated[Actor, Depends(acting(Role.WRITER, Role.SUBJECT))]
Deleting = Annotated[Actor, Depends(deleting)]
OneselfOnly = Annotated[Actor, Depends(acting(Role.SUBJECT))]
Reviewing = Annotated[ReviewView, Depends(review_desk)]
Deciding = Annotated[ReviewView, Depends(deciding)]
Operating = Annotated[Principal, Depends(require_roles(Role.OPERATOR))]
Erasing = Annotated[Principal, Depends(require_roles(Role.OPERATOR, Role.SUBJECT))]
Revealing = Annotated[Principal, Depends(require_roles(*Role))]
Using = Annotated[Principal, Depends(require_roles(Role.READER, Role.WRITER, Role.SUBJECT))]
Watching = Annotated[
    Principal, Depends(require_roles(Role.READER, Role.WRITER, Role.SUBJECT, Role.REVIEWER, Role.OPERATOR))
]
Administering = Annotated[Principal, Depends(require_roles(Role.ADMIN, Role.OPERATOR))]
ServiceAdmin = Annotated[Principal, Depends(service_admin)]
Issuing = Annotated[Principal, Depends(require_roles(*Role))]
