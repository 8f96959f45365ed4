"""Structured memory: data of known shapes, checked, found by its fields."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from mnemic.errors import InvalidInput
from mnemic.json_output import memory_dict, receipt_dict
from mnemic.runtime.sync_facade import Awaited, async_mode
from mnemic.structured.schema import Problem, Schema
from mnemic.structured.shape import Shape
from mnemic.structured.structured_memory import StructuredMemory
from mnemic.types import Actor, Origin
from mnemic_server.access import Reading, TheService, Writing
from mnemic_server.kind_request_bodies import DataRequest, NewData, StructuredText, TextToExtract
from mnemic_server.kind_response_bodies import CapturedDataResponse, DataResponse, ShapesResponse
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.response_bodies import MemoriesResponse, ReceiptsResponse, answering

router = APIRouter(prefix="/v1/structured", tags=["kinds"], route_class=ParsedBodyRoute)

ShapeName = Annotated[str, Path(min_length=1, max_length=64)]


def _view(service: TheService, actor: Actor) -> StructuredMemory[Awaited]:
    return StructuredMemory(service.engine, actor, async_mode())


@router.get("", **answering(ShapesResponse))
async def shapes(
    actor: Reading,
    service: TheService,
    whole: Annotated[
        bool, Query(description="With the schema of each, and what its key and title are made of.")
    ] = False,
) -> dict[str, Any]:
    """List the shapes of structured data. Return the shapes that are known, and the fields by which two of one are the
    same thing.
    """
    return {"shapes": [_as_json(shape, whole) for _, shape in sorted(_view(service, actor).shapes.items())]}


@router.post("/extract", **answering(DataResponse))
async def extract(wanted: TextToExtract, actor: Reading, service: TheService) -> dict[str, Any]:
    """Extract structured data without keeping it. Extract data of known shapes from a text, or of the one called
    `name`, ready to be put; nothing is stored. With a `json_schema` of the caller's a model reads the text, and the
    caller validates the answer.
    """
    view = _view(service, actor)
    if wanted.json_schema is not None:
        if wanted.name is None:
            raise InvalidInput("name", hint="a shape has a name")
        # Outside the event loop: the duration depends on the caller's text.
        schema = await asyncio.to_thread(_Callers, wanted.json_schema)
        view.shapes[wanted.name] = Shape(name=wanted.name, schema=schema)
    found = await view.extract(wanted.text, wanted.name, sent_at=wanted.sent_at)
    return {"data": [dict(one) for one in found], "degraded": found.degraded}


@router.post("/capture", **answering(CapturedDataResponse))
async def capture(wanted: StructuredText, actor: Writing, service: TheService) -> dict[str, Any]:
    """Extract and keep structured data. Store the data of known shapes in a text, or of the one called `name`."""
    view, origin = _view(service, actor), Origin(wanted.origin)
    receipts = await view.capture(wanted.text, wanted.name, sent_at=wanted.sent_at, origin=origin)
    return {"receipts": [receipt_dict(receipt) for receipt in receipts], "degraded": receipts.degraded}


@router.post("/{shape}", **answering(ReceiptsResponse))
async def put(shape: ShapeName, wanted: NewData, actor: Writing, service: TheService) -> dict[str, Any]:
    """Keep structured data. Fields of the same item that it leaves out are kept; one receipt for each memory."""
    origin = Origin(wanted.origin or Origin.USER_STATED)
    receipts = await _view(service, actor).put(shape, wanted.data, origin=origin)
    return {"receipts": [receipt_dict(receipt) for receipt in receipts]}


@router.post("/{shape}/query", **answering(MemoriesResponse))
async def query(shape: ShapeName, wanted: DataRequest, actor: Reading, service: TheService) -> dict[str, Any]:
    """Query structured data. Return the newest data of a shape whose fields are as wanted."""
    found = await _view(service, actor).query(shape, wanted.where, limit=wanted.limit)
    return {"memories": [memory_dict(memory) for memory in found]}


class _Callers(Schema):
    """A schema that a caller has sent. It is shown to a model and nothing is checked by it here: its patterns and
    references are the caller's, and could take any time.
    """

    def problems(self, data: object) -> Iterator[Problem]:
        """Nothing."""
        return iter(())


def _as_json(shape: Shape, whole: bool) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": shape.name, "identity": list(shape.identity)}
    if whole:
        fields |= {"person": shape.person, "title": list(shape.title), "modified": shape.modified}
        fields["json_schema"] = dict(shape.schema.document)
    return fields
