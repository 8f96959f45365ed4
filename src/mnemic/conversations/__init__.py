"""A CONVERSATION'S FILE IN, MESSAGES OUT: chat lines, exports of other products, four benchmarks', and mnemic's own.

The format is told from the content, never from the name; gzip from its first bytes. Lines are read lazily. What is
wrong with the whole file raises InvalidInput (`invalid_input:file:<what>`); what is wrong with one message is an `Item`
with its `problem`, and the rest is read on.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mnemic.conversations import (
    archive_lines,
    beam,
    chat,
    chatgpt,
    claude,
    export_lines,
    gemini,
    graphiti,
    langmem,
    letta,
    locomo,
    longmemeval,
    markdown,
    mem0,
    realtalk,
    sharegpt,
    slack,
    telegram,
    whatsapp,
)
from mnemic.conversations.item import Item
from mnemic.conversations.packed import Packed, packed
from mnemic.conversations.records import Record, open_file, records, text_lines
from mnemic.errors import InvalidInput
from mnemic.plugins import plugin

__all__ = ["Format", "Item", "read_conversation"]

_DETECTION_RECORDS = 20
_HEAD_BYTES = 1024


class Format(StrEnum):
    """The formats that are understood; `auto` tells from the content."""

    AUTO = "auto"
    MNEMIC = "mnemic"
    ARCHIVE = "archive"
    CHAT = "chat"
    LOCOMO = "locomo"
    LONGMEMEVAL = "longmemeval"
    BEAM = "beam"
    REALTALK = "realtalk"
    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    SHAREGPT = "sharegpt"
    TELEGRAM = "telegram"
    MEM0 = "mem0"
    GEMINI = "gemini"
    SLACK = "slack"
    LETTA = "letta"
    GRAPHITI = "graphiti"
    LANGMEM = "langmem"
    WHATSAPP = "whatsapp"
    MARKDOWN = "markdown"


Reader = Callable[[Iterator[Record], str], Iterator[Item]]
"""Records, and the name for a conversation that has none, into items."""

TextReader = Callable[[Iterator[tuple[int, str]], str], Iterator[Item]]
"""The same from the numbered lines of a text."""

_READERS: Mapping[Format, Reader] = MappingProxyType(
    {
        Format.MNEMIC: export_lines.items,
        Format.ARCHIVE: archive_lines.items,
        Format.CHAT: chat.items,
        Format.LOCOMO: locomo.items,
        Format.LONGMEMEVAL: longmemeval.items,
        Format.BEAM: beam.items,
        Format.REALTALK: realtalk.items,
        Format.CHATGPT: chatgpt.items,
        Format.CLAUDE: claude.items,
        Format.SHAREGPT: sharegpt.items,
        Format.TELEGRAM: telegram.items,
        Format.MEM0: mem0.items,
        Format.GEMINI: gemini.items,
        Format.SLACK: slack.items,
        Format.LETTA: letta.items,
        Format.GRAPHITI: graphiti.items,
        Format.LANGMEM: langmem.items,
    }
)
_RECOGNISERS: Mapping[Format, Callable[[Mapping[str, Any]], bool]] = MappingProxyType(
    {
        Format.MNEMIC: export_lines.recognises,
        Format.ARCHIVE: archive_lines.recognises,
        Format.LOCOMO: locomo.recognises,
        Format.LONGMEMEVAL: longmemeval.recognises,
        Format.BEAM: beam.recognises,
        Format.REALTALK: realtalk.recognises,
        Format.CHATGPT: chatgpt.recognises,
        Format.CLAUDE: claude.recognises,
        Format.SHAREGPT: sharegpt.recognises,
        Format.TELEGRAM: telegram.recognises,
        Format.MEM0: mem0.recognises,
        Format.GEMINI: gemini.recognises,
        Format.SLACK: slack.recognises,
        Format.LETTA: letta.recognises,
        Format.GRAPHITI: graphiti.recognises,
        Format.LANGMEM: langmem.recognises,
        Format.CHAT: chat.recognises,
    }
)

_TEXTS: Mapping[Format, tuple[TextReader, Callable[[str], bool]]] = MappingProxyType(
    {Format.WHATSAPP: (whatsapp.items, whatsapp.recognises), Format.MARKDOWN: (markdown.items, markdown.recognises)}
)
_MAIN_FILES = ("conversations.json", "myactivity.json", "result.json")


def read_conversation(
    path: str | Path, file_format: str = Format.AUTO, conversation: str | None = None
) -> Iterator[Item]:
    """Yield the items of the file at `path` (`-` is standard input), in its order.

    `conversation` takes one conversation of a file that holds several. Raises InvalidInput: `invalid_input:format`,
    `invalid_input:conversation`, or `invalid_input:file:<what>` with what one of missing, directory, unreadable, empty,
    gzip, encoding, json, too_large, format.
    """
    seen: set[str] = set()
    taken = False
    for item in _items(path, file_format, conversation):
        if conversation is not None and item.conversation != conversation and item.problem is None:
            seen.add(item.conversation)
            continue
        taken = taken or item.problem is None
        yield item
    if conversation is not None and not taken:
        raise InvalidInput("conversation", hint=_not_there(seen))


def _items(path: str | Path, file_format: str, conversation: str | None) -> Iterator[Item]:
    wanted, reader = _named(file_format)
    files = packed(path)
    if files is not None:
        yield from _packed_items(files, wanted, reader, conversation)
        return
    with open_file(path) as (stream, name):
        yield from _read(stream, wanted, reader, conversation or name)


def _read(stream: Any, wanted: Format | None, reader: Reader, name: str) -> Iterator[Item]:
    """Yield the items of one file."""
    text = _text_reader(stream, wanted)
    if text is not None:
        yield from text(text_lines(stream), name)
        return
    found = records(stream)
    if wanted is Format.AUTO:
        wanted, found = _detected(found)
        reader = _READERS[wanted]
    yield from reader(found, name)


def _text_reader(stream: Any, wanted: Format | None) -> TextReader | None:
    """Return the reader of a text: the one that is asked for, or that knows the first line."""
    if wanted is not None and wanted in _TEXTS:
        return _TEXTS[wanted][0]
    peek = getattr(stream, "peek", None)
    if wanted is not Format.AUTO or peek is None:
        return None
    try:
        head = peek(_HEAD_BYTES)[:_HEAD_BYTES].decode("utf-8", "ignore").removeprefix("\ufeff").lstrip()
    except (OSError, EOFError, zlib.error):  # reading it says what is wrong with it
        return None
    line = head.partition("\n")[0]
    return next((reader for reader, recognises in _TEXTS.values() if recognises(line)), None)


def _packed_items(files: Packed, wanted: Format | None, reader: Reader, conversation: str | None) -> Iterator[Item]:
    """Yield the items of a folder or a zip: Slack's files by channel, the one file of another export, or each text."""
    users = next(files.named("users.json"), None)
    if wanted is Format.SLACK or (wanted is Format.AUTO and users is not None and any(files.named("channels.json"))):
        people = slack.people_in([one.value for one in records(files.open(users))]) if users is not None else {}
        for name in files.named(".json"):
            *_, channel, _ = ("", *name.split("/"))
            if channel:
                yield from slack.items(records(files.open(name)), channel, people)
        return
    main = next(files.named(*_MAIN_FILES), None)
    if main is not None:
        yield from _read(files.open(main), wanted, reader, conversation or "export")
        return
    texts = list(files.named(".md", ".txt"))
    if not texts:
        raise InvalidInput("file:directory", hint="the folder or zip holds no export that is known")
    for name in texts:
        wanted_here = Format.MARKDOWN if wanted is Format.AUTO and name.casefold().endswith(".md") else wanted
        yield from _read(files.open(name), wanted_here, reader, name.rpartition(".")[0])


