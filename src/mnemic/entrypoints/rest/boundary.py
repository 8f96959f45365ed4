"""What is refused before anything is parsed: bodies too large, too deep or no strict JSON, and too many calls.

An ASGI layer around the application. It reads a body whole, bounded by `max_bytes`, and hands it on unchanged, with
what it says, so that nobody parses it again. Of a sender who has not shown a credential it reads no more than
`stranger_bytes`; of one who has, a larger body is counted before it is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemic.entrypoints.rest.problems import Refused, problem
from mnemic.guard import strict_json

OPEN_ENDED = frozenset({"/v1/export", "/v1/changes", "/v1/runs/stream"})
"""Streams: they end when they are done, not at a deadline. A turn has a budget of its own."""
COUNTED_APART = frozenset({"/v1/changes"})
"""They stay open for as long as somebody listens, and have limits of their own."""

MAX_VALUES = 50_000
"""Of one body: the largest batch, 500 memories, may hold a hundred each."""
QUICK_BYTES = 8 * 1024
"""A larger body is checked beside the event loop, one at a time: what is made to be slow takes up to a tenth of a
microsecond a byte, in which nobody else would be answered.
"""
BODY_BYTES = "body_bytes"
"""Where a request's `state` says how large its body was."""
BODY_VALUE = "body_value"
"""Where it has what the body says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Of one request: bytes of what follows its `?`, of its body (and of one without a credential), seconds until it
    must be answered; and how many may be answered at once.
    """

    query_bytes: int = 16 * 1024
    max_bytes: int = 2 * 1024 * 1024
    stranger_bytes: int = 4 * 1024
    seconds: float = 30.0
    at_once: int = 64


Admit = Callable[[HTTPConnection, int], Awaitable[object]]


class Boundary:
    """The layer. Refuses with 400, 401, 413, 414, 429 or 503 and a problem that says why. `admit` is asked before a
    body of so many bytes is read; it raises Refused for a credential that opens nothing, or too often.
    """

    def __init__(self, app: ASGIApp, bounds: Bounds | None = None, *, admit: Admit) -> None:
        self._app = app
        self._bounds = bounds or Bounds()
        self._admit = admit
        self._running = 0
        self._checking = asyncio.Lock()

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
        try:
            body = await self._body(scope, receive)
        except Refused as flaw:
            await problem(flaw.status, flaw.reason, headers=flaw.headers)(scope, receive, send)
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

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body, a strict JSON text. Raises Refused as soon as it is known to be none that is taken."""
        if len(scope["query_string"]) > self._bounds.query_bytes:
            raise Refused(HTTPStatus.REQUEST_URI_TOO_LONG, "invalid_input:query:too_large")
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        size = int(declared) if declared.isdigit() else 0
        known = await self._require_taken(scope, size, known=False)
        body = bytearray()
        more = True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
            known = await self._require_taken(scope, len(body), known=known)
        state = scope.setdefault("state", {})
        state[BODY_BYTES] = len(body)
        if body and scope["method"] not in ("GET", "HEAD"):
            state[BODY_VALUE] = await self._value(body)
        return bytes(body)

    async def _value(self, body: bytearray) -> object:
        if len(body) <= QUICK_BYTES:
            return _strict(body)
        async with self._checking:
            return await asyncio.to_thread(_strict, body)

    async def _require_taken(self, scope: Scope, size: int, *, known: bool) -> bool:
        """Refuse a body of `size` bytes where it is too large for its sender; whether the sender had to be known."""
        if size > self._bounds.max_bytes:
            raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "invalid_input:body:too_large")
        if known or size <= self._bounds.stranger_bytes:
            return known
        await self._admit(HTTPConnection(scope), size)
        return True


def _strict(body: bytes | bytearray) -> object:
    """What a body says. Refuses one that is not JSON which can be handed on."""
    try:
        return strict_json.loads(body.decode("utf-8"), max_bytes=len(body), max_values=MAX_VALUES)
    except UnicodeDecodeError as error:
        raise Refused(HTTPStatus.BAD_REQUEST, "invalid_input:body:encoding") from error
    except strict_json.NotStrictJson as error:
        raise Refused(HTTPStatus.BAD_REQUEST, "invalid_input:json") from error


def _replayed(body: bytes, receive: Receive) -> Receive:
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
