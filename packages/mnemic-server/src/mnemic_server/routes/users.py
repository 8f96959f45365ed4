"""For operators who help people: the users with memories here, and the memories of one of them, for a stated reason."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field, StringConstraints

from mnemic.entrypoints.wire import memory_dict
from mnemic.maintain.consent import subject_token
from mnemic.types import Actor, Level, Status
from mnemic.unit_of_work import Mutation, apply
from mnemic_server.access import Operating, TheService
from mnemic_server.operations_response_bodies import UsersResponse
from mnemic_server.parsed_body_route import Parsed
from mnemic_server.request_bodies import Name, Strict
from mnemic_server.response_bodies import PageResponse, answering

router = APIRouter(prefix="/v1", tags=["operations"], route_class=Parsed)

READ_AT_ONCE = 500
"""Memories that one page of users is found in."""
Reason = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._#:/-]{2,63}$")]
"""Reason for reading a person's memories: a case number or a few plain words. The audit keeps it."""


class Opening(Strict):
    """User whose memories are to be read, the reason, and the page that is wanted."""

    user: Name
    reason: Reason
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    before: Name | None = None


@router.get("/users", **answering(UsersResponse))
async def users(
    principal: Operating,
    service: TheService,
    cursor: Annotated[str | None, Query(min_length=1, max_length=128, description="`next` of the page before.")] = None,
) -> dict[str, Any]:
    """List users of the tenant who have memories, with how many were counted on this page. A user may be on several
    pages: their memories are read in the order in which they were made.
    """
    page = await service.engine.store.scan(principal.tenant, statuses=[Status.ACTIVE], after=cursor, limit=READ_AT_ONCE)
    found: dict[str, tuple[int, datetime]] = {}
    for memory in page:
        if memory.scope.level == Level.USER:
            count, last = found.get(memory.scope.owner, (0, memory.updated_at))
            found[memory.scope.owner] = (count + 1, max(last, memory.updated_at))
    listed = [
        {"user": user, "count": count, "updated_at": last.isoformat()} for user, (count, last) in sorted(found.items())
    ]
    return {"users": listed, "next": page[-1].memory_id if len(page) == READ_AT_ONCE else None}


@router.post("/users/openings", **answering(PageResponse))
async def open_user(wanted: Opening, principal: Operating, service: TheService) -> dict[str, Any]:
    """List the memories of a user of the tenant, newest first. The audit records the reader, the user and the reason
    before anything is shown.
    """
    engine = service.engine
    fields = {"subject": await subject_token(engine.store, principal.tenant, wanted.user), "reason": wanted.reason}
    line = Mutation(
        tenant=principal.tenant, action="user_opened", actor=principal.actor.user, at=engine.clock.now(), detail=fields
    )
    await apply(engine.store, line)
    reader = Actor(tenant=principal.tenant, user=wanted.user, agent=principal.actor.agent)
    page = await engine.list(actor=reader, limit=wanted.limit, before=wanted.before)
    own = [memory_dict(one) for one in page if one.scope.level == Level.USER]
    full = len(page) == wanted.limit
    return {"memories": own, "next": page[-1].memory_id if full else None}
