"""Structured memory: data of known shapes, checked, found by its fields."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path

from mnemic.entrypoints.wire import memory_dict, receipt_dict
from mnemic.kinds.structured import StructuredMemory
from mnemic.sync_facade import Awaited, awaited
from mnemic.types import Actor
from mnemic_server.access import Reading, TheService, Writing
from mnemic_server.answers import MemoriesAnswer, ReceiptsAnswer, answering
from mnemic_server.kind_shapes import DataWanted, NewData, StructuredText
from mnemic_server.operating_answers import DataAnswer, ShapesAnswer
from mnemic_server.parsed import Parsed

router = APIRouter(prefix="/v1/structured", tags=["kinds"], route_class=Parsed)

ShapeName = Annotated[str, Path(min_length=1, max_length=64)]


def _view(service: TheService, actor: Actor) -> StructuredMemory[Awaited]:
    return StructuredMemory(service.engine, actor, awaited())


@router.get("", **answering(ShapesAnswer))
async def shapes(actor: Reading, service: TheService) -> dict[str, Any]:
    """Return the shapes that are known, and the fields by which two of one are the same thing."""
    known = _view(service, actor).shapes
    return {"shapes": [{"name": name, "identity": list(shape.identity)} for name, shape in sorted(known.items())]}


@router.post("/extract", **answering(DataAnswer))
async def extract(wanted: StructuredText, actor: Reading, service: TheService) -> dict[str, Any]:
    """Extract what a text tells of known shapes, ready to be put; nothing is stored."""
    found = await _view(service, actor).extract(wanted.text, sent_at=wanted.sent_at)
    return {"data": [dict(one) for one in found]}


@router.post("/capture", **answering(ReceiptsAnswer))
async def capture(wanted: StructuredText, actor: Writing, service: TheService) -> dict[str, Any]:
    """Keep what a text tells of known shapes."""
    receipts = await _view(service, actor).capture(wanted.text, sent_at=wanted.sent_at)
    return {"receipts": [receipt_dict(receipt) for receipt in receipts]}


@router.post("/{shape}", **answering(ReceiptsAnswer))
async def put(shape: ShapeName, wanted: NewData, actor: Writing, service: TheService) -> dict[str, Any]:
    """Keep data of a shape. What is known of the same thing and not said again stays; one receipt for each memory."""
    receipts = await _view(service, actor).put(shape, wanted.data)
    return {"receipts": [receipt_dict(receipt) for receipt in receipts]}


@router.post("/{shape}/query", **answering(MemoriesAnswer))
async def query(shape: ShapeName, wanted: DataWanted, actor: Reading, service: TheService) -> dict[str, Any]:
    """Return the newest data of a shape whose fields are as wanted."""
    found = await _view(service, actor).query(shape, wanted.where, limit=wanted.limit)
    return {"memories": [memory_dict(memory) for memory in found]}
