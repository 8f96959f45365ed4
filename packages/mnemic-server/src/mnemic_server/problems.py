"""Errors as a caller sees them: RFC 9457, with mnemic's stable `reason` in it and never any content."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from mnemic import errors
from mnemic.errors import MnemicError
from mnemic.policy.key_rules import did_you_mean
from mnemic.runtime.sync_facade import MEANT
from mnemic_server.service_reason_codes import INTERNAL_ERROR, UNAUTHENTICATED, USER_REQUIRED

_log = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

# The first match wins: a subclass must precede its base (StoreFull before StoreFailed).
_STATUS: tuple[tuple[type[MnemicError], HTTPStatus], ...] = (
    (errors.MemoryNotFound, HTTPStatus.NOT_FOUND),
    (errors.VersionConflict, HTTPStatus.CONFLICT),
    (errors.IdempotencyConflict, HTTPStatus.CONFLICT),
    (errors.ReviewDenied, HTTPStatus.FORBIDDEN),
    (errors.RevealDenied, HTTPStatus.FORBIDDEN),
    (errors.WriteBlocked, HTTPStatus.FORBIDDEN),
    (errors.ScopeDenied, HTTPStatus.FORBIDDEN),
    (errors.NotSupported, HTTPStatus.NOT_IMPLEMENTED),
    (errors.MissingExtra, HTTPStatus.NOT_IMPLEMENTED),
    (errors.StoreFull, HTTPStatus.INSUFFICIENT_STORAGE),
    (errors.StoreFailed, HTTPStatus.SERVICE_UNAVAILABLE),
    (errors.RerankerFailed, HTTPStatus.SERVICE_UNAVAILABLE),
    (errors.EmbedderFailed, HTTPStatus.SERVICE_UNAVAILABLE),
    (errors.BudgetSpent, HTTPStatus.SERVICE_UNAVAILABLE),
    (errors.ModelFailed, HTTPStatus.BAD_GATEWAY),
    (errors.InvalidInput, HTTPStatus.UNPROCESSABLE_ENTITY),
    (errors.InvalidConfig, HTTPStatus.UNPROCESSABLE_ENTITY),
    (errors.RunStopped, HTTPStatus.UNPROCESSABLE_ENTITY),
)
_RETRY_AFTER_SECONDS = 1
_NO_CREDENTIAL = (
    "no valid credential: send `Authorization: Bearer` with an API key or a token that is neither expired nor revoked"
)
_SHOWN = 64
_NO_JSON = "expected JSON, sent with `Content-Type: application/json`"


class Problem(BaseModel):
    """An error. `reason` is stable: programs branch on it."""

    type: str = "about:blank"
    title: str
    status: int = Field(ge=400, le=599)
    reason: str
    detail: str | None = None


class Refusal(Exception):
    """Refusal by the service itself, before the engine is asked."""

    def __init__(
        self, status: HTTPStatus, reason: str, *, detail: str | None = None, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.detail = detail
        self.headers = headers or {}


def unauthenticated_error() -> Refusal:
    """Return the common answer to every flaw of a credential."""
    headers = {"WWW-Authenticate": "Bearer"}
    return Refusal(HTTPStatus.UNAUTHORIZED, UNAUTHENTICATED, detail=_NO_CREDENTIAL, headers=headers)


def user_required() -> Refusal:
    """Return the answer to an application's key if a person is needed."""
    detail = "this key represents an application: issue a token for a user with POST /v1/tokens"
    return Refusal(HTTPStatus.FORBIDDEN, USER_REQUIRED, detail=detail)


def problem(
    status: HTTPStatus, reason: str, detail: str | None = None, headers: dict[str, str] | None = None
) -> JSONResponse:
    """Return an error as a response."""
    body = Problem(title=status.phrase, status=status.value, reason=reason, detail=detail)
    return JSONResponse(body.model_dump(), status_code=status.value, media_type=MEDIA_TYPE, headers=headers)


def status_of(failure: MnemicError) -> HTTPStatus:
    """Return the HTTP status of `failure`, by the action that a caller should take."""
    return next((status for kind, status in _STATUS if isinstance(failure, kind)), HTTPStatus.INTERNAL_SERVER_ERROR)


async def _engine_failure(_: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, MnemicError)
    status = status_of(failure)
    waits = {HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.BAD_GATEWAY}
    headers = {"Retry-After": str(_RETRY_AFTER_SECONDS)} if status in waits else None
    return problem(status, failure.reason, failure.hint, headers)


async def _refusal_response(_: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, Refusal)
    return problem(failure.status, failure.reason, failure.detail, failure.headers)


