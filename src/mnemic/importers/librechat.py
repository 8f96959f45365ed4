"""LibreChat: the export of one conversation, its messages as a list or as a tree of answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mnemic.importers.entries import entry, mapping, read
from mnemic.importers.file_readers.fields import text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a conversation."""
    return "conversationId" in value and isinstance(value.get("messages"), list)


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages in their order, of a tree each branch's newest answers."""
    for record in read(found, name, recognises, "expected a conversation of LibreChat"):
        if isinstance(record, Item):
            yield record
            continue
        conversation = str(record.value["conversationId"] or name)
        for position, said in enumerate(_branch(record.value["messages"]), start=1):
            yield entry(f"{record.place}, message {position}", conversation, partial(_message, said, conversation))


def _branch(messages: list[Any]) -> Iterator[Any]:
    """Yield a list as it is; of a tree the last answer to each message, which is the one that was shown."""
    while messages:
        tree = [one for one in messages if isinstance(one, Mapping) and isinstance(one.get("children"), list)]
        if not tree:
            yield from messages
            return
        yield messages[-1]
        messages = messages[-1].get("children") or [] if isinstance(messages[-1], Mapping) else []


def _message(value: Any, conversation: str) -> Message:
    said = mapping(value, "message")
    sent, parts = said.get("createdAt"), said.get("content")
    texts = [one.get("text") for one in parts if isinstance(one, Mapping)] if isinstance(parts, list) else []
    own = text(said, "text") or "\n".join(one for one in texts if isinstance(one, str))
    return Message(
        role="user" if said.get("isCreatedByUser") is True else "assistant",
        content=own,
        message_id=text(said, "messageId"),
        session=conversation,
        sent_at=None if sent is None else moment(sent, "message:createdAt"),
        origin=Origin.IMPORT,
    )


IMPORTER = Importer(items=items, recognises=recognises, rank=45)
