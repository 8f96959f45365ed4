"""Limits on requests before they are parsed: bodies that are too large, too deep or not strict JSON, and too many
requests at once. Rates per second are in `rate_limit`.

An ASGI middleware around the application. It reads a body whole, bounded by `max_bytes`, and passes it on unchanged
together with the parsed value, so that it is parsed once. Without a valid credential it reads at most `stranger_bytes`;
with one, a larger body is charged before it is read. A request takes a slot only once it is complete and its credential
is known: endless and unauthenticated requests take none.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from http import HTTPStatus
from time import monotonic

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from mnemic.errors import InvalidInput
from mnemic.policy import strict_json
from mnemic.types import Deadline
from mnemic_server.concurrency_shares import ConcurrencyLimit
from mnemic_server.credentials import Principal
from mnemic_server.problems import Refusal, problem
from mnemic_server.service_reason_codes import NOT_FOUND, REQUEST_TIMEOUT

OPEN_ENDED = frozenset(
    {"/v1/export", "/v1/export/subject", "/v1/changes", "/v1/runs/stream", "/v1/erasures/verification"}
)
"""Routes that end when they are done, not at a deadline: streams, and scans for erased data in a store of any size
file. A turn has a separate budget.
"""
COUNTED_APART = frozenset({"/v1/changes"})
"""Routes that stay open as long as the client listens, and have separate limits."""
MODEL_BOUND = (
    "/mcp",
    "/v1/capture",
    "/v1/remember",
    "/v1/runs",
    "/v1/imports",
    "/v1/uploads",
    "/v1/maintenance",
    "/v1/consolidations",
    "/v1/rereads",
    "/v1/entities/extract",
    "/v1/session/compaction",
    "/v1/structured/extract",
    "/v1/structured/capture",
)
"""Routes that may wait for a language model, each with everything below it. One that hangs uses their own slots, and
delays neither writes nor searches.
"""

MAX_VALUES = 50_000
"""Maximum number of values in a body: the largest batch, 500 memories, may have a hundred each."""
QUICK_BYTES = 8 * 1024
"""Size from which a body is validated off the event loop, one at a time: a malicious one takes up to a tenth of a
microsecond a byte, in which no other request would be answered.
"""
BODY_BYTES = "body_bytes"
"""The name in a request's `state` of the size of its body, in bytes."""
BODY_VALUE = "body_value"
"""The name of the parsed body."""
DEADLINE = "deadline"
"""Name of the deadline of answers in parts, so that they can tell which parts are done."""
IN_PARTS = 0.8
"""Share of a request's seconds for such a call."""
REFUSED = "refused"
"""The name of the reason for which the request's credential is refused."""
_BODY_READ = "body_read"
_CLOSE = {"Connection": "close"}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """Limits of one request: bytes of its query string, of its body (and of one without a credential), seconds until it
    must be answered; number of requests answered at once, and of additional ones that may wait for a language model.
    """

    query_bytes: int = 16 * 1024
    max_bytes: int = 2 * 1024 * 1024
    stranger_bytes: int = 4 * 1024
    seconds: float = 30.0
    at_once: int = 64
    models_at_once: int = 32


Admit = Callable[[HTTPConnection, int], Awaitable[Principal]]


