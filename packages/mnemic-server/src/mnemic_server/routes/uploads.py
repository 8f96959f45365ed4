"""Files from a browser: a piece of an export is read as `mnemic import` reads it, and taken in."""

from __future__ import annotations

import asyncio
from collections import Counter
from itertools import islice
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import StringConstraints

from mnemic.errors import InvalidInput
from mnemic.types import Message
from mnemic_cli.file_import import Intake
from mnemic_importers.conversations import AUTO, Item, formats, read_bytes
from mnemic_importers.conversations.speakers import speakers_in, with_user
from mnemic_server.access import Reading, TheService, Writing
from mnemic_server.console_response_bodies import FormatsResponse, UploadResponse
from mnemic_server.parsed_body_route import Parsed
from mnemic_server.request_bodies import Name, Strict
from mnemic_server.response_bodies import answering

router = APIRouter(prefix="/v1/uploads", tags=["imports"], route_class=Parsed)

MAX_PIECE = 1_500_000
"""Characters of one piece. Whole exports are sent piece by piece: some conversations, or some lines, at a time."""
MOST_ENTRIES = 20_000
"""Messages, memories and defects of one piece. Reading a piece cannot be interrupted, and short entries cost most."""


class UploadPiece(Strict):
    """A piece of a file: the name of the file, and its text. With `dry_run` it is only counted. `me` is the speaker who
    is the user, in a chat that does not say so.
    """

    name: Name
    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_PIECE)]
    format: Annotated[str, StringConstraints(pattern=r"^[a-z0-9_-]{1,32}$")] = AUTO
    extract: bool = True
    dry_run: bool = False
    me: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None


@router.get("/formats", **answering(FormatsResponse))
async def known_formats(_: Reading) -> dict[str, Any]:
    """Return the names of the formats that this installation reads."""
    return {"formats": formats()}


@router.post("", **answering(UploadResponse))
async def take(piece: UploadPiece, actor: Writing, service: TheService) -> dict[str, Any]:
    """Import a piece of a file: messages are stored, and the user's statements in them captured. Repeating a piece
    changes nothing. `speakers` names the people in it if none is known to be the user: then nothing that they state is
    captured, unless `me` names the user. `waiting`: how many of the captured await review.
    """
    items = await asyncio.to_thread(_read, piece)
    known = speakers_in(items)
    found: Counter[str] = Counter()
    for item in items:
        if item.problem is None and item.skipped is None:
            found["messages" if isinstance(item.content, Message) else "memories"] += 1
    counts = {"messages": found["messages"], "memories": found["memories"], "dry_run": piece.dry_run}
    intake = Intake(engine=service.engine, actor=actor, extract=piece.extract)
    if piece.dry_run:
        for item in items:
            if item.problem is not None:
                intake.summary.fail(item.place, item.problem.reason)
            elif item.skipped is not None:
                intake.summary.skipped[item.skipped] += 1
    else:
        await intake.take(iter(items), lambda _: None)
    done = intake.summary.as_dict()
    return {name: done.get(name) for name in ("recorded", "refreshed", "captured", "blocked", "skipped", "stopped")} | {
        **counts,
        "waiting": intake.summary.waiting,
        "speakers": known.names() if known.lacks_user else [],
        "failed": done["failed"][:100],
    }


def _read(piece: UploadPiece) -> list[Item]:
    """Return the items of a piece. A large one takes a second to parse, off the event loop."""
    items = list(islice(read_bytes(piece.text.encode(), piece.format, piece.name), MOST_ENTRIES + 1))
    if len(items) > MOST_ENTRIES:
        raise InvalidInput(
            "text:too_many", hint=f"a piece may contain at most {MOST_ENTRIES} entries: send smaller ones"
        )
    return items if piece.me is None else list(with_user(items, piece.me))
