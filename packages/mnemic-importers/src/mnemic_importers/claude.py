"""Claude's data export: `conversations.json`, a list of conversations with `chat_messages`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.types import Message, Origin
from mnemic_importers.conversations.fields import text
from mnemic_importers.conversations.importer_interface import Importer
from mnemic_importers.conversations.item import Item
from mnemic_importers.conversations.records import Record
from mnemic_importers.conversations.timestamps import moment
from mnemic_importers.entries import began_at, entry, in_order, mapping, read

_ROLES: Mapping[str | None, str] = MappingProxyType({"human": "user", "assistant": "assistant"})


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a conversation of Claude's export."""
    return isinstance(value.get("chat_messages"), list)


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages of each conversation in their order, the oldest conversation first."""
    all_of_them = read(found, name, recognises, "expected a Claude conversation with chat_messages")
    for record in in_order(all_of_them, lambda value: began_at(value.get("created_at"))):
        if isinstance(record, Item):
            yield record
            continue
        given = record.value.get("uuid")
        conversation = given if isinstance(given, str) else name
        for position, said in enumerate(record.value["chat_messages"], start=1):
            yield entry(f"{record.place}, message {position}", conversation, partial(_message, said, conversation))


def _message(value: Any, conversation: str) -> Message:
    said = mapping(value, "message")
    role = _ROLES.get(text(said, "sender"))
    if role is None:
        raise InvalidInput("message:sender", hint="human or assistant")
    sent = said.get("created_at")
    return Message(
        role=role,
        content=_content(said),
        message_id=text(said, "uuid"),
        session=conversation,
        sent_at=None if sent is None else moment(sent, "message:created_at"),
        origin=Origin.IMPORT,
    )


def _content(said: Mapping[str, Any]) -> str:
    """Return the text parts of a message: not what the assistant thought, nor calls of tools; of an old export, its
    `text`.
    """
    parts = said.get("content")
    if not isinstance(parts, list) or not parts:
        return text(said, "text") or ""
    entries = [part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type") == "text"]
    return "\n".join(part for part in entries if isinstance(part, str))


IMPORTER = Importer(items=items, recognises=recognises, main_files=("conversations.json",), rank=60)
