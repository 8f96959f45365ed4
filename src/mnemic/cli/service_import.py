"""Import of a file into a service: it is read here, where its folder or zip and its readers are, and sent as lines of
mnemic's own formats, some at a time. Repeating an import changes nothing, so one that was broken off goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from mnemic.cli.file_import import Progress, Summary
from mnemic.cli.terminal import json_text
from mnemic.errors import InvalidInput, NotSupported
from mnemic.importers.file_readers import chat
from mnemic.importers.file_readers.item import Item
from mnemic.maintenance.archive import line_of
from mnemic.retrieve.export import candidate_dict
from mnemic.types import Actor, Candidate, Message

AT_ONCE = 60
"""Entries of a piece: as many as a service takes in within seconds."""
PIECE, LARGEST = 400_000, 1_000_000
"""Bytes of a piece, and of one entry: a service refuses a request of 2 MiB."""
_COUNTS = ("captured", "blocked", "left_out", "skipped", "degraded")


@dataclass(frozen=True, slots=True)
class _Line:
    """An entry as it is sent: the format of its line, the line, and its place in the file."""

    file_format: str
    text: str = field(repr=False)
    place: str

    @property
    def size(self) -> int:
        """Number of its bytes."""
        return len(self.text.encode())


@dataclass(slots=True, kw_only=True)
class SentImport:
    """`Intake` of a service: `engine` is the client's. Raises NotSupported for what only an operator can do there."""

    engine: Any
    actor: Actor
    extract: bool = True
    strict: bool = False
    again: bool = False
    own: bool = False
    summary: Summary = field(default_factory=Summary)
    _said: _Line | None = field(default=None, init=False)

    async def take(self, items: Iterator[Item], progress: Progress) -> Summary:
        """Send all items, in order, unless the service's store or model fails on the way: then `summary.stopped` is the
        reason. Items sent before an error stay imported.
        """
        for name in ("again", "own"):
            if getattr(self, name):
                raise NotSupported(f"{name}:remote", hint="a service does not offer this: run it where its store is")
        piece: list[_Line] = []
        size = 0
        for seen, item in enumerate(items, start=1):
            line = self._line(item) if self.summary.takes(item, strict=self.strict) else None
            if line is None:
                continue
            full = len(piece) == AT_ONCE or size + line.size > PIECE
            if piece and (full or piece[0].file_format != line.file_format):
                await self._send(piece)
                progress(seen)
                piece, size = [], 0
                if self.summary.stopped is not None:
                    return self.summary
            piece.append(line)
            size += line.size
        if piece:
            await self._send(piece)
        return self.summary

    def _line(self, item: Item) -> _Line | None:
        """Return the line of an item with content; None, and a failure, for one that no request can carry."""
        said = item.content
        assert said is not None
        if isinstance(said, Message):
            file_format, value = "chat", chat.line_of(said, item.conversation)
        elif isinstance(said, Candidate):
            file_format, value = "mnemic", candidate_dict(said)
        else:
            file_format, value = "archive", line_of(said)
        line = _Line(file_format, json_text(value, indent=None), item.place)
        if line.size <= LARGEST:
            return line
        problem = InvalidInput("content:too_large", hint=f"a service takes at most {LARGEST:,} bytes of one entry")
        self.summary.takes(Item(place=item.place, conversation=item.conversation, problem=problem), strict=self.strict)
        return None

    async def _send(self, piece: list[_Line]) -> None:
        """Send some entries. The message before them goes along once more, as the context of the first."""
        talk = piece[0].file_format == "chat"
        before = [self._said] if talk and self._said is not None else []
        lines = [*before, *piece]
        body = {
            "name": "import",
            "text": "\n".join(one.text for one in lines),
            "format": piece[0].file_format,
            "extract": self.extract,
            "start": len(before),
            "import_id": self.summary.import_id,
        }
        done = await self.engine.upload({name: value for name, value in body.items() if value is not None})
        # A text of one line is read as a document with one entry.
        unit = "entry" if len(lines) == 1 else "line"
        self._count(done, {f"{unit} {at}": one.place for at, one in enumerate(lines, start=1)})
        self._said = piece[-1] if talk else self._said

    def _count(self, done: dict[str, Any], places: dict[str, str]) -> None:
        summary = self.summary
        summary.recorded += done["recorded"]
        summary.refreshed += done["refreshed"]
        summary.waiting += done["waiting"]
        for name in _COUNTS:
            getattr(summary, name).update(done[name])
        summary.learnt += done["learnt"]
        summary.passed_over += [{**one, "place": places.get(one["place"], one["place"])} for one in done["passed_over"]]
        summary.import_id = done["import_id"] or summary.import_id
        for one in done["failed"]:
            place = places.get(one["place"], one["place"])
            if self.strict:
                raise InvalidInput("import", hint=f"{place}: {one['reason']}")
            summary.fail(place, one["reason"])
        summary.stopped = summary.stopped or done["stopped"]
