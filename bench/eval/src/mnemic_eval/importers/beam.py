"""BEAM: one user's very long chats with an assistant.

Tavakoli et al., "Beyond a Million Tokens: Benchmarking and Enhancing Long-Term Memory in LLMs", 2025. One chat a line:
`chat`, and `messages` with `id`, `role`, `batch`, `content` and, where a batch begins, `time`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.fields import text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin

_ROLES = frozenset({"user", "assistant"})


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a BEAM chat."""
    said = value.get("messages")
    return (
        "chat" in value and isinstance(said, list) and any(isinstance(one, Mapping) and "batch" in one for one in said)
    )


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages of every chat. A batch is a session; its first message has the date of all of them."""
    for position, record in enumerate(found, start=1):
        value = record.value
        if record.problem is not None or not isinstance(value, Mapping) or not isinstance(value.get("messages"), list):
            problem = record.problem or InvalidInput("conversation:shape", hint="expected a BEAM chat")
            yield Item(place=record.place, conversation=name, problem=problem)
            continue
        try:
            conversation = text(value, "chat") or f"{name}-{position}"
        except InvalidInput as strange:
            yield Item(place=record.place, conversation=name, problem=strange)
            continue
        yield from _messages(value["messages"], conversation)


def _messages(said: list[Any], conversation: str) -> Iterator[Item]:
    at: datetime | None = None
    for position, one in enumerate(said, start=1):
        place = f"message {position} of {conversation}"
        try:
            message = _message(one, at, conversation)
        except InvalidInput as problem:
            yield Item(place=place, conversation=conversation, problem=problem)
            continue
        at = message.sent_at
        empty = not message.content.strip()
        skipped = "empty" if empty else None
        yield Item(place=place, conversation=conversation, content=None if empty else message, skipped=skipped)


def _message(said: Any, at: datetime | None, conversation: str) -> Message:
    if not isinstance(said, Mapping):
        raise InvalidInput("message", hint="expected an object with role and content")
    role = text(said, "role")
    if role not in _ROLES:
        raise InvalidInput("message:role", hint="user or assistant")
    time = text(said, "time")
    return Message(
        role=role,
        content=text(said, "content") or "",
        message_id=text(said, "id"),
        session=f"{conversation}:{text(said, 'batch') or 0}",
        sent_at=at if time is None else moment(time, "message:time"),
        origin=Origin.IMPORT,
    )


IMPORTER = Importer(items=items, recognises=recognises, rank=30)
