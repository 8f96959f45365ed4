"""Start of the service: on this machine only and with authentication, unless explicitly configured otherwise."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from socket import socket
from typing import TYPE_CHECKING

import uvicorn

from mnemic.bootstrap import build_engine, build_profile
from mnemic.cli.server_log import configure
from mnemic.config import Settings
from mnemic.errors import InvalidConfig
from mnemic.plugins.extras import missing_extra
from mnemic.runtime.clock import SystemClock
from mnemic_server.app import create_app
from mnemic_server.credentials import ApiKeys, Principal, Role
from mnemic_server.gc_freeze import keep_what_lasts
from mnemic_server.http_protocol import Protocol
from mnemic_server.logs import RequestLog
from mnemic_server.loopback import is_loopback
from mnemic_server.prometheus_metrics import Meter
from mnemic_server.service_settings import ServiceSettings
from mnemic_server.settings_in_force import settings_in_force
from mnemic_server.streams import Streams
from mnemic_server.workers import listen, supervise

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from mnemic_server.telemetry import Telemetry

SLICE_SECONDS = 0.0005
"""Seconds for which a thread computes before another may. A short request would wait for Python's own 5 ms at each
intermediate step of a costly one; figures are in bench/performance.md.
"""


def own_machine(settings: Settings, user: str) -> Principal:
    """Return the principal of calls without a credential on a machine that serves one person alone."""
    return Principal(tenant=settings.tenant, user=user, roles=frozenset(Role), key_id="own-machine")


async def require_safe(settings: Settings, service: ServiceSettings, *, opened: bool) -> bool:
    """Refuse remote access without authentication; return True if users can sign in, or need not. Raises InvalidConfig
    (`service_host`, `service_keys`): open to others, or reachable by others before there is any key or provider.
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
"""New connections accepted in one turn of the event loop: a burst of them causes no pause."""
WAITING = 2048
"""Number of new connections that the system queues meanwhile."""


class _Draining(uvicorn.Server):
    """A server that ends its streams when it stops, so that it waits for requests only; that freezes long-lived
    objects; and that makes the `last` calls before the signal that stopped it ends the process.
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
        # Checked before anything is opened: uvicorn logs a taken port and exits.
        listen(service.host, service.port, backlog=1).close()
        _serve(settings, service, open_to)
        return
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
    """Serve in this process: at the address of the settings, or as one of several at `listening`; `ready` is called
    then.
    """
    # It affects the whole process, so only the command sets it, never the library.
    sys.setswitchinterval(SLICE_SECONDS)
    lines, streams, meter = configure(as_json=service.log == "json"), Streams(), Meter()
    telemetry, shown = _telemetry(meter), settings_in_force(settings, service)
    log = RequestLog(slow_ms=service.slow_ms, all_of_them=service.log_requests)
    engine = build_engine(settings)
    if telemetry is not None:
        telemetry.follow(engine)
    app = create_app(
        engine,
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
    """Return the server's settings. One of several workers accepts one connection `at_once`: with more none would be
    left for the others.
    """
    return uvicorn.Config(
        app,
        host=service.host,
        port=service.port,
        http=partial(Protocol, kept=service.connection_limits()),  # type: ignore[arg-type]
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
    """Return the export of OpenTelemetry, if the environment names a receiver. Raises MissingExtra
    (`invalid_config:otel`).
    """
    if not os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT") or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        from mnemic_server.telemetry import Telemetry
    except ModuleNotFoundError as missing:
        raise missing_extra("otel", setting="otel") from missing
    return Telemetry(meter)
