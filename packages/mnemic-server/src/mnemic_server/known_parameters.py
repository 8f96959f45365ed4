"""Refusal of query parameters that a route does not have: ignored, a misspelt filter would return everything."""

from __future__ import annotations

from collections.abc import Iterator
from http import HTTPStatus

from fastapi import Request
from fastapi.dependencies.models import Dependant

from mnemic.errors import InvalidInput
from mnemic.policy.key_rules import did_you_mean
from mnemic_server.problems import Refusal
from mnemic_server.request_limits import REFUSED

_SHOWN = 64


async def require_known_parameters(request: Request) -> None:
    """Refuse with 422 a request whose query has a parameter that its route does not have, and name it. A credential
    that is refused comes first.
    """
    if not request.url.query or REFUSED in request.scope.get("state", {}):
        return
    known = set(_parameters(request.scope["route"].dependant))
    unknown = next((name for name in request.query_params if name not in known), None)
    if unknown is not None:
        detail = f"no query parameter {unknown[:_SHOWN]!r} here; {did_you_mean(unknown, known)}"
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, InvalidInput("query:unknown").reason, detail=detail)


def _parameters(dependant: Dependant) -> Iterator[str]:
    yield from (parameter.alias for parameter in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _parameters(inner)
