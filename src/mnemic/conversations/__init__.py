"""A CONVERSATION'S FILE IN, MESSAGES OUT: chat lines, exports of other products, four benchmarks', and mnemic's own.

The format is told from the content, never from the name; gzip from its first bytes. Lines are read lazily. What is
wrong with the whole file raises InvalidInput (`invalid_input:file:<what>`); what is wrong with one message is an `Item`
with its `problem`, and the rest is read on.
"""

from __future__ import annotations

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
    locomo,
    longmemeval,
    mem0,
    realtalk,
    sharegpt,
    telegram,
)
from mnemic.conversations.item import Item
from mnemic.conversations.records import Record, open_file, records
from mnemic.errors import InvalidInput
from mnemic.plugins import plugin

__all__ = ["Format", "Item", "read_conversation"]

_DETECTION_RECORDS = 20


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


Reader = Callable[[Iterator[Record], str], Iterator[Item]]
"""Records, and the name for a conversation that has none, into items."""

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
        Format.CHAT: chat.recognises,
    }
)


def read_conversation(
    path: str | Path, file_format: str = Format.AUTO, conversation: str | None = None
) -> Iterator[Item]:
    """Yield the items of the file at `path` (`-` is standard input), in its order.

    `conversation` takes one conversation of a file that holds several. Raises InvalidInput: `invalid_input:format`,
    `invalid_input:conversation`, or `invalid_input:file:<what>` with what one of missing, directory, unreadable, empty,
    gzip, encoding, json, too_large, format.
    """
    wanted, reader = _named(file_format)
    with open_file(path) as (stream, name):
        found = records(stream)
        if wanted is Format.AUTO:
            wanted, found = _detected(found)
            reader = _READERS[wanted]
        seen: set[str] = set()
        taken = False
        for item in reader(found, conversation or name):
            if conversation is not None and item.conversation != conversation and item.problem is None:
                seen.add(item.conversation)
                continue
            taken = taken or item.problem is None
            yield item
        if conversation is not None and not taken:
            raise InvalidInput("conversation", hint=_not_there(seen))


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
    "chat lines with role and content, mnemic's export, an export of ChatGPT, Claude or Telegram, ShareGPT, "
    "mem0's get_all(), LoCoMo, LongMemEval, BEAM or REALTALK"
)
