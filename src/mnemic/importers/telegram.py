"""Telegram Desktop's `result.json`: one chat, or all of an account (`chats`).

Only the export of an account names its owner, the user; in the export of one private chat the user is the only person
other than the one the chat is named after. The export of a single group does not name the user: all are participants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from mnemic.importers.entries import entry, left_out, mapping, read, wrong
from mnemic.importers.file_readers.fields import first, text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a chat or an account that Telegram exported."""
    return _is_chat(value) or (isinstance(value.get("chats"), Mapping) and isinstance(value["chats"].get("list"), list))


def _is_chat(value: Any) -> bool:
    if not isinstance(value, Mapping) or not isinstance(value.get("messages"), list):
        return False
    said = [one for one in value["messages"][:3] if isinstance(one, Mapping)]
    typed = all("type" in one for one in said)
    # Tools that shorten an export omit the head of a chat; its messages still have both of their dates.
    return typed and (("type" in value and "id" in value) or any("date_unixtime" in one for one in said))


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages of each chat in their order; Telegram's own notes (`service`) are left out."""
    for record in read(found, name, recognises, "expected Telegram's result.json"):
        if isinstance(record, Item):
            yield record
            continue
        value = record.value
        about = value.get("personal_information")
        owner = about.get("user_id") if isinstance(about, Mapping) else None
        for chat in [value] if _is_chat(value) else _chats(value):
            if _is_chat(chat):
                yield from _chat(chat, owner)
            else:
                yield wrong(record.place, name, "conversation:shape", "expected a chat with messages")


def _chats(value: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the chats of an account, including those that the user has left."""
    for group in ("chats", "left_chats"):
        listed = value.get(group)
        if isinstance(listed, Mapping) and isinstance(listed.get("list"), list):
            yield from listed["list"]


def _chat(chat: Mapping[str, Any], owner: Any) -> Iterator[Item]:
    conversation = f"telegram-{chat['id']}" if isinstance(chat.get("id"), int | str) else "telegram"
    own = _own_ids(chat, owner)
    for position, said in enumerate(chat["messages"], start=1):
        place = f"message {position} of {conversation}"
        if isinstance(said, Mapping) and said.get("type") != "message":
            yield left_out(place, conversation, "system_message")
        else:
            by_owner = chat.get("type") == "saved_messages" or (
                isinstance(said, Mapping) and said.get("from_id") in own
            )
            yield entry(
                place, conversation, partial(_message, said, "user" if by_owner else "participant", conversation)
            )


def _own_ids(chat: Mapping[str, Any], owner: Any) -> frozenset[Any]:
    """Return the ids under which the user speaks in a chat; none if they are unknown."""
    if owner is not None:
        return frozenset({owner, f"user{owner}"})
    if chat.get("type") != "personal_chat":
        return frozenset()
    said = [one for one in chat["messages"] if isinstance(one, Mapping) and isinstance(one.get("from_id"), str)]
    name = chat.get("name")
    other = {f"user{chat.get('id')}"} | {one["from_id"] for one in said if name is not None and one.get("from") == name}
    rest = {one["from_id"] for one in said} - other
    return frozenset(rest) if len(rest) == 1 else frozenset()


def _message(value: Any, role: str, conversation: str) -> Message:
    """Return a message. A forwarded message is attributed to its author, never to the user."""
    said = mapping(value, "message")
    forwarded = "forwarded_from" in said
    sent = first(said, "date_unixtime", "date")
    if isinstance(sent, str) and sent.isascii() and sent.isdigit() and len(sent) < 16:
        sent = int(sent)
    number = text(said, "id")
    return Message(
        role="participant" if forwarded else role,
        content=_content(said.get("text")),
        message_id=None if number is None else f"{conversation}:{number}",
        session=conversation,
        speaker=text(said, "forwarded_from" if forwarded else "from"),
        sent_at=None if sent is None else moment(sent, "message:date"),
        origin=Origin.IMPORT,
    )


def _content(result: Any) -> str:
    """Return the words of a message: text, or a list of texts and formatted pieces."""
    if isinstance(result, str):
        return result
    pieces = result if isinstance(result, list) else []
    words = [piece.get("text") if isinstance(piece, Mapping) else piece for piece in pieces]
    return "".join(word for word in words if isinstance(word, str))


IMPORTER = Importer(items=items, recognises=recognises, main_files=("result.json",), rank=80)
