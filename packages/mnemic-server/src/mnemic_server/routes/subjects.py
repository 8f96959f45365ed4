"""For the people whose memories are kept: decide, take along, erase."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from functools import partial
from http import HTTPStatus
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import JsonValue

from mnemic.errors import InvalidInput, MemoryNotFound
from mnemic.json_output import memory_dict
from mnemic.maintenance.erase import ErasureReceipt
from mnemic.requests import EraseKey
from mnemic.write.limiter import subject_token
from mnemic_server.access import (
    Erasing,
    OneselfOnly,
    Reading,
    TheService,
    Using,
    require_role,
    require_user,
)
from mnemic_server.credentials import Role
from mnemic_server.evidence_filter import all_shown
from mnemic_server.kind_response_bodies import SubjectResponse
from mnemic_server.operations_response_bodies import (
    CarriedOutResponse,
    ConsentsResponse,
    ErasureJobResponse,
    RevocationResponse,
    VerificationResponse,
)
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.problems import Refusal
from mnemic_server.request_bodies import Erasure, MemoryRequested
from mnemic_server.response_bodies import answering

router = APIRouter(prefix="/v1", tags=["subjects"], route_class=ParsedBodyRoute)

Key = Annotated[str, Path(min_length=1, max_length=128)]


@router.get("/consents", **answering(ConsentsResponse))
async def consents(actor: Reading, service: TheService) -> dict[str, Any]:
    """List consents. They are the user's decisions, by key."""
    return {"consents": await service.engine.consents(actor=actor)}


@router.put("/consents/{key}", status_code=HTTPStatus.NO_CONTENT)
async def grant(key: Key, actor: OneselfOnly, service: TheService) -> None:
    """Grant consent for a key. From now on memories under `key` may be written and found."""
    await service.engine.grant_consent(key, actor=actor)


@router.delete("/consents/{key}", **answering(RevocationResponse, 200, 202))
async def revoke(
    key: Key,
    actor: OneselfOnly,
    principal: Erasing,
    service: TheService,
    response: Response,
    erase_held: Annotated[bool, Query(description="Erase what is held under the key as well.")] = False,
) -> dict[str, Any]:
    """Revoke consent for a key. From now on nothing is written or found under `key`. With `erase_held` the stored data
    under it is erased as well: 202, and a job as of `POST /v1/erasures`.
    """
    revoked = await service.engine.revoke_consent(key, actor=actor)
    fields = {"key": revoked.key, "hidden": revoked.hidden, "erasure": None}
    if not erase_held:
        return fields
    run = partial(service.engine.handle, EraseKey(key=revoked.key), actor=actor)
    job = await service.erasures.begin(principal, actor.user or "", key=revoked.key, run=run)
    response.status_code = HTTPStatus.ACCEPTED
    response.headers["Location"] = f"/v1/erasures/{job.erasure_id}"
    return fields | {"erasure": job.as_dict()}


LINES = {
    "description": "One memory a line, as `mnemic export` writes it.",
    "content": {"application/x-ndjson": {"schema": {"type": "string", "description": "JSON objects, one a line."}}},
}


DOCUMENT = {
    "model": SubjectResponse,
    "description": "One document, as `mnemic export --subject` writes it.",
    "content": {"text/html": {"schema": {"type": "string", "description": "The same as a page for people."}}},
}
MEDIA_TYPES = {"json": "application/json", "html": "text/html; charset=utf-8"}


@router.get("/export/subject", response_class=StreamingResponse, responses={200: DOCUMENT})
async def export_subject(
    principal: Erasing,
    service: TheService,
    subject: Annotated[str | None, Query(min_length=1, max_length=128, description="Whose data; oneself.")] = None,
    form: Annotated[Literal["json", "html"], Query(description="JSON, or a page for people.")] = "json",
    values: Annotated[bool, Query(description="With what is sealed opened: for the subject alone.")] = False,
) -> StreamingResponse:
    """Export everything held about a user. Return all stored data about a user as one document: about oneself, or for
    an operator about any user of the tenant who has requested it. The audit records the request.
    """
    wanted = subject or principal.user
    if wanted is None:
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, InvalidInput("subject").reason)
    if wanted != principal.user:
        require_role(principal, Role.OPERATOR)
    chunks = service.engine.export_subject(wanted, actor=principal.actor, form=form, values=values)
    first = await anext(chunks, "")  # a refusal must come before the answer begins

    async def document() -> AsyncIterator[str]:
        yield first
        async for chunk in chunks:
            yield chunk

    return StreamingResponse(document(), media_type=MEDIA_TYPES[form])