class LimitMiddleware:
    """Middleware. Refuses with 400, 401, 404, 408, 413, 414, 429 or 503 and a problem that gives the reason. `admit`
    returns the principal of a request's credential before a body of the given size is read; it raises Refused for an
    invalid credential, or for too many calls.
    """

    def __init__(self, app: ASGIApp, bounds: RequestLimits | None = None, *, admit: Admit) -> None:
        self._app = app
        self._bounds = bounds or RequestLimits()
        self._admit = admit
        self._requests = ConcurrencyLimit(most=self._bounds.at_once)
        self._models = ConcurrencyLimit(most=self._bounds.models_at_once)
        self._large = ConcurrencyLimit(most=self._bounds.at_once)
        self._checking = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with ExitStack() as places:
            try:
                # Read the body before taking a slot: a slow upload must not take a slot from complete requests.
                body = await self._body(scope, receive)
                await self._take_place(scope, len(body), places)
                state = scope["state"]
                if body and scope["method"] not in ("GET", "HEAD"):
                    state[BODY_VALUE] = await self._value(body)
            except Refusal as flaw:
                # The unread rest would be parsed as the next request.
                headers = flaw.headers if _BODY_READ in scope.get("state", {}) else {**flaw.headers, **_CLOSE}
                await problem(flaw.status, flaw.reason, flaw.detail, headers)(scope, receive, send)
                return
            await self._answer(scope, bytes(body), receive, send)

    async def _take_place(self, scope: Scope, size: int, places: ExitStack) -> None:
        """Take a slot for a complete request. Raises Refused if there are too many. One without a valid credential
        takes none: its route refuses it, so that it is counted under that route.
        """
        path = scope["path"]
        # Health checks and static files need no slot, so that a busy service still answers its monitoring.
        if path in COUNTED_APART or not path.startswith(("/v1/", "/mcp")):
            return
        try:
            principal = await self._admit(HTTPConnection(scope), size)
        except Refusal as flaw:
            # The route refuses it, so that metrics count it under its route.
            scope["state"][REFUSED] = flaw
            return
        shares = self._models if _may_wait_for_model(scope) else self._requests
        places.enter_context(shares.place(principal.tenant, principal.caller))

    async def _answer(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        started = asyncio.Event()

        async def watch_send(message: Message) -> None:
            started.set()
            await send(message)

        seconds = None if _open_ended(scope) else self._bounds.seconds
        if seconds is not None:
            within = timedelta(seconds=IN_PARTS * seconds)
            scope.setdefault("state", {})[DEADLINE] = Deadline.after(within, monotonic)
        try:
            async with asyncio.timeout(seconds):
                await self._app(scope, _replay_body(body, receive), watch_send)
        except TimeoutError:
            # A response that has started cannot be replaced; the connection is ended.
            if not started.is_set():
                late = problem(HTTPStatus.SERVICE_UNAVAILABLE, "max_seconds", headers={"Retry-After": "1"})
                await late(scope, receive, send)

    async def _body(self, scope: Scope, receive: Receive) -> bytearray:
        """Return the whole body. Raises Refused as soon as it is known to be unacceptable, and if it does not end."""
        if b"%2f" in scope.get("raw_path", b"").lower():
            # No route has one. A proxy may have checked the address by its slashes, which it reads differently.
            raise Refusal(HTTPStatus.NOT_FOUND, NOT_FOUND)
        if len(scope["query_string"]) > self._bounds.query_bytes:
            raise Refusal(HTTPStatus.REQUEST_URI_TOO_LONG, InvalidInput("query:too_large").reason)
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        size = int(declared) if declared.isdigit() else 0
        body = bytearray()
        with ExitStack() as large:
            known = await self._require_taken(scope, size, large, known=False)
            more = True
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Refusal(HTTPStatus.REQUEST_TIMEOUT, REQUEST_TIMEOUT)
                body += message.get("body", b"")
                more = message.get("more_body", False)
                known = await self._require_taken(scope, len(body), large, known=known)
        state = scope.setdefault("state", {})
        state[BODY_BYTES], state[_BODY_READ] = len(body), True
        return body

    async def _value(self, body: bytearray) -> object:
        # Most bodies are small; a thread would cost more than parsing.
        if len(body) <= QUICK_BYTES:
            return _strict(body)
        # One large body at a time: several threads would compete for the interpreter lock with the event loop.
        async with self._checking:
            return await asyncio.to_thread(_strict, body)

    async def _require_taken(self, scope: Scope, size: int, large: ExitStack, *, known: bool) -> bool:
        """Refuse a body of `size` bytes if it is too large for its sender, or one of too many that are being read;
        return whether its sender was authenticated.
        """
        if size > self._bounds.max_bytes:
            told = f"a body may have at most {self._bounds.max_bytes:,} bytes: send it in parts"
            raise Refusal(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, InvalidInput("body:too_large").reason, detail=told)
        # Only a larger body requires the credential before it is read: authentication reads the store.
        if known or size <= self._bounds.stranger_bytes:
            return known
        principal = await self._admit(HTTPConnection(scope), size)
        large.enter_context(self._large.place(principal.tenant, principal.caller))
        return True


def _open_ended(scope: Scope) -> bool:
    """Return True for a request that may take long: revoking a consent may erase the data under its key, and answers
    with the receipt.
    """
    revokes = scope["method"] == "DELETE" and scope["path"].startswith("/v1/consents/")
    return revokes or scope["path"] in OPEN_ENDED


def _may_wait_for_model(scope: Scope) -> bool:
    path = scope["path"].rstrip("/")
    return scope["method"] != "GET" and any(path == one or path.startswith(f"{one}/") for one in MODEL_BOUND)


def _strict(body: bytes | bytearray) -> object:
    """Parse a body. Refuses invalid JSON, and JSON that cannot be passed on."""
    try:
        return strict_json.loads(body.decode("utf-8"), max_bytes=len(body), max_values=MAX_VALUES)
    except UnicodeDecodeError as error:
        raise Refusal(HTTPStatus.BAD_REQUEST, InvalidInput("body:encoding").reason, detail="not UTF-8") from error
    except strict_json.NotStrictJson as error:
        place = f" at line {error.line} column {error.column}" if error.column else ""
        raise Refusal(HTTPStatus.BAD_REQUEST, InvalidInput("json").reason, detail=f"{error}{place}") from error


def _replay_body(body: bytes, receive: Receive) -> Receive:
    seen = False

    async def again() -> Message:
        nonlocal seen
        if seen:
            return await receive()
        seen = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
