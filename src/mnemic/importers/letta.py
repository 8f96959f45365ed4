"""Agents of Letta: an agent file (`.af`) with `core_memory` and `messages`, or with `agents` and `blocks`.

Blocks of memory about the user become memories; the agent's description (`persona`) is left out. Messages keep their
wording, without the envelope that Letta puts around them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.extract.messages import text_parts
from mnemic.importers.entries import entry, left_out, mapping, read
from mnemic.importers.file_readers.fields import first, text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Candidate, Message, Origin, Source

_SPOKEN = frozenset({"user", "assistant"})


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is an agent file."""
    first_form = isinstance(value.get("core_memory"), list) and isinstance(value.get("messages"), list)
    return first_form or (isinstance(value.get("agents"), list) and isinstance(value.get("blocks"), list))


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the blocks of the file, then the messages of each agent."""
    for record in read(found, name, recognises, "expected an agent file of Letta"):
        if isinstance(record, Item):
            yield record
            continue
        value = record.value
        for at, block in enumerate(value.get("core_memory") or value.get("blocks") or [], start=1):
            yield from _block(f"block {at}", block, name)
        agents = value["agents"] if isinstance(value.get("agents"), list) else [value]
        for agent in agents:
            if isinstance(agent, Mapping):
                yield from _message_items(agent, name)


def _block(place: str, value: Any, name: str) -> Iterator[Item]:
    label = value.get("label") if isinstance(value, Mapping) else None
    content = value.get("value") if isinstance(value, Mapping) else None
    if not isinstance(label, str) or not isinstance(content, str):
        problem = InvalidInput("memory:block", hint="expected a block with label and value")
        yield Item(place=place, conversation=name, problem=problem)
        return
    if label == "persona" or not content.strip():
        yield left_out(place, name, "persona" if label == "persona" else "empty")
        return
    about = {"label": label, **({"id": value["id"]} if isinstance(value.get("id"), str) else {})}
    for part in text_parts(content):
        kept = Candidate(content=part, category="note", data={"letta": about}, source=Source(origin=Origin.IMPORT))
        yield Item(place=place, conversation=name, content=kept)


def _message_items(agent: Mapping[str, Any], name: str) -> Iterator[Item]:
    own = first(agent, "name", "id")
    conversation = own if isinstance(own, str) else name
    messages: Sequence[Any] = agent["messages"] if isinstance(agent.get("messages"), list) else []
    for at, said in enumerate(messages, start=1):
        place = f"message {at} of {conversation}"
        role = said.get("role") if isinstance(said, Mapping) else None
        if isinstance(said, Mapping) and role not in _SPOKEN:
            yield left_out(place, conversation, "tool" if role == "tool" else "system_message")
        else:
            yield entry(place, conversation, partial(_message, said, conversation))


def _message(value: Any, conversation: str) -> Message:
    said = mapping(value, "message")
    sent = first(said, "created_at", "date")
    return Message(
        role=str(said["role"]) if "role" in said else "user",
        content=_sent_words(said) or _unwrap_message(_words(said.get("content", said.get("text")))),
        message_id=text(said, "id"),
        session=conversation,
        sent_at=None if sent is None else moment(sent, "message:created_at"),
        origin=Origin.IMPORT,
    )


def _words(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(one["text"] for one in parts if isinstance(one, Mapping) and isinstance(one.get("text"), str))


def _unwrap_message(words: str) -> str:
    """Return the message in the envelope `{"type": "user_message", "message": ...}`; nothing for one sent by Letta
    itself.
    """
    if not words.startswith("{"):
        return words
    try:
        data = json.loads(words)
    except ValueError:
        return words
    if not isinstance(data, dict) or "type" not in data:
        return words
    message = data.get("message")
    return message if data["type"] == "user_message" and isinstance(message, str) else ""


def _sent_words(said: Mapping[str, Any]) -> str:
    """Return the words that an agent sent by its tool `send_message`."""
    calls = said.get("tool_calls")
    for call in calls if isinstance(calls, list) else []:
        function = call.get("function") if isinstance(call, Mapping) else None
        if isinstance(function, Mapping) and function.get("name") == "send_message":
            try:
                data = json.loads(str(function.get("arguments")))
            except ValueError:
                continue
            if isinstance(data, dict) and isinstance(data.get("message"), str):
                return str(data["message"])
    return ""


IMPORTER = Importer(items=items, recognises=recognises, rank=120)