@router.get("/export", response_class=StreamingResponse, responses={200: LINES})
async def export(
    actor: OneselfOnly,
    service: TheService,
    archive: Annotated[
        bool, Query(description="With every version and the consents, as `restore` takes them.")
    ] = False,
) -> StreamingResponse:
    """Export your own memories. Return all of the caller's data, of any status, as JSON lines."""

    async def lines() -> AsyncIterator[str]:
        async for memory in service.engine.export(actor=actor, archive=archive):
            yield json.dumps(memory, ensure_ascii=False) + "\n"

    return StreamingResponse(lines(), media_type="application/x-ndjson")


@router.post("/erasures", status_code=HTTPStatus.ACCEPTED, **answering(ErasureJobResponse, 202))
async def erase(wanted: Erasure, principal: Erasing, service: TheService, response: Response) -> dict[str, Any]:
    """Erase a user. Start to erase all data about a user: oneself, or for an operator any user of the tenant. The job
    can be fetched under its `erasure_id` for a day, finally with the receipt, which can be verified. A repeated request
    while it runs returns the same job.
    """
    subject = wanted.subject or principal.user
    if subject is None:
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, InvalidInput("subject").reason)
    if subject != principal.user:
        require_role(principal, Role.OPERATOR)
    service.readings.drop(principal.tenant, subject)
    run = partial(service.engine.erase, subject, actor=principal.actor, block=wanted.block)
    job = await service.erasures.begin(principal, subject, block=wanted.block, run=run)
    response.headers["Location"] = f"/v1/erasures/{job.erasure_id}"
    return job.as_dict()


@router.post("/memory-requests", **answering(CarriedOutResponse, 200, 202))
async def carry_out(
    wanted: MemoryRequested, principal: Using, service: TheService, response: Response
) -> dict[str, Any]:
    """Carry out a confirmed request of a user. Carry out a request about memory in a message, as listed under `asked`
    in its report, once the user has confirmed it. A memory that is already gone counts as done. `show` reads; `forget`
    and `wrong` need a writer or subject; `forget_all` needs what `POST /v1/erasures` needs, and answers 202 with a job
    as that does.
    """
    require_user(principal)
    fields: dict[str, Any] = {"forgotten": [], "erasure": None, "memories": []}
    if wanted.kind == "forget_all":
        require_role(principal, Role.SUBJECT, Role.OPERATOR)
        job = await erase(Erasure(), principal, service, response)
        response.status_code = HTTPStatus.ACCEPTED
        return fields | {"erasure": job}
    if wanted.kind != "show":
        require_role(principal, Role.WRITER, Role.SUBJECT)
    done = await service.engine.carry_out(wanted.request(), actor=principal.actor)
    shown = [memory_dict(one) for one in all_shown(done.memories, principal.actor)]
    return fields | {"forgotten": list(done.forgotten), "memories": shown}


@router.get("/erasures/{erasure_id}", **answering(ErasureJobResponse))
async def erasure(
    erasure_id: Annotated[str, Path(min_length=1, max_length=64)],
    principal: Erasing,
    service: TheService,
    wait: Annotated[float, Query(ge=0, le=10, description="Seconds to wait for its end.")] = 0,
) -> dict[str, Any]:
    """Get the progress of an erasure. Show the progress of an erasure, at last with its receipt. Others than operators
    may ask about their own.
    """
    job = await service.erasures.find(erasure_id, principal.tenant)
    own = principal.user is not None and job.subject == await subject_token(
        service.engine.store, principal.tenant, principal.user
    )
    if not (own or Role.OPERATOR in principal.roles):
        raise MemoryNotFound("erasure")
    return (await service.erasures.wait_for_end(job, wait)).as_dict()


@router.post("/erasures/verification", **answering(VerificationResponse))
async def verify(receipt: dict[str, JsonValue], principal: Erasing, service: TheService) -> dict[str, Any]:
    """Verify an erasure receipt. Count the remaining traces of the data that a receipt lists, by place: all zeros if
    the receipt is correct. Callers other than operators may verify their own receipts.
    """
    read = ErasureReceipt.from_dict(receipt)
    own = principal.user is not None and read.subject == await subject_token(
        service.engine.store, principal.tenant, principal.user
    )
    if read.tenant != principal.tenant or not (own or Role.OPERATOR in principal.roles):
        raise Refusal(HTTPStatus.UNPROCESSABLE_ENTITY, InvalidInput("erasure_receipt").reason)
    traces = await service.engine.verify_erasure(read)
    return {"traces": traces, "complete": not any(traces.values())}
