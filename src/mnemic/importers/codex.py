"""Sessions of Codex: `~/.codex/sessions/<date>/rollout-<time>-<session>.jsonl`, an event a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mnemic.importers.entries import entry, left_out
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin

_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
PROGRAM_OPENINGS = ("<environment_context>", "<user_instructions>", "<turn_aborted>", "# AGENTS.md instructions")
"""Openings of texts that stand under the user's role and are the program's."""


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is an event of a session."""
    return value.get("type") in _TYPES and isinstance(value.get("payload"), Mapping)


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages in their order; events that repeat them are left out."""
    session = name
    for record in found:
        value = record.value
        if record.problem is not None:
            yield Item(place=record.place, conversation=session, problem=record.problem)
            continue
        payload = value.get("payload") if isinstance(value, Mapping) else None
        about = payload if isinstance(payload, Mapping) else {}
        if isinstance(value, Mapping) and value.get("type") == "session_meta" and isinstance(about.get("id"), str):
            session = about["id"]
        if about.get("type") == "message" and about.get("role") in ("user", "assistant"):
            yield entry(record.place, session, partial(_message, value, about, session))
        else:
            yield left_out(record.place, session, "system_message")


def _message(value: Mapping[str, Any], said: Mapping[str, Any], session: str) -> Message:
    content, sent = said.get("content"), value.get("timestamp")
    texts = [one.get("text") for one in content if isinstance(one, Mapping)] if isinstance(content, list) else [content]
    own = [one for one in texts if isinstance(one, str) and not one.lstrip().startswith(PROGRAM_OPENINGS)]
    return Message(
        role=str(said["role"]),
        content="\n".join(own),
        session=session,
        sent_at=None if sent is None else moment(sent, "message:timestamp"),
        origin=Origin.IMPORT,
    )


IMPORTER = Importer(items=items, recognises=recognises, rank=41)
