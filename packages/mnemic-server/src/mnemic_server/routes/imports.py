"""Bulk import: part after part, cut off and taken up again at will."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Path

from mnemic.json_output import receipt_dict
from mnemic.maintenance.bulk_import import ImportProgress, import_progress, take_part
from mnemic.types import Candidate, Origin, to_json
from mnemic_server.access import Correcting, Reading, TheService, Writing
from mnemic_server.operations_response_bodies import ImportUndoneResponse
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.request_bodies import ImportPart
from mnemic_server.response_bodies import ImportResponse, answering

router = APIRouter(prefix="/v1/imports", tags=["imports"], route_class=ParsedBodyRoute)

ImportId = Annotated[str, Path(min_length=1, max_length=64)]


@router.get("/{import_id}", **answering(ImportResponse))
async def progress(import_id: ImportId, actor: Reading, service: TheService) -> dict[str, Any]:
    """Get the progress of an import. Show the progress of an import: its next part begins at `taken`."""
    return _as_json(await import_progress(service.engine, actor, import_id))


@router.post("/{import_id}", **answering(ImportResponse))
async def take(import_id: ImportId, part: ImportPart, actor: Writing, service: TheService) -> dict[str, Any]:
    """Import the next part. Import the part that begins with memory number `at`, and return the progress of the import.
    Repeating a part changes nothing; one that leaves a gap is refused (`invalid_input:import:gap`).
    """
    candidates = [_as_imported(one.candidate(actor.session)) for one in part.memories]
    done, receipts = await take_part(service.engine, actor, import_id, part.at, candidates)
    return {**_as_json(done), "receipts": [receipt_dict(receipt) for receipt in receipts]}


@router.post("/{import_id}/undo", **answering(ImportUndoneResponse))
async def undo_import(import_id: ImportId, actor: Correcting, service: TheService) -> dict[str, Any]:
    """Take back an import. Of the caller's, by parts or from a file: what it made is forgotten, what it changed is as
    it was before. What has changed since stays.
    """
    done: dict[str, Any] = to_json(await service.engine.undo_import(import_id, actor=actor))
    return done


def _as_imported(candidate: Candidate) -> Candidate:
    """Return the origin of imported memories: they were not stated here, so they have the trust of an import."""
    return replace(candidate, source=replace(candidate.source, origin=Origin.IMPORT))


def _as_json(done: ImportProgress) -> dict[str, Any]:
    return {
        "import_id": done.import_id,
        "taken": done.taken,
        "outcomes": dict(done.outcomes),
        "updated_at": done.updated_at.isoformat() if done.updated_at else None,
    }
