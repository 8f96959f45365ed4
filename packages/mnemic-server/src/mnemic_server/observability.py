"""Observation of every answered request, for metrics, log and traces.

An observation contains a route's pattern and never its parameters, so that no name, identifier or text can leak through
it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemic_server.login_throttle import CALLER


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Observation of an answered request. Times are nanoseconds since 1970; `traceparent` comes from the caller's
    tracing. `caller` (the id of the presented key) and `address` are only for the log of the service.
    """

    method: str
    route: str
    status: int
    began: int
    ended: int
    traceparent: str | None = field(default=None, repr=False)
    caller: str | None = field(default=None, repr=False)
    address: str | None = field(default=None, repr=False)

    @property
    def seconds(self) -> float:
        """Seconds until the answer ended."""
        return (self.ended - self.began) / 1e9


class Observer(Protocol):
    """Observer of requests; it must neither block nor raise."""

    def began(self, traceparent: str | None) -> None:
        """Take note of a received request, and of the caller's trace. The request is answered in the same context."""

    def on_end(self, seen: Observation) -> None:
        """Count a request that was answered."""


class ObservingMiddleware:
    """ASGI middleware that notifies the observers of every request."""

    def __init__(self, app: ASGIApp, observers: Sequence[Observer]) -> None:
        self._app = app
        self._observers = observers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = 500

        async def watch_send(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        began, clock, traceparent = time.time_ns(), time.perf_counter_ns(), _header(scope, b"traceparent")
        for observer in self._observers:
            observer.began(traceparent)
        try:
            await self._app(scope, receive, watch_send)
        finally:
            seen = Observation(
                method=scope["method"] if scope["method"] in _METHODS else "OTHER",
                route=getattr(scope.get("route"), "path", None) or "unknown",
                status=status,
                began=began,
                ended=began + time.perf_counter_ns() - clock,
                traceparent=traceparent,
                caller=scope.get("state", {}).get(CALLER),
                address=(scope.get("client") or (None,))[0],
            )
            for observer in self._observers:
                observer.on_end(seen)


_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


def _header(scope: Scope, name: bytes) -> str | None:
    value = next((value for known, value in scope["headers"] if known == name), None)
    return None if value is None else value.decode("latin-1")[:200]
