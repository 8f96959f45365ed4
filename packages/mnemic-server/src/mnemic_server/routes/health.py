"""For monitoring: liveness and readiness without a credential, metrics for operators. None names a user."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse

from mnemic.errors import MnemicError
from mnemic.maintenance.tenant_registry import SERVICE_TENANT
from mnemic_server.access import AnyService, principal_of, require_role
from mnemic_server.credentials import Role
from mnemic_server.operations_response_bodies import StatusResponse
from mnemic_server.response_bodies import answering

router = APIRouter(tags=["health"])


@router.get("/healthz", **answering(StatusResponse))
async def alive() -> dict[str, Any]:
    """Check that the process answers."""
    return {"status": "ok"}


@router.get(
    "/readyz",
    response_model=Any,
    responses={
        200: {"model": StatusResponse, "description": "Ready."},
        503: {"model": StatusResponse, "description": "Not ready: the store does not answer."},
    },
)
async def ready(service: AnyService, response: Response) -> dict[str, Any]:
    """Check that the store answers."""
    try:
        await service.engine.store.marks(SERVICE_TENANT, "ready:")
    except MnemicError as failure:
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
        return {"status": "failed", "reason": failure.reason}
    return {"status": "ok"}


# Health checks of containers and monitors ask for the head alone.
for _path, _answer in (("/healthz", alive), ("/readyz", ready)):
    router.add_api_route(_path, _answer, methods=["HEAD"], include_in_schema=False, response_model=Any)


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request, service: AnyService) -> PlainTextResponse:
    """Get metrics for Prometheus. Return counts and latencies in Prometheus' text format, to a credential with the role
    `operator`; with `MNEMIC_SERVICE_OPEN_METRICS` to anybody.
    """
    if not service.open_metrics:
        require_role(await principal_of(request, service), Role.OPERATOR)
    return PlainTextResponse(service.meter.render_text(), media_type=service.meter.MEDIA_TYPE)
