"""Start of the service: on this machine only and with authentication, unless explicitly configured otherwise."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from socket import socket
from typing import TYPE_CHECKING, Any, Literal

import uvicorn
from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from mnemic.bootstrap import build_engine, build_profile
from mnemic.config import ENV_FILE, Settings
from mnemic.errors import InvalidConfig
from mnemic.runtime.clock import SystemClock
from mnemic_cli.server_log import configure
from mnemic_server.app import create_app
from mnemic_server.bearer_tokens import Claims, Provider
from mnemic_server.connections import Connections, Timeouts, place_of
from mnemic_server.credentials import ApiKeys, Principal, Role
from mnemic_server.gc_freeze import keep_what_lasts
from mnemic_server.http_protocol import Protocol
from mnemic_server.logs import RequestLog
from mnemic_server.loopback import is_loopback
from mnemic_server.oidc_sign_in import Client
from mnemic_server.prometheus_metrics import Meter
from mnemic_server.request_limits import RequestLimits
from mnemic_server.settings_in_force import settings_in_force
from mnemic_server.streams import Streams

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from mnemic_server.telemetry import Telemetry

SLICE_SECONDS = 0.0005
"""Time for which a thread computes before another may, in seconds. A short request would wait for Python's own 5 ms at
each step that a costly one takes in between; figures are in docs/benchmarks/servers.md.
"""


class ServiceSettings(BaseSettings):
    """Settings of how the service listens and whom it believes. Every field is also an environment variable
    `MNEMIC_SERVICE_<NAME>`.
    """

    model_config = SettingsConfigDict(env_prefix="MNEMIC_SERVICE_", extra="ignore")

    host: str = Field(default="127.0.0.1", description="Address to listen at.")
    port: int = Field(default=8377, ge=0, le=65_535, description="Port to listen at; 0 takes a free one.")
    workers: int = Field(
        default=1,
        ge=1,
        le=64,
        description="Processes that answer requests. Rates and other limits are for each of them; with more than one, "
        "conversations in progress need Redis.",
    )
    issuer: str | None = Field(default=None, description="Issuer of the OpenID provider whose tokens are accepted.")
    audience: str | None = Field(default=None, description="Audience that those tokens must contain.")
    jwks: str | None = Field(
        default=None,
        description="That provider's public keys (JWKS): a file, or an https address to fetch them from.",
    )
    user_claim: str = Field(default="sub", description="The claim of those tokens that names the user.")
    tenant_claim: str = Field(default="tenant", description="The claim that names the tenant.")
    default_tenant: str | None = Field(
        default=None, description="Tenant of tokens that name none. Default: the service's own."
    )
    roles_claim: str = Field(default="roles", description="The claim that lists the roles.")
    client_id: str | None = Field(
        default=None, description="Client ID of the console at that provider; with it, people can sign in there."
    )
    client_secret: SecretStr | None = Field(default=None, description="Secret of that client, if it has one.")
    client_secret_file: Path | None = Field(default=None, description="File with that secret.")
    url: str | None = Field(
        default=None,
        description="Address at which browsers reach the service behind a proxy; the provider redirects there.",
    )
    cors_origins: str = Field(
        default="",
        description="Origins whose pages may call the service, separated by commas, such as https://app.example.com. "
        "Their calls need a credential; the console's session does not apply to them. Default: none.",
    )
    scope: str = Field(default="openid", description="Scopes that a sign-in asks for.")
    sign_out_there: bool = Field(
        default=True, description="Signing out of the console also signs out at the provider, if it supports that."
    )
    max_bytes: int = Field(default=2 * 1024 * 1024, ge=1024, description="Largest body of a request, in bytes.")
    seconds: float = Field(default=30.0, gt=0, description="Longest time to answer a request, in seconds.")
    at_once: int = Field(default=64, ge=1, description="Requests answered at the same time; further ones have to wait.")
    models_at_once: int = Field(
        default=32,
        ge=1,
        description="Further requests that may wait for a language model (capture, runs, imports).",
    )
    per_second: float = Field(default=50.0, gt=0, description="Requests per second of one credential.")
    tenant_per_second: float = Field(default=500.0, gt=0, description="Requests per second of one tenant.")
    connections: int = Field(
        default=4096, ge=8, description="Open connections; at most half of the process's limit of open files."
    )
    address_connections: int = Field(default=256, ge=8, description="Open connections of one address.")
    proxies: str = Field(
        default="127.0.0.1,::1",
        description="Addresses of proxies, separated by commas. Their X-Forwarded-For and -Proto are trusted, and the "
        "limit for one address does not apply to them.",
    )
    head_seconds: float = Field(
        default=10.0, gt=0, description="Longest time to receive the head of a request, in seconds."
    )
    body_seconds: float = Field(
        default=10.0, gt=0, description="Longest time to receive its body, in seconds, plus one second for each 64 KiB."
    )
    reading_seconds: float = Field(
        default=30.0,
        gt=0,
        description="Longest time in which a caller reads nothing of its response, in seconds.",
    )
    keep_alive_seconds: int = Field(
        default=75,
        ge=1,
        description="Longest time that an idle connection stays open. Choose it longer than that of the proxy or "
        "client, so that no request is sent into a connection that is being closed.",
    )
    private_webhooks: bool = Field(
        default=False,
        description="Allow webhooks to private addresses, such as those of the service's own network, and without TLS. "
        "Default: public addresses over https only.",
    )
    log: Literal["text", "json"] = Field(default="text", description="Format of the log on standard error.")
    log_requests: bool = Field(default=False, description="Log every request, not only slow ones.")
    slow_ms: float = Field(default=1000.0, gt=0, description="Requests that take longer, in milliseconds, are logged.")
    drain_seconds: int = Field(
        default=20, ge=0, description="Seconds for running requests to finish when the service stops."
    )

    @classmethod
    def load(cls, **overrides: object) -> ServiceSettings:
        """Return the settings from the environment with `overrides` on top; those that are None are left out. Raises
        InvalidConfig.
        """
        try:
            given = {name: value for name, value in overrides.items() if value is not None}
            # pydantic-settings takes `_env_file` as a keyword that its types do not declare.
            return cls(_env_file=os.environ.get(ENV_FILE), **given)  # type: ignore[arg-type,call-arg]
        except ValidationError as invalid:
            # Without the input, which may be a secret.
            first = invalid.errors(include_input=False, include_url=False)[0]
            raise InvalidConfig(f"service_{first['loc'][0]}", hint=str(first["msg"])) from None

    def provider(self, default_tenant: str) -> Provider | None:
        """Return the OpenID provider, if one is named. Raises InvalidConfig where only a part of it is."""
        named = (self.issuer, self.audience, self.jwks)
        if not any(named):
            return None
        if self.issuer is None or self.audience is None or self.jwks is None:
            raise InvalidConfig("service_issuer", hint="issuer, audience and jwks belong together")
        return Provider.named(
            self.jwks,
            issuer=self.issuer,
            audience=self.audience,
            claims=Claims(user=self.user_claim, tenant=self.tenant_claim, roles=self.roles_claim),
            default_tenant=self.default_tenant or default_tenant,
        )

    def origins(self) -> frozenset[str]:
        """Return the origins of other sites' pages that may call the service. Raises InvalidConfig for an invalid
        origin.
        """
        named = frozenset(one.strip().rstrip("/") for one in self.cors_origins.split(",") if one.strip())
        for one in named:
            scheme, _, place = one.partition("://")
            # No wildcards: an origin of CORS is compared as a whole.
            if scheme not in ("http", "https") or not place or "/" in place or "*" in place:
                raise InvalidConfig("service_cors_origins", hint="https://app.example.com, without a path or *")
        return named

    def rates(self) -> dict[str, Any]:
        """Return how often callers may call, and where webhooks may lead, as `create_app` takes it."""
        burst = max(1, int(2 * self.per_second))
        return {
            "per_second": self.per_second,
            "tenant_per_second": self.tenant_per_second,
            "burst": burst,
            "private_webhooks": self.private_webhooks,
        }

    def bounds(self) -> RequestLimits:
        """Return the limits of a request."""
        return RequestLimits(
            max_bytes=self.max_bytes, seconds=self.seconds, at_once=self.at_once, models_at_once=self.models_at_once
        )

    def kept(self) -> Connections:
        """Return the connections, with the limits of the settings."""
        return Connections(
            most=self.connections,
            per_address=self.address_connections,
            proxies=frozenset(place_of(one.strip()) for one in self.proxies.split(",")),
            timeouts=Timeouts(head=self.head_seconds, body=self.body_seconds, reading=self.reading_seconds),
        )

    def client(self) -> Client | None:
        """Return the client that people sign in to the console with at the provider; None if none is named. Raises
        InvalidConfig.
        """
        if self.client_id is None:
            return None
        if self.issuer is None:
            raise InvalidConfig("service_client_id", hint="issuer, audience and jwks belong to it")
        secret = None if self.client_secret is None else self.client_secret.get_secret_value()
        if self.client_secret_file is not None:
            try:
                secret = self.client_secret_file.read_text(encoding="utf-8").strip()
            except (OSError, UnicodeDecodeError):
                raise InvalidConfig("service_client_secret_file", hint="cannot be read") from None
        return Client(
            issuer=self.issuer,
            client_id=self.client_id,
            secret=secret,
            url=self.url,
            scope=self.scope,
            ends_session=self.sign_out_there,
        )


def own_machine(settings: Settings, user: str) -> Principal:
    """Return the principal of calls without a credential where one person's machine serves that person alone."""
    return Principal(tenant=settings.tenant, user=user, roles=frozenset(Role), key_id="own-machine")


