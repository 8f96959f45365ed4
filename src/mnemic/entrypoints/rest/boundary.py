"""What is refused before anything is parsed: bodies too large, too deep or no strict JSON, and too many calls.

An ASGI layer around the application. It reads a body whole, bounded by `max_bytes`, and hands it on unchanged.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemic.entrypoints.rest.problems import problem
from mnemic.guard import strict_json

OPEN_ENDED = frozenset({"/v1/export", "/v1/changes", "/v1/runs/stream"})
"""Streams: they end when they are done, not at a deadline. A turn has a budget of its own."""
COUNTED_APART = frozenset({"/v1/changes"})
"""They stay open for as long as somebody listens, and have limits of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Of one request: bytes of its body, seconds until it must be answered; and how many may be answered at once."""

    max_bytes: int = 2 * 1024 * 1024
    seconds: float = 30.0
    at_once: int = 64


class Boundary:
    """The layer. Refuses with 400, 413, 429 or 503 and a problem that says why."""

    def __init__(self, app: ASGIApp, bounds: Bounds | None = None) -> None:
        self._app = app
        self._bounds = bounds or Bounds()
        self._running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["path"] in COUNTED_APART:
            await self._answer(scope, receive, send)
            return
        if self._running >= self._bounds.at_once and scope["path"].startswith(("/v1/", "/mcp")):
            busy = problem(HTTPStatus.TOO_MANY_REQUESTS, "too_many_requests", headers={"Retry-After": "1"})
            await busy(scope, receive, send)
            return
        self._running += 1
        try:
            await self._answer(scope, receive, send)
        finally:
            self._running -= 1

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await self._body(scope, receive)
        reason = "body:too_large" if body is None else _flaw(scope, body)
        if body is None or reason is not None:
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if body is None else HTTPStatus.BAD_REQUEST
            await problem(status, f"invalid_input:{reason}")(scope, receive, send)
            return
        started = asyncio.Event()

        async def watched(message: Message) -> None:
            started.set()
            await send(message)

        try:
            async with asyncio.timeout(None if scope["path"] in OPEN_ENDED else self._bounds.seconds):
                await self._app(scope, _replayed(body, receive), watched)
        except TimeoutError:
            if not started.is_set():
                late = problem(HTTPStatus.SERVICE_UNAVAILABLE, "max_seconds", headers={"Retry-After": "1"})
                await late(scope, receive, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The whole body, or None as soon as it is known to be too large."""
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if declared.isdigit() and int(declared) > self._bounds.max_bytes:
            return None
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return b"".join(parts)
            part = message.get("body", b"")
            size += len(part)
            if size > self._bounds.max_bytes:
                return None
            parts.append(part)
            if not message.get("more_body", False):
                return b"".join(parts)


def _flaw(scope: Scope, body: bytes) -> str | None:
    """Why the body of a request is not JSON that can be handed on, or None."""
    if not body or scope["method"] in ("GET", "HEAD"):
        return None
    try:
        strict_json.loads(body.decode("utf-8"), max_bytes=len(body))
    except UnicodeDecodeError:
        return "body:encoding"
    except strict_json.NotStrictJson:
        return "json"
    return None


def _replayed(body: bytes, receive: Receive) -> Receive:
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
