"""The application: routes, errors, boundary and meter around one engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any

from fastapi import Depends, FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from mnemic.engine import MemoryEngine
from mnemic.engine.first_use import wait_until_loaded
from mnemic.kinds.persona import Profile
from mnemic.maintenance.tenant_engine import Tenancy
from mnemic_server import problems
from mnemic_server.access import ServiceContext, admit
from mnemic_server.bearer_tokens import Provider, Tokens
from mnemic_server.browser_sessions import Sessions
from mnemic_server.credentials import ApiKeys, Principal
from mnemic_server.direct_routes import DirectRoutes
from mnemic_server.erasure_jobs import Erasures
from mnemic_server.known_parameters import require_known_parameters
from mnemic_server.login_throttle import RefusedLogins
from mnemic_server.loop_lag import watched_loop
from mnemic_server.observability import Observer, ObservingMiddleware
from mnemic_server.oidc_sign_in import Client, SignOn
from mnemic_server.openapi_descriptions import describe
from mnemic_server.openapi_examples import exemplify
from mnemic_server.problems import MEDIA_TYPE, Problem
from mnemic_server.prometheus_metrics import Meter
from mnemic_server.rate_limit import BURST, PER_SECOND, TENANT_PER_SECOND, RateLimit
from mnemic_server.request_limits import LimitMiddleware, RequestLimits
from mnemic_server.routes import (
    changes,
    console,
    conversations,
    entities,
    episodes,
    health,
    imports,
    keys,
    memories,
    operators,
    personas,
    policies,
    reference,
    reviews,
    runs,
    sign_on,
    structured,
    subjects,
    tenants,
    uploads,
    users,
    versions,
    webhooks,
)
from mnemic_server.streams import Streams
from mnemic_server.webhook_delivery import Deliveries
from mnemic_server.webhooks import Webhooks

_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
    (b"referrer-policy", b"no-referrer"),
)
_TAKEN = [
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "Last-Event-ID",
    "Mnemic-Session",
    "traceparent",
]
"""Headers that a page of another origin may send."""
_PARTS = (
    memories, versions, runs, imports, uploads, changes, episodes, entities, structured, personas, conversations,
    subjects, reviews, operators, policies, tenants, users, keys, webhooks, health, sign_on, console, reference,
)  # fmt: skip
_LENIENT = (health, sign_on, console, reference)
_PROBLEMS = (400, 401, 403, 404, 409, 412, 413, 414, 422, 429, 500, 501, 502, 503, 507)


def create_app(
    engine: MemoryEngine,
    *,
    provider: Provider | None = None,
    client: Client | None = None,
    open_to: Principal | None = None,
    home: str = "default",
    url: str | None = None,
    origins: Collection[str] = (),
    bounds: RequestLimits | None = None,
    per_second: float = PER_SECOND,
    tenant_per_second: float = TENANT_PER_SECOND,
    burst: int = BURST,
    private_webhooks: bool = False,
    open_metrics: bool = False,
    settings: Sequence[Mapping[str, Any]] = (),
    streams: Streams | None = None,
    profiles: Callable[[str], Profile | None] | None = None,
    meter: Meter | None = None,
    observers: Sequence[Observer] = (),
) -> ASGIApp:
    """Return the service around `engine`, which it opens and closes.

    `client` enables sign-in to the console at the `provider`. `open_to` is the principal of calls without a credential:
    only for a personal machine. `url` is the public address of the service; pages of the `origins` may call it with
    their own credential. `home` is the tenant whose admins administer the service. `profiles` are the agents' profiles.
    With `private_webhooks` webhooks may point into the service's own network, with `open_metrics` metrics
    need no credential; `settings` are shown to admins of the
    service. `observers` are called for every request, in addition to the `meter`.
    """
    api_keys = ApiKeys(engine.store, engine.clock)
    tokens = Tokens(api_keys, engine.clock, provider)
    service = ServiceContext(
        engine=engine,
        keys=api_keys,
        sessions=Sessions(engine.store, engine.clock, api_keys),
        tokens=tokens,
        sign_on=None if client is None else SignOn(client, tokens, engine.store, engine.clock),
        **_guards(engine, per_second, tenant_per_second, burst),
        settings=settings,
        erasures=Erasures(engine.store, engine.clock),
        webhooks=Webhooks(engine.store, engine.clock, private=private_webhooks),
        open_to=open_to,
        open_metrics=open_metrics,
        tenancy=_tenancy(engine),
        home=home,
        origins=frozenset(origins),
        url=url or (client.url if client else None),
        **_parts(meter, streams, profiles),
    )
    return _add_observers(service, bounds, observers)


def _parts(
    meter: Meter | None, streams: Streams | None, profiles: Callable[[str], Profile | None] | None
) -> dict[str, Any]:
    return {
        "meter": meter or Meter(),
        "streams": streams or Streams(),
        "profiles": profiles or (lambda _: None),
    }


def _tenancy(engine: MemoryEngine) -> Tenancy:
    """Return the engines of the tenants, which store the texts of turns only if the tenant's policy allows it."""
    engine.keeps_turns = False
    return Tenancy(engine)