async def require_safe(settings: Settings, service: ServiceSettings, *, opened: bool) -> bool:
    """Refuse to be reached by others without authentication; return True if users can sign in, or need not. Raises
    InvalidConfig (`service_host`, `service_keys`): open to others, or reachable by others before there is any key or
    provider.
    """
    alone = is_loopback(service.host)
    if opened and not alone:
        raise InvalidConfig("service_host", hint="without authentication the service listens at 127.0.0.1 only")
    enters = opened or await _can_sign_in(settings, service)
    if not enters and not alone:
        raise InvalidConfig("service_keys", hint="make a key first: mnemic apikeys create --role admin")
    return enters


async def _can_sign_in(settings: Settings, service: ServiceSettings) -> bool:
    """Return True if there is a provider or at least one API key."""
    if service.jwks is not None:
        return True
    async with build_engine(settings) as engine:
        return await ApiKeys(engine.store, SystemClock()).any()


ACCEPTED_AT_ONCE = 16
"""New connections that are taken before the event loop turns to others: a crowd that comes together is no pause."""
WAITING = 2048
"""Number of new connections that the system queues meanwhile."""


class _Draining(uvicorn.Server):
    """A server that ends its streams when it stops, so that only requests are waited for; that keeps what lasts; and
    that makes the `last` calls before the signal that stopped it ends the process.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        streams: Streams,
        ready: Callable[[], None] | None = None,
        last: Sequence[Callable[[], object]] = (),
    ) -> None:
        super().__init__(config)
        self._streams, self._ready, self._last = streams, ready, last

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals(), ExitStack() as calls:
            for last in reversed(self._last):
                calls.callback(last)
            yield

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        for listening in (one for server in self.servers for one in server.sockets):
            # asyncio accepts as many connections in one turn of the loop as its backlog allows. A second listen()
            # raises the kernel's queue without raising that; the descriptor is duplicated because closing `same` must
            # not close the listener.
            with socket(fileno=os.dup(listening.fileno())) as same:
                same.listen(WAITING)
                if self._ready is None:
                    _say_where(*same.getsockname()[:2])
        keep_what_lasts()
        if self._ready is not None:
            self._ready()

    async def shutdown(self, sockets: list[socket] | None = None) -> None:
        self._streams.stopping.set()
        await super().shutdown(sockets)


def _say_where(host: str, port: int) -> None:
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    said = "the console is at %s/console, the reference of the API at %s/docs"
    logging.getLogger("mnemic.service").info(said, address, address)


def serve(settings: Settings, service: ServiceSettings, *, open_to: Principal | None = None) -> None:
    """Serve until a stop signal; then streams end, and running requests get `drain_seconds`. Raises InvalidConfig."""
    if service.workers == 1:
        _serve(settings, service, open_to)
        return
    from mnemic_server.workers import listen, supervise

    if "memory:" in (settings.store, settings.sessions):
        hint = "workers share no memory: name a file or a server as MNEMIC_STORE, and Redis as MNEMIC_SESSIONS"
        raise InvalidConfig("service_workers", hint=hint)
    lines = configure(as_json=service.log == "json")
    with listen(service.host, service.port, backlog=WAITING) as listening:
        _say_where(*listening.getsockname()[:2])
        work = partial(_serve, settings, service, open_to)
        supervise(work, listening, count=service.workers, drain_seconds=service.drain_seconds)
    lines.flush()


def _serve(
    settings: Settings,
    service: ServiceSettings,
    open_to: Principal | None,
    listening: socket | None = None,
    ready: Callable[[], None] | None = None,
) -> None:
    """Serve in this process: where the settings say, or as one of several at `listening`; `ready` is called then."""
    # For the whole process, so only the command sets it, never the library.
    sys.setswitchinterval(SLICE_SECONDS)
    lines, streams, meter = configure(as_json=service.log == "json"), Streams(), Meter()
    telemetry, shown = _telemetry(meter), settings_in_force(settings, service)
    log = RequestLog(slow_ms=service.slow_ms, all_of_them=service.log_requests)
    app = create_app(
        build_engine(settings),
        provider=service.provider(settings.tenant),
        client=service.client(),
        open_to=open_to,
        home=settings.tenant,
        url=service.url,
        origins=service.origins(),
        bounds=service.bounds(),
        **service.rates() | {"settings": shown},
        profiles=lambda agent: build_profile(settings, agent),
        streams=streams,
        meter=meter,
        observers=[log] if telemetry is None else [log, telemetry],
    )
    config = _config(app, service, at_once=ACCEPTED_AT_ONCE if listening is None else 1)
    last: list[Callable[[], object]] = [lines.flush, *([] if telemetry is None else [telemetry.close])]
    server = _Draining(config, streams, ready, last)
    server.run([listening] if listening is not None else None)
    if not server.started:
        raise InvalidConfig("service_host", hint="the service could not start there; the lines above say why")


def _config(app: ASGIApp, service: ServiceSettings, *, at_once: int) -> uvicorn.Config:
    """Return the server's settings. One of several workers takes one connection `at_once`: more would be none for the
    others.
    """
    return uvicorn.Config(
        app,
        host=service.host,
        port=service.port,
        http=partial(Protocol, kept=service.kept()),  # type: ignore[arg-type]
        forwarded_allow_ips=service.proxies,
        # Requests are logged by `RequestLog`, without queries and bodies.
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=service.drain_seconds,
        timeout_keep_alive=service.keep_alive_seconds,
        backlog=at_once,
        log_config=None,
    )


def _telemetry(meter: Meter) -> Telemetry | None:
    """Return the export of OpenTelemetry, where the environment names a receiver. Raises InvalidConfig (`otel`)."""
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        from mnemic_server.telemetry import Telemetry
    except ModuleNotFoundError as missing:
        raise InvalidConfig("otel", hint="pip install 'mnemic[otel]'") from missing
    return Telemetry(meter)
