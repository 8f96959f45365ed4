"""Files from a browser: a piece of an export is read as `mnemic import` reads it, and taken in."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field, StringConstraints

from mnemic.cli.file_import import LISTED, Intake, Summary
from mnemic.cli.import_dry_run import rehearse_beside
from mnemic.errors import InvalidInput
from mnemic.importers.conversation_files import AUTO, formats, read_bytes
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.speakers import speakers_in, with_user
from mnemic.types import Actor, Message
from mnemic_server.access import Reading, ServiceContext, TheService, Writing
from mnemic_server.console_response_bodies import FormatsResponse, UploadResponse
from mnemic_server.parsed_body_route import ParsedBodyRoute
from mnemic_server.request_bodies import Name, Strict
from mnemic_server.response_bodies import answering

_TOLD = (
    *("recorded", "refreshed", "captured", "blocked", "left_out", "skipped"),
    *("learnt", "passed_over", "stopped", "import_id"),
)
router = APIRouter(prefix="/v1/uploads", tags=["imports"], route_class=ParsedBodyRoute)

MAX_PIECE = 1_500_000
"""Characters of one piece. Whole exports are sent piece by piece: some conversations, or some lines, at a time."""
MAX_ENTRIES = 20_000
"""Messages, memories and defects of one piece. Reading a piece cannot be interrupted, and short entries cost most."""


class UploadPiece(Strict):
    """A piece of a file: the name of the file, and its text. With `dry_run` it is only counted, as are the facts that
    rules find in the user's first 200 messages. `me` is the speaker who is the user, in a chat that does not say so.
    `start` and `most` take in only that many of its entries from there on (the first is 0), so that a text which has to
    be read whole can be taken in by several requests, each with all of it. Pieces with one `import_id`, chosen by the
    caller or returned for the first piece, are taken back as one (`/v1/imports/{import_id}/undo`).
    """

    name: Name
    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_PIECE)]
    format: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]{1,32}$")] = AUTO
    extract: bool = True
    dry_run: bool = False
    me: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None
    start: Annotated[int, Field(ge=0, le=MAX_ENTRIES)] = 0
    most: Annotated[int, Field(ge=1, le=MAX_ENTRIES)] = MAX_ENTRIES
    import_id: Name | None = None


@router.get("/formats", **answering(FormatsResponse))
async def known_formats(_: Reading) -> dict[str, Any]:
    """List formats of files. Return the names of the formats that this installation reads."""
    return {"formats": formats()}


@router.post("", **answering(UploadResponse))
async def take(piece: UploadPiece, actor: Writing, service: TheService) -> dict[str, Any]:
    """Import a piece of a file. Its messages are stored, and the user's statements in them captured. Repeating a piece
    changes nothing. `speakers` names the people in it if none is known to be the user: then nothing that they state is
    captured, unless `me` names the user. `waiting`: how many of the captured await review; `left_out`: statements of
    the user that did not become facts, by reason; `learnt` and `passed_over` name both, 1,000 at most.
    `entries`: how many the piece has, taken in or not.
    """
    whole = await asyncio.to_thread(_read, piece)
    known = speakers_in(whole)
    items = whole[piece.start : piece.start + piece.most]
    found: Counter[str] = Counter()
    for item in items:
        if item.problem is None and item.skipped is None:
            found["messages" if isinstance(item.content, Message) else "memories"] += 1
    counts = {"messages": found["messages"], "memories": found["memories"], "dry_run": piece.dry_run}
    if piece.dry_run:
        summary = await _rehearse_items(piece, items, actor, service)
    else:
        summary = await _taken(piece, items, actor, service, whole[: piece.start])
    done = summary.as_dict()
    return {name: done.get(name) for name in _TOLD} | {
        **counts,
        "entries": len(whole),
        "waiting": summary.waiting,
        "degraded": dict(summary.degraded),
        "speakers": known.names() if known.lacks_user else [],
        "failed": done["failed"][:100],
    }


async def _taken(
    piece: UploadPiece, items: list[Item], actor: Actor, service: ServiceContext, before: list[Item]
) -> Summary:
    intake = Intake(engine=service.engine, actor=actor, extract=piece.extract, import_id=piece.import_id or "")
    intake.follow(before)
    return await intake.take(iter(items), lambda _: None)


async def _rehearse_items(piece: UploadPiece, items: list[Item], actor: Actor, service: ServiceContext) -> Summary:
    """Return the finds of importing the piece, without those already known."""
    found = await rehearse_beside(service.engine, items, actor, extract=piece.extract)
    return Summary(
        captured=found.captured,
        blocked=found.blocked,
        left_out=found.passed_over,
        skipped=found.skipped,
        failed=found.failed,
        learnt=[{"change": "new", "memory_id": None, "was": [], **one} for one in found.facts[:LISTED]],
    )


def _read(piece: UploadPiece) -> list[Item]:
    """Return the items of a piece. A large one takes a second to parse, off the event loop."""
    items = list(islice(read_bytes(piece.text.encode(), piece.format, piece.name), MAX_ENTRIES + 1))
    if len(items) > MAX_ENTRIES:
        raise InvalidInput(
            "text:too_many", hint=f"a piece may contain at most {MAX_ENTRIES} entries: send smaller ones"
        )
    return items if piece.me is None else list(with_user(items, piece.me))
