"""Sessions of Claude Code: `~/.claude/projects/<folder>/<session>.jsonl`, an entry a line.

What a tool answered, what a side agent was told, and what the program itself wrote under the user's role is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mnemic.importers.entries import entry, left_out, mapping
from mnemic.importers.file_readers.fields import text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin

_TYPES = frozenset({"user", "assistant"})
PROGRAM_OPENINGS = ("<command-", "<local-command-", "<bash-", "<system-reminder>", "Caveat: ", "[Request interrupted")
"""Openings of texts that stand under the user's role and are the program's."""


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is an entry of a session."""
    return "sessionId" in value and isinstance(value.get("type"), str) and "uuid" in value


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages in their order."""
    for record in found:
        value = record.value
        if record.problem is not None:
            yield Item(place=record.place, conversation=name, problem=record.problem)
        elif not isinstance(value, Mapping) or value.get("type") not in _TYPES or _is_aside(value):
            yield left_out(record.place, name, "system_message")
        else:
            yield entry(record.place, str(value.get("sessionId") or name), partial(_message, value, name))


def _is_aside(value: Mapping[str, Any]) -> bool:
    return bool(value.get("isMeta") or value.get("isSidechain") or value.get("isCompactSummary"))


def _message(value: Mapping[str, Any], name: str) -> Message:
    said = mapping(value.get("message"), "message")
    role, content = str(value["type"]), said.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = [one.get("text") for one in parts if isinstance(one, Mapping) and one.get("type") == "text"]
    own = [one for one in texts if isinstance(one, str) and not one.lstrip().startswith(PROGRAM_OPENINGS)]
    sent = value.get("timestamp")
    return Message(
        role=role,
        content="\n".join(own),
        message_id=text(value, "uuid"),
        session=text(value, "sessionId") or name,
        sent_at=None if sent is None else moment(sent, "message:timestamp"),
        origin=Origin.IMPORT,
    )


IMPORTER = Importer(items=items, recognises=recognises, rank=40)