def _named(file_format: str) -> tuple[Format | None, Reader]:
    """Return the format of this name and its reader, which may be a plug-in's. Raises InvalidInput
    (`invalid_input:format`) and InvalidConfig (`invalid_config:plugin:<name>`).
    """
    try:
        wanted = Format(file_format)
    except ValueError:
        offered: Reader | None = plugin("importers", file_format)
        if offered is None:
            raise InvalidInput("format", hint=f"one of {', '.join(Format)}, or a plug-in's") from None
        return None, offered
    return wanted, _READERS.get(wanted, chat.items)


def _not_there(seen: set[str]) -> str:
    if not seen:
        return "the file names no such conversation"
    names = sorted(seen)
    return f"the file holds {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"


def _detected(found: Iterator[Record]) -> tuple[Format, Iterator[Record]]:
    """Return the format of the first record that can be told, and the records again from the first."""
    head = list(islice(found, _DETECTION_RECORDS))
    if not head:
        raise InvalidInput("file:empty", hint="the file holds no conversation")
    for record in head:
        if isinstance(record.value, Mapping):
            for known, recognises in _RECOGNISERS.items():
                if recognises(record.value):
                    return known, chain(head, found)
    broken = next((record for record in head if record.problem is not None), None)
    if broken is not None and broken.problem is not None:
        raise broken.problem
    raise InvalidInput("file:format", hint=f"{head[0].place}: neither a message nor a memory; expected {_EXPECTED}")


_EXPECTED = (
    "chat lines with role and content, mnemic's export, an export of ChatGPT, Claude, Gemini, Slack, Telegram or "
    "WhatsApp, ShareGPT, Markdown, memories of mem0, Letta, Graphiti or LangMem, LoCoMo, LongMemEval, BEAM or REALTALK"
)
