"""Changes, as they happen: server-sent events that can be taken up again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request

from mnemic.types import AuditEvent, Scope
from mnemic_server.access import TheService, Watching, credential_of, require_role, require_user
from mnemic_server.credentials import Principal, Role
from mnemic_server.streams import DESCRIBED, EventStream, changes

router = APIRouter(prefix="/v1", tags=["changes"])


@router.get("/changes", response_class=EventStream, responses=DESCRIBED)
async def watch(
    request: Request,
    principal: Watching,
    service: TheService,
    whole_tenant: Annotated[bool, Query(description="Everybody's; for reviewers and operators.")] = False,
    after: Annotated[
        int | None, Query(ge=0, le=2**53, description="Continue after this event; without it, from now on.")
    ] = None,
    last_event_id: Annotated[str | None, Header(alias="Last-Event-ID", pattern=r"^\d{1,15}$")] = None,
) -> EventStream:
    """Stream changes of memories. Stream each change of the caller's memories as an event `change` without any content:
    the action, the memory and its version. To resume after an interruption, also with another process, send the last
    event's id as `Last-Event-ID`.
    """
    seen = _seen_by(principal, whole_tenant, service.engine.reach(principal.actor))
    start = int(last_event_id) if last_event_id is not None else after

    async def still_allowed() -> bool:
        now = await credential_of(request, service)
        if now is None or now.roles != principal.roles:
            return False
        return not (await service.tenancy.tenant_state(now.tenant)).suspended

    async def events() -> AsyncIterator[bytes]:
        with service.streams.place(principal.caller, principal.tenant):
            result = changes(
                service.engine.store,
                principal.tenant,
                seen,
                service.streams,
                after=start,
                still_allowed=still_allowed,
            )
            async for event in result:
                yield event

    stream = events()
    return EventStream(_begin_events(await anext(stream), stream))


async def _begin_events(first: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Yield the events once the first was waited for, so that a refusal is an answer and no broken stream."""
    yield first
    async for event in rest:
        yield event


def _seen_by(principal: Principal, whole_tenant: bool, scopes: tuple[Scope, ...]) -> Any:
    """Return a function that renders a line for a caller: of the own scopes, or as a steward of the tenant."""
    if whole_tenant:
        require_role(principal, Role.REVIEWER, Role.OPERATOR)
    else:
        require_user(principal)

    def shown(event: AuditEvent) -> dict[str, Any] | None:
        if event.memory_id is None or event.scope is None or not (whole_tenant or event.scope in scopes):
            return None
        return {
            "sequence": event.sequence,
            "action": event.action,
            "at": event.at.isoformat(),
            "level": event.scope.level.value,
            "memory_id": event.memory_id,
            "version": event.version,
        }

    return shown