async def _invalid(request: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, RequestValidationError)
    first, place = _nearest(failure)
    status = HTTPStatus.BAD_REQUEST if first["type"] == "json_invalid" else HTTPStatus.UNPROCESSABLE_ENTITY
    reason = "json" if first["type"] == "json_invalid" else place
    # Without a content type, every model receives a body as bytes.
    unread = tuple(first["loc"]) == ("body",) and not _is_json(request)
    told = _NO_JSON if unread else _about_unknown_field(request, failure) or str(first["msg"])
    return problem(status, errors.InvalidInput(reason).reason, told)


def _nearest(failure: RequestValidationError) -> tuple[Mapping[str, Any], str]:
    """Return the first mistake and its place. Of a field with several forms, which are tried one after the other, it is
    the form that fits furthest into what was sent.
    """
    mistakes = [(one, _place(one, failure.body)) for one in failure.errors()]
    first = mistakes[0][1]
    within = [one for one in mistakes if one[1][: len(first)] == first]
    mistake, place = max(within, key=lambda one: len(one[1]))
    return mistake, ".".join(place) or str(mistake["loc"][0])


def _place(mistake: Mapping[str, Any], sent: object) -> list[str]:
    """Return the names and numbers that lead to a mistake, without the forms between them, which nobody has sent."""
    where, *parts = mistake["loc"]
    place: list[object] = []
    for number, part in enumerate(parts, start=1):
        is_missing = mistake["type"] == "missing" and number == len(parts)
        if where == "body" and not (is_missing and isinstance(sent, dict)):
            if not isinstance(sent, list | dict):
                break
            try:
                sent = sent[part]
            except (LookupError, TypeError):
                continue
        place.append(part)
    return [str(part) for part in place if _NAME.fullmatch(str(part))]


_NAME = re.compile(r"[a-z0-9_]{1,64}")
"""A field of a body, or a place in a list: no words of the caller's."""


def _about_unknown_field(request: Request, failure: RequestValidationError) -> str | None:
    """Return which field may be meant by one that the body does not have, and what is needed; None for another
    mistake, which comes first.
    """
    found = [(one["type"], str(one["loc"][1])) for one in failure.errors() if len(one["loc"]) == 2]
    unknown = next((name for kind, name in found if kind == "extra_forbidden"), None)
    body = getattr(request.scope.get("route"), "body_field", None)
    known = getattr(body and body.field_info.annotation, "model_fields", None)
    if unknown is None or known is None or failure.errors()[0]["type"] not in ("extra_forbidden", "missing"):
        return None
    meant = next((one for one in MEANT.get(unknown, ()) if one in known), None)
    needed = ", ".join(name for kind, name in found if kind == "missing")
    asked = f"did you mean {meant}?" if meant else did_you_mean(unknown, known)
    return f"no field {unknown[:_SHOWN]!r} here; {asked}" + (f"; needed: {needed}" if needed else "")


def _is_json(request: Request) -> bool:
    media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media == "application/json" or media.endswith("+json")


async def _http(request: Request, failure: Exception) -> JSONResponse:
    assert isinstance(failure, HTTPException)
    status = HTTPStatus(failure.status_code)
    headers = dict(failure.headers or {})
    return problem(status, status.name.lower(), _told(request, status, headers), headers)


def _told(request: Request, status: HTTPStatus, headers: Mapping[str, str]) -> str | None:
    """Return what to do about an address that there is not, or not for that method."""
    if status is HTTPStatus.NOT_FOUND:
        return "no such address: /openapi.json lists them, most begin with /v1"
    if status is HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = headers.get("allow") or headers.get("Allow")
        return f"{request.method} is not possible here" + (f", but {allowed}" if allowed else "")
    return None


async def _bug(_: Request, failure: Exception) -> JSONResponse:
    _log.error("internal error", extra={"error": type(failure).__name__})
    return problem(HTTPStatus.INTERNAL_SERVER_ERROR, INTERNAL_ERROR)


REPORTED = (MnemicError, Refusal, HTTPException)
"""Errors that are reported to the caller; any other is a bug of the service."""


async def error_response(request: Request, failure: MnemicError | Refusal | HTTPException) -> JSONResponse:
    """Return the response for an error."""
    if isinstance(failure, MnemicError):
        return await _engine_failure(request, failure)
    return await (_refusal_response if isinstance(failure, Refusal) else _http)(request, failure)


def install(app: FastAPI) -> None:
    """Every error of `app` as a problem."""
    app.add_exception_handler(MnemicError, _engine_failure)
    app.add_exception_handler(Refusal, _refusal_response)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _bug)
