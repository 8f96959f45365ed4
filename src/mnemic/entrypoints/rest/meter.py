"""Counts and latencies of the service, for Prometheus. Labels are routes and statuses: never a tenant, user or text."""

from __future__ import annotations

import time

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_BUCKETS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0)


class Meter:
    """What one process has answered."""

    MEDIA_TYPE = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        labels = ("method", "route", "status")
        self.requests = Counter("mnemic_requests", "Requests answered.", labels, registry=self.registry)
        self.seconds = Histogram(
            "mnemic_request_seconds",
            "Time until the answer ended.",
            labels[:2],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self.running = Gauge("mnemic_requests_running", "Requests being answered.", registry=self.registry)

    def rendered(self) -> bytes:
        """Everything, in the text format."""
        return generate_latest(self.registry)


class Metered:
    """An ASGI layer that tells `meter` of every request."""

    def __init__(self, app: ASGIApp, meter: Meter) -> None:
        self._app = app
        self._meter = meter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = "500"

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        began = time.perf_counter()
        self._meter.running.inc()
        try:
            await self._app(scope, receive, watched)
        finally:
            self._meter.running.dec()
            route = getattr(scope.get("route"), "path", "unknown")
            self._meter.requests.labels(scope["method"], route, status).inc()
            self._meter.seconds.labels(scope["method"], route).observe(time.perf_counter() - began)
