"""History of one memory: where it comes from, where it was used; taking changes back; what its markers hide."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from mnemic.json_output import memory_dict, receipt_dict
from mnemic.types.json_forms import to_json
from mnemic_server.access import Correcting, Reading, Revealing, TheService
from mnemic_server.credentials import Role
from mnemic_server.evidence_filter import all_shown, hide_quote
from mnemic_server.operations_response_bodies import RevealedResponse, UsesResponse
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.request_bodies import MemoryId, RatingRequest, Rollback
from mnemic_server.response_bodies import LineageResponse, OneRatingResponse, ReceiptResponse, UndoResponse, answering

router = APIRouter(prefix="/v1/memories/{memory_id}", tags=["memories"], route_class=ParsedBodyRoute)


@router.get("/lineage", **answering(LineageResponse))
async def lineage(memory_id: MemoryId, actor: Reading, service: TheService) -> dict[str, Any]:
    """Show what a memory replaced. List the memories that a memory replaced (`earlier`, newest first), and those that
    replaced it since (`later`, in order).
    """
    found = await service.engine.lineage(memory_id, actor=actor)
    return {
        "memory": memory_dict(hide_quote(found.memory, actor)),
        "earlier": [memory_dict(one) for one in all_shown(found.earlier, actor)],
        "later": [memory_dict(one) for one in all_shown(found.later, actor)],
        "complete": found.complete,
    }


@router.get("/uses", **answering(UsesResponse))
async def uses(
    memory_id: MemoryId,
    actor: Reading,
    service: TheService,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    before: Annotated[int | None, Query(ge=1, le=2**53, description="`next` of the page before.")] = None,
) -> dict[str, Any]:
    """List the uses of a memory. List the events of a memory, newest first: written, changed, put into the prompt of a
    run (`injected`). `mine`: the caller did it. A page may be short and yet have a `next`.
    """
    found, after = await service.engine.uses(memory_id, actor=actor, before=before, limit=limit)
    uses_shown = [
        {
            "sequence": use.sequence,
            "action": use.action,
            "at": use.at.isoformat(),
            "version": use.version,
            "run_id": use.run_id,
            "mine": use.actor == actor.user,
        }
        for use in found
    ]
    return {"uses": uses_shown, "next": after}


@router.post("/undo", **answering(UndoResponse))
async def undo(memory_id: MemoryId, actor: Correcting, service: TheService) -> dict[str, Any]:
    """Undo a replacement. Undo what a memory replaced: a merge, a new value under a key, an approval."""
    receipt: dict[str, Any] = to_json(await service.engine.undo(memory_id, actor=actor))
    return receipt


@router.post("/rollback", **answering(ReceiptResponse))
async def rollback(memory_id: MemoryId, wanted: Rollback, actor: Correcting, service: TheService) -> dict[str, Any]:
    """Restore an earlier version of a memory. It becomes the next version."""
    return receipt_dict(await service.engine.rollback(memory_id, wanted.version, actor=actor))


@router.put("/rating", **answering(OneRatingResponse))
async def rate(memory_id: MemoryId, wanted: RatingRequest, actor: Correcting, service: TheService) -> dict[str, Any]:
    """Rate a memory. Say that a memory is useful or wrong to the user, which moves it by a fixed amount in this user's
    searches alone; `none` withdraws it.
    """
    rating = await service.engine.rate(memory_id, wanted.verdict, actor=actor)
    return {"rating": None if rating is None else to_json(rating)}


@router.post("/reveal", **answering(RevealedResponse))
async def reveal(memory_id: MemoryId, principal: Revealing, service: TheService) -> dict[str, Any]:
    """Reveal redacted values. Return the values that a memory's markers replace, for the caller's roles that the
    policy's `reveal` names: in the whole tenant where `operator` is among these, else one's own. A memory out of reach
    is not found; each other call is in the audit before anything is shown, also one that is denied.
    """
    named = principal.roles & service.engine.redaction.reveal or principal.roles
    role = Role.OPERATOR if Role.OPERATOR in named else min(named)
    revealed = await service.engine.reveal(
        memory_id, actor=principal.actor, role=role, whole_tenant=role is Role.OPERATOR
    )
    values: dict[str, Any] = to_json(revealed)
    return values
