"""Discord, as DiscordChatExporter writes it: one channel, a JSON document with `channel` and `messages`.

The export does not name the user: all are participants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mnemic.importers.entries import entry, left_out, mapping, read
from mnemic.importers.file_readers.fields import first, text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin

_SPOKEN = frozenset({"Default", "Reply", "ThreadStarterMessage", None})


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a channel with its messages."""
    channel = value.get("channel")
    return isinstance(channel, Mapping) and "guild" in value and isinstance(value.get("messages"), list)


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages in their order; joins, pins and the like are left out."""
    for record in read(found, name, recognises, "expected a channel of DiscordChatExporter"):
        if isinstance(record, Item):
            yield record
            continue
        channel = record.value["channel"]
        conversation = f"discord-{channel['id']}" if isinstance(channel.get("id"), int | str) else name
        for position, said in enumerate(record.value["messages"], start=1):
            place = f"message {position} of {conversation}"
            if isinstance(said, Mapping) and said.get("type") not in _SPOKEN:
                yield left_out(place, conversation, "system_message")
            else:
                yield entry(place, conversation, partial(_message, said, conversation))


def _message(value: Any, conversation: str) -> Message:
    said = mapping(value, "message")
    author, sent = said.get("author"), said.get("timestamp")
    who = author if isinstance(author, Mapping) else {}
    return Message(
        role="tool" if who.get("isBot") is True else "participant",
        content=text(said, "content") or "",
        message_id=f"{conversation}:{said.get('id')}",
        session=conversation,
        speaker=first(who, "nickname", "name"),
        sent_at=None if sent is None else moment(sent, "message:timestamp"),
        origin=Origin.IMPORT,
    )


IMPORTER = Importer(items=items, recognises=recognises, rank=43)
