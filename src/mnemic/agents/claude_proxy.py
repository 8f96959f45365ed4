"""A server on the loopback between Claude's command line and the model's server.

Requests and answers pass as they are, streams word by word; only the bodies of calls to the model may be changed. Its
address contains a secret, so that no other program of the machine can have memories added to its calls. A key that the
command line sends goes to the server that it was meant for, and nowhere else.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx2
import uvicorn
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

Changed = Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]
"""Returns the body of a call to the model with additions."""

_OF_THE_CONNECTION = frozenset(
    {"host", "connection", "keep-alive", "content-length", "transfer-encoding", "upgrade", "te", "trailer"}
)
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")


@asynccontextmanager
async def serving(upstream: str, changed: Changed) -> AsyncIterator[str]:
    """Yield the address of a server that passes calls on to `upstream`, until the block ends."""
    secret = secrets.token_urlsafe(24)
    async with httpx2.AsyncClient(timeout=None) as http:

        async def forward(request: Request) -> Response:
            body = await request.body()
            if request.method == "POST" and request.path_params["path"] == "v1/messages":
                body = await _add_block(body, changed)
            url = f"{upstream.rstrip('/')}/{request.path_params['path']}"
            query = request.url.query
            headers = _own(request.headers.items())
            ask = http.build_request(
                request.method, f"{url}?{query}" if query else url, headers=headers, content=body or None
            )
            try:
                answer = await http.send(ask, stream=True)
            except httpx2.HTTPError as failure:
                return JSONResponse({"error": {"type": "api_error", "message": type(failure).__name__}}, 502)
            return StreamingResponse(
                answer.aiter_raw(),
                answer.status_code,
                dict(_own(answer.headers.items())),
                background=BackgroundTask(answer.aclose),
            )

        app = Starlette(routes=[Route(f"/{secret}/{{path:path}}", forward, methods=list(_METHODS))])
        with socket.create_server(("127.0.0.1", 0)) as listening:
            config = uvicorn.Config(
                app, log_level="critical", access_log=False, lifespan="off", timeout_graceful_shutdown=1
            )
            server = _Server(config)
            running = asyncio.create_task(server.serve(sockets=[listening]))
            try:  # a connection that comes before the server runs waits in the socket
                yield f"http://127.0.0.1:{listening.getsockname()[1]}/{secret}"
            finally:
                server.should_exit = True
                await running


class _Server(uvicorn.Server):
    """A server inside another program, which handles the signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


async def _add_block(body: bytes, changed: Changed) -> bytes:
    """Return the body of a call with the block added; an unreadable one passes unchanged."""
    try:
        given = json.loads(body)
    except ValueError:
        return body
    if not isinstance(given, dict):
        return body
    after = await changed(given)
    return body if after is given else json.dumps(after, ensure_ascii=False).encode()


def _own(headers: Any) -> list[tuple[str, str]]:
    return [(name, value) for name, value in headers if name.lower() not in _OF_THE_CONNECTION]
