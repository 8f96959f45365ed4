"""Episodes: attempts, their outcomes, and the lessons from them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from mnemic.json_output import receipt_dict
from mnemic.kinds.episodic import EpisodicMemory, Step
from mnemic.runtime.sync_facade import async_mode
from mnemic.types import to_json
from mnemic_server.access import Reading, TheService, Writing
from mnemic_server.kind_request_bodies import Feedback, NewEpisode, Task, neighbour_dict
from mnemic_server.kind_response_bodies import LessonsResponse
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.request_bodies import MemoryId
from mnemic_server.response_bodies import (
    EpisodePageResponse,
    EpisodeResponse,
    NeighboursResponse,
    ReceiptResponse,
    answering,
)

router = APIRouter(prefix="/v1/episodes", tags=["kinds"], route_class=ParsedBodyRoute)


@router.post("", status_code=HTTPStatus.CREATED, **answering(ReceiptResponse, 200, 201))
async def record(wanted: NewEpisode, actor: Writing, service: TheService, response: Response) -> dict[str, Any]:
    """Record an episode. Keep an episode: all its steps or nothing. With an `episode_id` a second delivery changes
    nothing.
    """
    receipt = await EpisodicMemory(service.engine, actor, async_mode()).record(
        wanted.task,
        [Step(action=step.action, result=step.result, ok=step.ok) for step in wanted.steps],
        outcome=wanted.outcome,
        episode_id=wanted.episode_id,
        occurred_at=wanted.occurred_at,
    )
    if receipt.outcome.value != "created" or receipt.replayed:
        response.status_code = HTTPStatus.OK
    return receipt_dict(receipt)


@router.get("", **answering(EpisodePageResponse))
async def page(
    actor: Reading,
    service: TheService,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
) -> dict[str, Any]:
    """List episodes. Return the episodes that were recorded last, newest first. `next` is the cursor of
    the next page.
    """
    found = await EpisodicMemory(service.engine, actor, async_mode()).recent(limit=limit, before=cursor)
    return {
        "episodes": [to_json(one) for one in found],
        "next": found[-1].memory_id if len(found) == limit else None,
    }


@router.get("/{memory_id}", **answering(EpisodeResponse))
async def one(memory_id: MemoryId, actor: Reading, service: TheService) -> dict[str, Any]:
    """Get an episode. It has the feedback that came since."""
    episode: dict[str, Any] = to_json(await EpisodicMemory(service.engine, actor, async_mode()).get(memory_id))
    return episode


@router.get("/{memory_id}/walk", **answering(NeighboursResponse))
async def walk(memory_id: MemoryId, actor: Reading, service: TheService) -> dict[str, Any]:
    """List the steps of an episode. Return the steps of an episode in order and how it ended, each with the way there
    from its task, by the graph.
    """
    walked = await EpisodicMemory(service.engine, actor, async_mode()).walk(memory_id)
    return {"neighbours": [neighbour_dict(one) for one in walked]}


@router.post("/{memory_id}/feedback", **answering(ReceiptResponse))
async def feedback(memory_id: MemoryId, said: Feedback, actor: Writing, service: TheService) -> dict[str, Any]:
    """Add feedback to an episode."""
    return receipt_dict(await EpisodicMemory(service.engine, actor, async_mode()).feedback(memory_id, said.content))


@router.post("/similar", **answering(EpisodePageResponse))
async def similar(wanted: Task, actor: Reading, service: TheService) -> dict[str, Any]:
    """Find similar episodes. Return the episodes whose task is most like this one, best first."""
    view = EpisodicMemory(service.engine, actor, async_mode())
    found = await view.similar(wanted.task, top_k=wanted.top_k, outcome=wanted.outcome)
    return {"episodes": [to_json(one) for one in found]}


@router.post("/lessons", **answering(LessonsResponse))
async def lessons(wanted: Task, actor: Reading, service: TheService) -> dict[str, Any]:
    """Find lessons for a task. List what failed before in the episodes most like this task, and what worked instead."""
    found = await EpisodicMemory(service.engine, actor, async_mode()).lessons(wanted.task, top_k=wanted.top_k)
    return {"lessons": [to_json(one) for one in found]}
