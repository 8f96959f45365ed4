"""For operators who help people: the users with memories here, and the memories and runs of one of them, for a stated
reason.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import Field, StringConstraints

from mnemic.errors import RevealDenied
from mnemic.json_output import memory_dict
from mnemic.types import Actor, Level, Status
from mnemic.types.trace import UseAudit
from mnemic.unit_of_work import Mutation, apply
from mnemic.write.limiter import subject_token
from mnemic.write.turn_log import turns_of
from mnemic_server.access import Operating, ServiceContext, TheService
from mnemic_server.credentials import Principal
from mnemic_server.operations_response_bodies import UsersResponse
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.request_bodies import Name, Strict
from mnemic_server.response_bodies import OpenedRunsResponse, PageResponse, answering
from mnemic_server.run_history import run_dict, runs

router = APIRouter(prefix="/v1", tags=["operations"], route_class=ParsedBodyRoute)

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


class RunsOpening(Strict):
    """User whose runs are to be read, the reason, and the page that is wanted."""

    user: Name
    reason: Reason
    limit: Annotated[int, Field(ge=1, le=200)] = 20
    before: Annotated[int, Field(ge=1, le=2**53)] | None = None


@router.get("/users", **answering(UsersResponse))
async def users(
    principal: Operating,
    service: TheService,
    cursor: Annotated[str | None, Query(min_length=1, max_length=128, description="`next` of the page before.")] = None,
) -> dict[str, Any]:
    """List users with memories. List users of the tenant who have memories, with how many were counted on this page. A
    user may be on several pages: their memories are read in the order in which they were made.
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
    """Read a user's memories for a stated reason. List the memories of a user of the tenant, newest first. The audit
    records the reader, the user and the reason before anything is shown.
    """
    await _record_reading(service, principal, wanted, "user_opened")
    reader = Actor(tenant=principal.tenant, user=wanted.user, agent=principal.actor.agent)
    page = await service.engine.list(actor=reader, limit=wanted.limit, before=wanted.before)
    own = [memory_dict(one) for one in page if one.scope.level == Level.USER]
    full = len(page) == wanted.limit
    return {"memories": own, "next": page[-1].memory_id if full else None}


@router.post("/users/run-openings", **answering(OpenedRunsResponse))
async def open_runs(wanted: RunsOpening, principal: Operating, service: TheService) -> dict[str, Any]:
    """Read a user's runs for a stated reason. List the runs of a user of the tenant, newest first: question, block and
    answer where policy keeps them, and the memories that were used. The audit records the reader, the user and the
    reason before anything is shown. Policy may forbid it (`operators_read_turns`): `reveal_denied:turns`.
    """
    if not service.engine.policy.operators_read_turns:
        await _record_reading(service, principal, wanted, "runs_denied")
        raise RevealDenied("turns", hint="the policy's operators_read_turns is false")
    await _record_reading(service, principal, wanted, "runs_opened")
    engine, reader = service.engine, Actor(tenant=principal.tenant, user=wanted.user)
    found, after = await runs(engine.store, reader, before=wanted.before, limit=wanted.limit)
    texts = await turns_of(engine.store, engine.vault, reader, run_ids={one.run_id for one in found})
    used = {memory_id for one in found for name in UseAudit.__slots__ for memory_id in getattr(one.audit, name)}
    memories = await engine.store.get_many(sorted(used), scopes=reader.scopes([Level.USER]))
    hidden = {one.memory_id for one in memories.values() if one.key in await engine.gateway.hidden_keys(reader)}
    whole = {run_id: turn for run_id, turn in texts.items() if hidden.isdisjoint(turn.shown)}
    return {
        "runs": [run_dict(one, whole.get(one.run_id)) for one in found],
        "memories": [memory_dict(one) for name, one in memories.items() if name not in hidden],
        "next": after,
    }


async def _record_reading(
    service: ServiceContext, principal: Principal, wanted: Opening | RunsOpening, action: str
) -> None:
    """Record the reader, the user and the reason. Raises StoreFailed: then nothing is shown."""
    engine = service.engine
    fields = {"subject": await subject_token(engine.store, principal.tenant, wanted.user), "reason": wanted.reason}
    line = Mutation(
        tenant=principal.tenant, action=action, actor=principal.actor.user, at=engine.clock.now(), detail=fields
    )
    await apply(engine.store, line)
