"""Open WebUI: the export of chats (a list with a `chat` each), and of memories (a list with `content` each)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.extract.messages import text_parts
from mnemic.importers.entries import began_at, entry, in_order, left_out, mapping, read
from mnemic.importers.file_readers.fields import text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Candidate, Message, Origin, Source

_ROLES = frozenset({"user", "assistant", "tool"})
_LONGEST = 100_000
"""Messages of a branch, which may lead back to itself in a damaged file."""


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a chat or a memory."""
    chat = value.get("chat")
    if isinstance(chat, Mapping):
        return isinstance(chat.get("history"), Mapping) or isinstance(chat.get("messages"), list)
    return (
        "user_id" in value and isinstance(value.get("content"), str) and "updated_at" in value and "role" not in value
    )


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages of each chat's current branch, the oldest chat first, and the memories."""
    for record in in_order(read(found, name, recognises, "expected a chat or a memory of Open WebUI"), _began):
        if isinstance(record, Item):
            yield record
        elif "chat" in record.value:
            yield from _chat(record, str(record.value.get("id") or name))
        else:
            for part in text_parts(record.value["content"]):
                source = Source(origin=Origin.IMPORT, ref=f"{name}:{record.place}")
                yield Item(place=record.place, conversation=name, content=Candidate(content=part, source=source))


def _began(value: Mapping[str, Any]) -> Any:
    return began_at(value.get("created_at"))


def _chat(record: Record, conversation: str) -> Iterator[Item]:
    for position, said in enumerate(_branch(record.value["chat"]), start=1):
        place = f"{record.place}, message {position}"
        if isinstance(said, Mapping) and said.get("role") == "system":
            yield left_out(place, conversation, "system_message")
        else:
            yield entry(place, conversation, partial(_message, said, conversation))


def _branch(chat: Mapping[str, Any]) -> list[Any]:
    """Return the messages up to the one that is shown last; other branches are answers that were made anew."""
    history = chat.get("history")
    nodes = history.get("messages") if isinstance(history, Mapping) else None
    if not isinstance(history, Mapping) or not isinstance(nodes, Mapping):
        return list(chat.get("messages") or ())
    branch: list[Any] = []
    node = nodes.get(str(history.get("currentId")))
    while isinstance(node, Mapping) and len(branch) < min(len(nodes), _LONGEST):
        branch.append(node)
        node = nodes.get(str(node.get("parentId")))
    return branch[::-1]


def _message(value: Any, conversation: str) -> Message:
    said = mapping(value, "message")
    role, sent = text(said, "role"), said.get("timestamp")
    if role not in _ROLES:
        raise InvalidInput("message:role", hint="user or assistant")
    return Message(
        role=str(role),
        content=text(said, "content") or "",
        message_id=text(said, "id"),
        session=conversation,
        sent_at=None if sent is None else moment(sent, "message:timestamp"),
        origin=Origin.IMPORT,
    )


IMPORTER = Importer(items=items, recognises=recognises, rank=44)
