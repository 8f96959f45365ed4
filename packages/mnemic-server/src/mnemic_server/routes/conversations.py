"""The conversation in progress, and search across all kinds."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Query

from mnemic.json_output import memory_dict
from mnemic.kinds.all_kinds import SevenKinds
from mnemic.kinds.retrieval import KindHit
from mnemic.kinds.short_term import MAX_TAIL, ShortTermMemory
from mnemic.runtime.sync_facade import Awaited, async_mode
from mnemic.types import Actor, Kind, Origin, to_json
from mnemic_server.access import Reading, TheService, Writing
from mnemic_server.evidence_filter import hide_quote
from mnemic_server.kind_request_bodies import CompactionRequest, RetrieveRequest, SessionMessage, TextOfUser
from mnemic_server.kind_response_bodies import CompactionResponse, MessageResponse, MessagesResponse, RetrievedResponse
from mnemic_server.operations_response_bodies import TextResponse
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.response_bodies import answering

router = APIRouter(prefix="/v1", tags=["kinds"], route_class=ParsedBodyRoute)


def _view(service: TheService, actor: Actor) -> ShortTermMemory[Awaited]:
    return ShortTermMemory(service.engine, actor, async_mode())


@router.post("/session/messages", **answering(MessageResponse))
async def append(wanted: SessionMessage, actor: Writing, service: TheService) -> dict[str, Any]:
    """Add a message to the conversation. Add a message to the conversation in progress: that of the token, or the
    caller's own of the name in the header `Mnemic-Session`. The answer has it as it is kept.
    """
    origin = None if wanted.origin is None else Origin(wanted.origin)
    view = _view(service, actor)
    fields: dict[str, Any] = to_json(
        await view.append(wanted.role, wanted.content, speaker=wanted.speaker, origin=origin)
    )
    return fields


@router.get("/session/messages", **answering(MessagesResponse))
async def tail(
    actor: Reading, service: TheService, limit: Annotated[int, Query(ge=0, le=MAX_TAIL)] = 10
) -> dict[str, Any]:
    """List the newest messages of the conversation. Return the newest messages of the conversation in progress, the
    oldest of them first.
    """
    return {"messages": [to_json(one) for one in await _view(service, actor).tail(limit)]}


@router.post("/session/compaction", **answering(CompactionResponse))
async def compact(wanted: CompactionRequest, actor: Writing, service: TheService) -> dict[str, Any]:
    """Summarise the oldest messages. Fold the oldest messages into one summary where all of them cost more than
    `max_tokens`; the newest `keep` stay as they are.
    """
    done = await _view(service, actor).compact(max_tokens=wanted.max_tokens, keep=wanted.keep)
    fields: dict[str, Any] = to_json(done)
    return fields


@router.delete("/session", status_code=HTTPStatus.NO_CONTENT)
async def clear(actor: Writing, service: TheService) -> None:
    """End the conversation."""
    await _view(service, actor).clear()


@router.post("/retrieve", **answering(RetrievedResponse))
async def retrieve(wanted: RetrieveRequest, actor: Reading, service: TheService) -> dict[str, Any]:
    """Search across all kinds. Return the best hits across kinds, best first; `errors` names parts that failed. Working
    memory belongs to the calling program and is not included; without a session there is no conversation in progress.
    """
    chosen = [kind for kind in Kind if wanted.kinds is None or kind.value in wanted.kinds]
    if actor.session is None and wanted.kinds is None:
        chosen.remove(Kind.SHORT_TERM)
    found = await SevenKinds(service.engine, actor, async_mode()).retrieve(wanted.query, chosen, top_k=wanted.top_k)
    return {"hits": [_hit(one, actor) for one in found], "errors": dict(found.errors)}


@router.post("/redactions", **answering(TextResponse))
async def redact(wanted: TextOfUser, actor: Reading, service: TheService) -> dict[str, Any]:
    """Redact a text. Return a text without personal data, as the policy has it; nothing is kept."""
    return {"text": await service.engine.redact_text(wanted.text, actor=actor)}


def _hit(one: KindHit, actor: Actor) -> dict[str, Any]:
    memory = None if one.memory is None else memory_dict(hide_quote(one.memory, actor))
    return {"kind": one.kind.value, "content": one.content, "score": one.score, "key": one.key, "memory": memory}