def _guards(engine: MemoryEngine, per_second: float, tenant_per_second: float, burst: int) -> dict[str, Any]:
    clock = engine.clock
    return {
        "watch": RefusedLogins(store=engine.store, clock=clock),
        "rate": RateLimit(clock, per_second=per_second, burst=burst),
        "tenant_rate": RateLimit(clock, per_second=tenant_per_second, burst=max(1, int(2 * tenant_per_second))),
    }


def _add_observers(service: ServiceContext, bounds: RequestLimits | None, observers: Sequence[Observer]) -> ASGIApp:
    watchers = service.engine.watchers
    watchers.on_write, watchers.on_search = service.meter.wrote, service.meter.count_search
    watchers.on_model = service.meter.count_model
    answering = _Hardened(LimitMiddleware(_add_routes(service), bounds, admit=partial(admit, service=service)))
    return ObservingMiddleware(
        _add_cors(answering, service.origins) if service.origins else answering, [service.meter, *observers]
    )


def _add_cors(app: ASGIApp, origins: Collection[str]) -> ASGIApp:
    """Return the application for pages of other origins, which must present a credential themselves. Cookies are
    ignored there, so that no page acts as the user who is signed in to the console.
    """
    return CORSMiddleware(
        app,
        allow_origins=sorted(origins),
        allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
        allow_headers=_TAKEN,
        expose_headers=["ETag", "Location", "Retry-After"],
        max_age=600,
    )


def _add_routes(service: ServiceContext) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service.engine, watched_loop(service.meter.lag.observe), _deliveries(service).running():
            # Not waited for: beside a model that hangs, words are found all the same. `/readyz` tells a failure.
            warming = asyncio.create_task(wait_until_loaded(service.engine.embedder))
            yield
            warming.cancel()
            await asyncio.gather(*service.running, *service.erasures.running, return_exceptions=True)

    app = routes(lifespan)
    app.state.service = service
    app.add_middleware(DirectRoutes, among=[route for part in _PARTS for route in part.router.routes])
    app.router.routes.extend(_tool_server(service))
    return app


def _deliveries(service: ServiceContext) -> Deliveries:
    return Deliveries(
        tenancy=service.tenancy,
        clock=service.engine.clock,
        webhooks=service.webhooks,
    )


def routes(lifespan: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None) -> FastAPI:
    """Return the routes, with every error as a problem. `openapi()` describes them; callers need `state.service`."""
    app = _Described(
        title="mnemic",
        version="1",
        summary="Memory for agents, for whom the credential says.",
        lifespan=lifespan,
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        docs_url=None,
        redirect_slashes=False,
        redoc_url=None,
        responses=_problems(),
    )
    for part in _PARTS:
        # Probes and a provider's answer may carry further parameters.
        strict = [] if part in _LENIENT else [Depends(require_known_parameters)]
        app.include_router(part.router, dependencies=strict)
    problems.install(app)
    return app


def _tool_server(service: ServiceContext) -> list[Route]:
    """`/mcp`, if MCP is installed."""
    try:
        from mnemic_server.mcp_endpoint import ToolServer
    except ModuleNotFoundError:
        return []
    return [Route("/mcp", ToolServer(service), include_in_schema=False)]


def _problems() -> dict[int | str, dict[str, Any]]:
    """Return the problems that every route may answer in addition to its own."""
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {status: {"description": "A problem", "content": {MEDIA_TYPE: schema}} for status in _PROBLEMS}


class _Described(FastAPI):
    """Application whose OpenAPI description has one schema of problems, and responses without titles next to
    references.
    """

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            described = super().openapi()
            described["components"]["schemas"]["Problem"] = Problem.model_json_schema()
            describe(described)
            exemplify(described)
            for schema in _answers(described):
                if "$ref" in schema:
                    schema.pop("title", None)
        return super().openapi()


def _answers(described: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in described["paths"].values():
        for route in path.values():
            for answer in route["responses"].values():
                yield from (content["schema"] for content in answer.get("content", {}).values() if "schema" in content)


class _Hardened:
    """Middleware that adds security headers to every response."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_hardened(message: Any) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(pair for pair in _HEADERS if pair[0] not in present)]
            await send(message)

        await self._app(scope, receive, send_hardened)
