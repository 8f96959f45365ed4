"""The persona of the credential's agent: its profile, and traits that were learnt and approved since."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from mnemic.errors import MemoryNotFound
from mnemic.json_output import memory_dict, receipt_dict
from mnemic.kinds.persona import PersonaMemory
from mnemic.runtime.sync_facade import Awaited, async_mode
from mnemic.types import Actor, Origin, Status
from mnemic_server.access import Reading, TheService, Writing
from mnemic_server.evidence_filter import all_shown
from mnemic_server.kind_request_bodies import NewTrait
from mnemic_server.operations_response_bodies import PersonaResponse, TextResponse
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.response_bodies import HistoryResponse, ReceiptResponse, answering

router = APIRouter(prefix="/v1/persona", tags=["kinds"], route_class=ParsedBodyRoute)


def _view(service: TheService, actor: Actor) -> PersonaMemory[Awaited]:
    return PersonaMemory(service.engine, actor, async_mode(), profile=service.profiles(actor.agent))


@router.get("", **answering(PersonaResponse))
async def persona(actor: Reading, service: TheService) -> dict[str, Any]:
    """Get the agent's persona. Show the agent's persona: the profile its makers gave it (null without one), and its
    approved traits.
    """
    view = _view(service, actor)
    profile = view.profile
    profile_shown = None
    if profile is not None:
        profile_shown = {
            "version": profile.version,
            "role": profile.role,
            "tone": profile.tone,
            "expertise": list(profile.expertise),
            "constraints": list(profile.constraints),
        }
    return {
        "agent": actor.agent,
        "profile": profile_shown,
        "traits": [memory_dict(one) for one in all_shown(await view.traits(), actor)],
    }


@router.get("/prompt", **answering(TextResponse))
async def prompt(
    actor: Reading, service: TheService, max_tokens: Annotated[int, Query(ge=16, le=100_000)] = 400
) -> dict[str, Any]:
    """Get the persona for a prompt. Return the persona as a block of data for a model's input; empty if there is
    nothing to say.
    """
    return {"text": await _view(service, actor).prompt(max_tokens=max_tokens)}


@router.post("/traits", **answering(ReceiptResponse))
async def learn(wanted: NewTrait, actor: Writing, service: TheService) -> dict[str, Any]:
    """Propose a trait. It waits for review, and its proposer cannot approve it."""
    origin = Origin(wanted.origin)
    return receipt_dict(await _view(service, actor).learn(wanted.trait, evidence=wanted.evidence, origin=origin))


@router.get("/traits/{memory_id}/history", **answering(HistoryResponse))
async def history(
    memory_id: Annotated[str, Path(min_length=1, max_length=128)], actor: Reading, service: TheService
) -> dict[str, Any]:
    """List the versions of a trait. Return all versions of a trait, from its proposal on; a pending one is shown to its
    proposer only.
    """
    versions = await _view(service, actor).history(memory_id)
    if versions and versions[-1].status is Status.PENDING_REVIEW and versions[-1].author != actor.user:
        raise MemoryNotFound
    return {"versions": [memory_dict(version) for version in all_shown(versions, actor)]}
