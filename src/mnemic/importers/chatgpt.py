"""ChatGPT's data export: `conversations.json`, a list of conversations whose messages form a tree (`mapping`).

The path that ends at `current_node` is the one the user saw last; messages of other branches are skipped and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers.entries import began_at, entry, in_order, left_out, mapping, read, records_of, wrong
from mnemic.importers.file_readers.fields import first, text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.multi_file_exports import Packed
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin

_ROLES = frozenset({"user", "assistant", "tool"})
_PART_OF_EXPORT = re.compile(r"(?:^|/)conversations-\d{1,6}\.json$")
_SAID = frozenset({"text", "multimodal_text"})


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a conversation of ChatGPT's export."""
    nodes = value.get("mapping")
    return isinstance(nodes, Mapping) and ("current_node" in value or "create_time" in value)


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages of each conversation's current branch, the oldest conversation and message first."""
    all_of_them = read(found, name, recognises, "expected a ChatGPT conversation with a mapping")
    for record in in_order(all_of_them, lambda value: began_at(value.get("create_time"))):
        if isinstance(record, Item):
            yield record
            continue
        given = first(record.value, "conversation_id", "id")
        yield from _conversation(record.value, record.place, given if isinstance(given, str) else name)


def _conversation(value: Mapping[str, Any], place: str, conversation: str) -> Iterator[Item]:
    nodes: Mapping[str, Any] = value["mapping"]
    branch = _branch(nodes, value.get("current_node"))
    if branch is None:
        yield wrong(place, conversation, "conversation:tree", "the messages do not lead back to a first one")
        return
    for position, node in enumerate(branch, start=1):
        at = f"{place}, message {position}"
        message = nodes[node].get("message")
        if message is None:
            continue
        reason = _left_out(message)
        if reason is not None:
            yield left_out(at, conversation, reason)
        else:
            yield entry(at, conversation, lambda message=message: _message(message, conversation))  # type: ignore[misc]
    shown = set(branch)
    for node, one in nodes.items():
        if node not in shown and isinstance(one, Mapping) and one.get("message") is not None:
            yield left_out(f"{place}, another branch", conversation, "other_branch")


def _branch(nodes: Mapping[str, Any], last: Any) -> list[str] | None:
    """Return the names of the nodes from the first to `last`; None if a parent is missing or leads in a circle."""
    if not isinstance(last, str):
        return [name for name, node in nodes.items() if isinstance(node, Mapping)]
    path: list[str] = []
    seen: set[str] = set()
    at: Any = last
    while at is not None:
        if not isinstance(at, str) or at in seen or not isinstance(nodes.get(at), Mapping):
            return None
        seen.add(at)
        path.append(at)
        at = nodes[at].get("parent")
    return path[::-1]


def _left_out(message: Any) -> str | None:
    """Return the reason why a message is not part of the conversation; None if it is."""
    if not isinstance(message, Mapping):
        return None
    author, content, about = (message.get(name) for name in ("author", "content", "metadata"))
    if isinstance(author, Mapping) and author.get("role") == "system":
        return "system_message"
    if isinstance(about, Mapping) and about.get("is_visually_hidden_from_conversation") is True:
        return "hidden"
    if message.get("recipient", "all") != "all" or (
        isinstance(content, Mapping) and content.get("content_type") not in _SAID
    ):
        return "not_said"
    return None


def _message(message: Any, conversation: str) -> Message:
    said = mapping(message, "message")
    role = text(mapping(said.get("author"), "message:role"), "role")
    if role not in _ROLES:
        raise InvalidInput("message:role", hint="one of user, assistant, tool, system")
    parts = mapping(said.get("content"), "message:content").get("parts")
    if not isinstance(parts, list):
        raise InvalidInput("message:content", hint="expected a list of parts")
    sent = said.get("create_time")
    return Message(
        role=role,
        content="\n".join(filter(None, map(_words, parts))),
        message_id=text(said, "id"),
        session=conversation,
        sent_at=None if sent is None else moment(sent, "message:create_time"),
        origin=Origin.IMPORT,
    )


def _words(part: Any) -> str:
    """Return the words of a part of a message: its text, or the transcript of speech. A picture has none."""
    if isinstance(part, Mapping) and part.get("content_type") == "audio_transcription":
        part = part.get("text")
    return part if isinstance(part, str) else ""


def folder(files: Packed, _asked: bool) -> Iterator[Item] | None:
    """Return the items of an export in several files, as large ones are; None for any other folder."""
    names = [name for name in files.names_ending(".json") if _PART_OF_EXPORT.search(name)]
    return items(records_of(files, names), "export") if names else None


IMPORTER = Importer(items=items, recognises=recognises, folder=folder, main_files=("conversations.json",), rank=50)
