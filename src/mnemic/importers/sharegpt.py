"""ShareGPT: a list of `{"conversations": [{"from": "human", "value": "..."}]}`, or one such object a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.entries import entry, left_out, mapping, read
from mnemic.importers.file_readers.fields import text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin

_ROLES: Mapping[str | None, str] = MappingProxyType(
    {
        **dict.fromkeys(("human", "user"), "user"),
        **dict.fromkeys(("gpt", "assistant", "chatgpt", "bard", "bing", "model", "function_call"), "assistant"),
        **dict.fromkeys(("tool", "observation", "function_response"), "tool"),
    }
)


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a ShareGPT conversation."""
    said = value.get("conversations")
    return isinstance(said, list) and any(isinstance(one, Mapping) and "from" in one and "value" in one for one in said)


def _is_conversation(value: Mapping[str, Any]) -> bool:
    """Return True for a conversation in a file of this format: one without messages is valid."""
    return recognises(value) or value.get("conversations") == []


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages of each conversation in their order. The format has no times."""
    for position, record in enumerate(read(found, name, _is_conversation, "expected a ShareGPT conversation"), start=1):
        if isinstance(record, Item):
            yield record
            continue
        given = record.value.get("id")
        conversation = given if isinstance(given, str) else name if position == 1 else f"{name}-{position}"
        for at, said in enumerate(record.value["conversations"], start=1):
            place = f"{record.place}, message {at}"
            if isinstance(said, Mapping) and said.get("from") == "system":
                yield left_out(place, conversation, "system_message")
            else:
                yield entry(place, conversation, partial(_message, said, conversation, at))


def _message(value: Any, conversation: str, position: int) -> Message:
    said = mapping(value, "message")
    role = _ROLES.get(text(said, "from"))
    if role is None:
        raise InvalidInput("message:from", hint="one of human, gpt, tool, system")
    return Message(
        role=role,
        content=text(said, "value") or "",
        message_id=f"{conversation}:{position}",
        session=conversation,
        origin=Origin.IMPORT,
    )


IMPORTER = Importer(items=items, recognises=recognises, rank=70)
