"""Routes that take a body as the boundary has parsed it: parsed again, a large one would stop the event loop."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from mnemic_server.request_limits import BODY_VALUE


class ParsedBodyRoute(APIRoute):
    """Route that reuses the body parsed by the request limits instead of parsing it again."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler for a request with a parsed body."""
        handle = super().get_route_handler()

        async def handle_request(request: Request) -> Response:
            return await handle(_ParsedRequest(request.scope, request.receive))

        return handle_request


class _ParsedRequest(Request):
    async def json(self) -> Any:
        state = self.scope.get("state", {})
        return state[BODY_VALUE] if BODY_VALUE in state else await super().json()
