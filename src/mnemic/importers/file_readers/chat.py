"""Chat messages, one a line or in a list, or OpenAI's `{"messages": [...]}`.

A message is `{"role", "content", "timestamp"?, "speaker"?, "id"?, "session"?, "conversation"?}`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.file_readers.fields import first, text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.types import Message, Origin
from mnemic.types.memory import PARTICIPANT

_ROLES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("user", "human"), "user"),
        **dict.fromkeys(("assistant", "ai", "bot", "model", "gpt"), "assistant"),
        **dict.fromkeys(("tool", "function"), "tool"),
        **dict.fromkeys(("system", "developer"), "system"),
        PARTICIPANT: PARTICIPANT,
    }
)


def line_of(said: Message, conversation: str) -> dict[str, Any]:
    """Return the line that `items` reads as this message."""
    return {
        "role": said.role,
        "content": said.content,
        "id": said.message_id,
        "session": said.session,
        "speaker": said.speaker,
        "timestamp": None if said.sent_at is None else said.sent_at.isoformat(),
        "conversation": conversation,
    }


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a chat message or a list of them."""
    return ("role" in value and "content" in value) or isinstance(value.get("messages"), list)


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages in their order. Those of a `{"messages": [...]}` share its conversation and session."""
    times: Counter[tuple[str, str]] = Counter()
    for position, record in enumerate(found, start=1):
        if record.problem is not None:
            yield Item(place=record.place, conversation=name, problem=record.problem)
        elif isinstance(record.value, Mapping) and isinstance(record.value.get("messages"), list):
            yield from (_told_again(one, times) for one in _conversation(record, position, name))
        else:
            yield _told_again(_item(record.place, record.value, {}, name), times)


def _told_again(item: Item, times: Counter[tuple[str, str]]) -> Item:
    """Return an item; the same words again without a time or an identifier are another message: a second "Yes"."""
    said = item.content
    if not isinstance(said, Message) or said.sent_at is not None or said.message_id is not None:
        return item
    times[said.role, said.content] += 1
    count = times[said.role, said.content]
    return item if count == 1 else replace(item, content=replace(said, message_id=f"{said.session}#{count}"))


def _conversation(record: Record, position: int, name: str) -> Iterator[Item]:
    own = first(record.value, "conversation", "conversation_id", "id")
    shared = {"conversation": own if isinstance(own, str) else name if position == 1 else f"{name}-{position}"}
    for at, value in enumerate(record.value["messages"], start=1):
        yield _item(f"{record.place}, message {at}", value, shared, name)


def _item(place: str, value: Any, shared: Mapping[str, Any], name: str) -> Item:
    conversation = name
    try:
        if not isinstance(value, Mapping):
            raise InvalidInput("message", hint="expected an object with role and content")
        conversation = text({**shared, **value}, "conversation", "conversation_id") or conversation
        message = _message(value, conversation)
    except InvalidInput as problem:
        return Item(place=place, conversation=conversation, problem=problem)
    reason = "system_message" if message.role == "system" else None if message.content.strip() else "empty"
    return Item(place=place, conversation=conversation, content=None if reason else message, skipped=reason)


def _message(value: Mapping[str, Any], conversation: str) -> Message:
    role = first(value, "role_type", "role")  # Zep's `role` is the speaker's name
    known = _ROLES.get(role.strip().lower()) if isinstance(role, str) else None
    if known is None:
        raise InvalidInput("message:role", hint="one of user, assistant, tool, system, participant")
    sent = first(value, "timestamp", "sent_at", "created_at")
    return Message(
        role=known,
        content=_content(value.get("content")),
        message_id=text(value, "id", "message_id"),
        session=text(value, "session", "session_id", "thread_id") or conversation,
        speaker=text(value, "role" if "role_type" in value else "speaker", "name"),
        sent_at=None if sent is None else moment(sent, "message:timestamp"),
        origin=Origin.TOOL_OUTPUT if known == "tool" else Origin.IMPORT,
    )


def _content(content: Any) -> str:
    """Return the text of a message; of a list of parts, its text parts. A call of a tool has none."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(isinstance(part, Mapping) for part in content):
        parts = [part.get("text") for part in content if part.get("type") in ("text", "input_text", "output_text")]
        if all(isinstance(part, str) for part in parts):
            return "\n".join(str(part) for part in parts)
    raise InvalidInput("message:content", hint="expected text")
