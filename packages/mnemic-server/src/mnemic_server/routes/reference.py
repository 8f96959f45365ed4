"""The reference of the API as a page: Swagger UI over `/openapi.json`, from files of this installation alone."""

from __future__ import annotations

import asyncio
from functools import cache
from http import HTTPStatus
from importlib.resources import files

from fastapi import APIRouter, Request, Response

from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.problems import Refusal
from mnemic_server.service_reason_codes import NOT_FOUND
from mnemic_server.static_files import StaticFile

router = APIRouter(include_in_schema=False, route_class=ParsedBodyRoute)

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Content-Security-Policy of the page: nothing is loaded from another host, and no request goes to one."""
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@router.get("/docs")
@router.get("/docs/{name}")
async def page(request: Request, name: str = "index.html") -> Response:
    """Return the page, or a file of it. It contains no user data and needs no credential."""
    found = (await asyncio.to_thread(_files)).get(name)
    if found is None:
        raise Refusal(HTTPStatus.NOT_FOUND, NOT_FOUND)
    return found.answer(request.headers, _HEADERS)


@cache
def _files() -> dict[str, StaticFile]:
    """Return the page's own files and those of Swagger UI."""
    own, theirs = files("mnemic_server") / "api_reference", files("fastapi_offline") / "static"
    entries = [*own.iterdir(), *(theirs / name for name in ("swagger-ui-bundle.js", "swagger-ui.css"))]
    read = {entry.name: StaticFile.read(entry) for entry in entries}
    return {name: file for name, file in read.items() if file is not None}
