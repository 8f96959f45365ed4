"""Claude's data export: `conversations.json`, a list of conversations with `chat_messages`, and beside it Claude's
memories of the user, as a text and one for each project: `memories.json`, in later exports a file for each account.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.extract.messages import text_parts
from mnemic.importers.entries import began_at, entry, in_order, mapping, read, records_of
from mnemic.importers.file_readers.fields import text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.multi_file_exports import Packed
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Candidate, Message, Origin, Source

_ROLES: Mapping[str | None, str] = MappingProxyType({"human": "user", "assistant": "assistant"})
_MEMORY_FILE = re.compile(r"(?:^|/)memories(?:/[^/]+)?\.json$")
_FENCES = re.compile(r"`+")
_HEADING = re.compile(r"#{1,6} +(?P<marked>.+)|\*\*(?P<bold>[^*\n]+)\*\*:?")


def recognises(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is a conversation of Claude's export, or its memories."""
    return isinstance(value.get("chat_messages"), list) or isinstance(value.get("conversations_memory"), str)


def items(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages of each conversation in their order, the oldest conversation first, then Claude's memories."""
    all_of_them = read(found, name, recognises, "expected a Claude conversation with chat_messages")
    for record in in_order(all_of_them, lambda value: began_at(value.get("created_at"))):
        if isinstance(record, Item):
            yield record
            continue
        if "chat_messages" not in record.value:
            yield from _memory_items(record, name)
            continue
        given = record.value.get("uuid")
        conversation = given if isinstance(given, str) else name
        for position, said in enumerate(record.value["chat_messages"], start=1):
            yield entry(f"{record.place}, message {position}", conversation, partial(_message, said, conversation))


def _memory_items(record: Record, name: str) -> Iterator[Item]:
    """Yield a memory for each paragraph, with its heading, its account and its project."""
    value = record.value
    account = {"account": value["account_uuid"]} if isinstance(value.get("account_uuid"), str) else {}
    projects = value.get("project_memories")
    texts = {"": value["conversations_memory"], **(projects if isinstance(projects, Mapping) else {})}
    number = 0
    for project, words in texts.items():
        about = account | ({"project": project} if project else {})
        for heading, paragraph in _paragraphs(words if isinstance(words, str) else ""):
            number += 1
            data = {"claude": about} | ({"heading": heading} if heading else {})
            for part in text_parts(paragraph):
                source = Source(origin=Origin.IMPORT)
                kept = Candidate(content=part, context=heading, category="note", data=data, source=source)
                yield Item(place=f"{record.place}, memory {number}", conversation=name, content=kept)


def _paragraphs(words: str) -> Iterator[tuple[str, str]]:
    heading = ""
    for paragraph in filter(None, map(str.strip, re.split(r"\n[ \t]*\n", words))):
        alone = _HEADING.fullmatch(paragraph)
        if alone is None:
            yield heading, paragraph
        else:
            heading = (alone["marked"] or alone["bold"]).strip()


def folder(files: Packed, _asked: bool) -> Iterator[Item] | None:
    """Return the items of an export that contains Claude's memories; None for any other folder."""
    remembered = [
        one
        for one in records_of(files, filter(_MEMORY_FILE.search, files.names_ending(".json")))
        if isinstance(one.value, Mapping) and recognises(one.value)
    ]
    if not remembered:
        return None
    said = (
        name for name in files.names_ending("conversations.json") if name.rpartition("/")[2] == "conversations.json"
    )
    return items(chain(records_of(files, said), remembered), "export")


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
    """Return the text parts of a message, without the assistant's thoughts and tool calls; of an old export, its
    `text`. A long text that the user pasted, or a file's text, follows in a block of its own.
    """
    parts = said.get("content")
    if isinstance(parts, list) and parts:
        entries = [part.get("text") for part in parts if isinstance(part, Mapping) and part.get("type") == "text"]
        own = "\n".join(part for part in entries if isinstance(part, str))
    else:
        own = text(said, "text") or ""
    return "\n\n".join(filter(None, [own, *_attached_texts(said.get("attachments"))]))


def _attached_texts(given: object) -> Iterator[str]:
    """Yield the texts that were pasted or attached, each between fences: a reader tells them from the user's words."""
    for one in given if isinstance(given, list) else ():
        words = one.get("extracted_content") if isinstance(one, Mapping) else None
        if isinstance(words, str) and words.strip():
            fence = "`" * max(3, 1 + max(map(len, _FENCES.findall(words)), default=0))
            yield f"{fence}\n{words.strip()}\n{fence}"


IMPORTER = Importer(items=items, recognises=recognises, folder=folder, main_files=("conversations.json",), rank=60)
