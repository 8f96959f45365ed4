"""Entities: people and things that the user mentions, and their relations."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from mnemic.json_output import receipt_dict
from mnemic.kinds.entity import EntityMemory
from mnemic.runtime.sync_facade import Awaited, async_mode
from mnemic.types import Actor, to_json
from mnemic_server import access
from mnemic_server.access import TheService, Writing
from mnemic_server.graph_view import MAX_READ, ViewedGraph, readable, relations_of
from mnemic_server.kind_request_bodies import (
    EndedRelation,
    NewEntity,
    NewRelation,
    Reading,
    TwoNames,
    neighbour_dict,
)
from mnemic_server.kind_response_bodies import EndedResponse, ExtractedResponse
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.request_bodies import IdempotencyKey, Moment
from mnemic_server.response_bodies import (
    EntitiesResponse,
    NeighboursResponse,
    PathResponse,
    ReceiptResponse,
    ReceiptsResponse,
    ViewedGraphResponse,
    answering,
)

router = APIRouter(prefix="/v1/entities", tags=["kinds"], route_class=ParsedBodyRoute)

NamedThing = Annotated[str, Query(min_length=1, max_length=80)]
At = Annotated[Moment | None, Query(description="The moment of which the relations are; now.")]


def _view(service: TheService, actor: Actor) -> EntityMemory[Awaited]:
    return EntityMemory(service.engine, actor, async_mode())


@router.post("", **answering(ReceiptsResponse))
async def mention(wanted: NewEntity, actor: Writing, service: TheService) -> dict[str, Any]:
    """Add an entity. Remember that there is something of this name, and its other names: one receipt each."""
    receipts = await _view(service, actor).mention(wanted.name, label=wanted.label, aliases=wanted.aliases)
    return {"receipts": [receipt_dict(receipt) for receipt in receipts]}


@router.get("", **answering(EntitiesResponse))
async def list_known(
    actor: access.Reading,
    service: TheService,
    label: Annotated[str | None, Query(min_length=1, max_length=64)] = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> dict[str, Any]:
    """List entities. They are those that the user has mentioned, last first; with a label only people, places, ..."""
    return {"entities": [to_json(node) for node in await _view(service, actor).of_user(label, limit=limit)]}


@router.get("/neighbours", **answering(NeighboursResponse))
async def neighbours(
    actor: access.Reading,
    service: TheService,
    name: NamedThing = "me",
    hops: Annotated[int, Query(ge=1, le=6)] = 1,
    at: At = None,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> dict[str, Any]:
    """Find the neighbours of an entity. List the entities within a number of relations of a name ("me" is the user),
    nearest first, each with its path.
    """
    found = await _view(service, actor).neighbours(name, hops=hops, at=at, limit=limit)
    return {"neighbours": [neighbour_dict(one) for one in found]}


@router.get("/graph", **answering(ViewedGraphResponse))
async def graph(
    actor: access.Reading,
    service: TheService,
    name: NamedThing = "me",
    hops: Annotated[int, Query(ge=1, le=6)] = 2,
    limit: Annotated[int, Query(ge=1, le=500)] = 60,
) -> dict[str, Any]:
    """Show the graph around an entity. It has what is stored, and what the newest 500 memories say, read now by the
    rules and not stored.
    """
    viewed, view = ViewedGraph(), _view(service, actor)
    for start in dict.fromkeys(("me", name)):
        viewed.add_stored(await view.neighbours(start, hops=6, limit=500))
    newest = await service.engine.list(actor=actor, limit=MAX_READ)
    viewed.add_read(await relations_of([one for one in newest if readable(one)]))
    return viewed.answer(name, hops=hops, limit=limit)


@router.get("/path", **answering(PathResponse))
async def path(
    source: NamedThing,
    target: NamedThing,
    actor: access.Reading,
    service: TheService,
    hops: Annotated[int, Query(ge=1, le=6)] = 4,
    at: At = None,
) -> dict[str, Any]:
    """Find the path between two entities. Return the shortest path from one name to the other; null if
    there is none.
    """
    found = await _view(service, actor).path(source, target, hops=hops, at=at)
    return {"path": None if found is None else [to_json(one) for one in found]}


@router.post("/relations", **answering(ReceiptResponse))
async def relate(
    wanted: NewRelation, actor: Writing, service: TheService, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Add a relation. A relation that only one can have at a time ends the one before."""
    view = _view(service, actor)
    receipt = await view.relate(
        wanted.source, wanted.relation, wanted.target, since=wanted.since, idempotency_key=idempotency_key
    )
    return receipt_dict(receipt)


@router.post("/relations/end", **answering(EndedResponse))
async def end(wanted: EndedRelation, actor: Writing, service: TheService) -> dict[str, Any]:
    """End a relation. The receipt is null if it was not known to be true."""
    receipt = await _view(service, actor).end(wanted.source, wanted.relation, wanted.target)
    return {"receipt": None if receipt is None else receipt_dict(receipt)}


@router.post("/same", **answering(ReceiptResponse))
async def same(wanted: TwoNames, actor: Writing, service: TheService) -> dict[str, Any]:
    """Join two names of one entity. State that `name` is another name of `other`. Nothing is rewritten: `apart`
    separates them again.
    """
    return receipt_dict(await _view(service, actor).same(wanted.name, wanted.other))


@router.post("/apart", **answering(EndedResponse))
async def apart(wanted: TwoNames, actor: Writing, service: TheService) -> dict[str, Any]:
    """Separate two names. The receipt is null if they were not merged."""
    receipt = await _view(service, actor).separate(wanted.name, wanted.other)
    return {"receipt": None if receipt is None else receipt_dict(receipt)}


@router.post("/extract", **answering(ExtractedResponse))
async def extract(
    wanted: Reading, actor: Writing, service: TheService, idempotency_key: IdempotencyKey = None
) -> dict[str, Any]:
    """Extract entities from a text. Remember the people and things that a text of the user's names, and their
    relations.
    """
    said = wanted.text if wanted.message is None else wanted.message.message(actor.session)
    assert said is not None
    found = await _view(service, actor).extract(said, idempotency_key=idempotency_key)
    return {
        "receipts": [receipt_dict(receipt) for receipt in found.receipts],
        "unresolved": found.unresolved,
        "skipped": list(found.skipped),
        "degraded": found.degraded,
    }
