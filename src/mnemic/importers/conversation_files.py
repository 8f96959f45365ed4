"""Reader of conversation files: every format that this package reads, and those of plug-ins by their name.

The format is detected from the content, and by the ending of the file name only for a text that nothing recognises;
gzip is detected from its first bytes. Lines are read lazily.
A defect of the whole file raises InvalidInput (`invalid_input:file:<what>`); a defective message becomes an `Item` with
a `problem`, and reading continues.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping
from io import BufferedReader, BytesIO
from itertools import chain, islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.importers import (
    chatgpt,
    claude,
    claude_code,
    codex,
    discord,
    gemini,
    graphiti,
    langmem,
    letta,
    librechat,
    markdown,
    mcp_memory,
    mem0,
    open_webui,
    plain_forms,
    sharegpt,
    slack,
    telegram,
    whatsapp,
)
from mnemic.importers.file_readers import archive_lines, chat, export_lines
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.multi_file_exports import Packed, open_packed
from mnemic.importers.file_readers.records import Record, conversation_name, open_file, records, text_lines
from mnemic.importers.importer_interface import Importer
from mnemic.plugins import names, plugin

_DETECTION_RECORDS = 20
_HEAD_BYTES = 1024


AUTO = "auto"
"""Name that asks for the format to be detected."""
_OWN: Mapping[str, Importer] = MappingProxyType(
    {
        "mnemic": Importer(items=export_lines.items, recognises=export_lines.recognises, rank=0),
        "archive": Importer(items=archive_lines.items, recognises=archive_lines.recognises, rank=1),
        "chatgpt": chatgpt.IMPORTER,
        "claude": claude.IMPORTER,
        "claude_code": claude_code.IMPORTER,
        "codex": codex.IMPORTER,
        "discord": discord.IMPORTER,
        "gemini": gemini.IMPORTER,
        "graphiti": graphiti.IMPORTER,
        "langmem": langmem.IMPORTER,
        "letta": letta.IMPORTER,
        "librechat": librechat.IMPORTER,
        "markdown": markdown.IMPORTER,
        "mcp_memory": mcp_memory.IMPORTER,
        "mem0": mem0.IMPORTER,
        "open_webui": open_webui.IMPORTER,
        "sharegpt": sharegpt.IMPORTER,
        "slack": slack.IMPORTER,
        "telegram": telegram.IMPORTER,
        "whatsapp": whatsapp.IMPORTER,
        **plain_forms.IMPORTERS,
        # Several formats also have messages with a role and content, so this one comes last.
        "chat": Importer(items=chat.items, recognises=chat.recognises, rank=1000),
    }
)
"""Formats that are detected. A plug-in's is read by its name alone, so that it cannot claim other files."""


def formats() -> list[str]:
    """Return the names of the formats that this installation reads, `auto` first."""
    return [AUTO, *_OWN, *(one for one in names("importers") if one not in _OWN)]


def read_conversation(path: str | Path, file_format: str = AUTO, conversation: str | None = None) -> Iterator[Item]:
    """Yield the items of the file at `path` (`-` is standard input), in its order.

    `conversation` selects one conversation of a file with several. Raises InvalidInput: `invalid_input:format`,
    `invalid_input:conversation`, or `invalid_input:file:<what>` with missing, directory, unreadable, empty, gzip,
    encoding, json, too_large or format.
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


def read_bytes(data: bytes, file_format: str = AUTO, name: str = "upload") -> Iterator[Item]:
    """Yield the items of a file that was sent: those that `read_conversation` reads from a file of this name. Raises as
    it does.
    """
    candidates, asked = importers(file_format)
    yield from _read(BufferedReader(BytesIO(data)), candidates, asked, conversation_name(name), name)


def _items(path: str | Path, file_format: str, conversation: str | None) -> Iterator[Item]:
    candidates, asked = importers(file_format)
    files = open_packed(path)
    if files is not None:
        yield from _packed_items(files, candidates, asked, conversation)
        return
    with open_file(path) as (stream, name):
        yield from _read(stream, candidates, asked, conversation or name, Path(path).name)


def importers(file_format: str) -> tuple[list[Importer], bool]:
    """Return the importer of this name, or every one that may recognise a file, and whether one was requested. Raises
    InvalidInput (`invalid_input:format`) and InvalidConfig (`invalid_config:plugin:<name>`).
    """
    if file_format == AUTO:
        return sorted(_OWN.values(), key=lambda one: one.rank), False
    offered = _OWN.get(file_format) or plugin("importers", file_format)
    if offered is None:
        raise InvalidInput("format", hint=f"one of {', '.join(formats())}")
    # A plug-in may be the reader of the records alone.
    return [offered if isinstance(offered, Importer) else Importer(items=offered)], True


def _read(
    stream: Any, candidates: list[Importer], asked: bool, name: str, file_name: str | None = None
) -> Iterator[Item]:
    """Yield the items of one file. An unrecognised text is read by the ending of `file_name`."""
    text = _of_text(stream, candidates, asked, file_name or "")
    if text is not None and text.lines is not None:
        nothing = True
        for item in text.lines(text_lines(stream), name):
            nothing = False
            yield item
        if nothing:
            raise InvalidInput("file:format", hint="nothing in the file is of this format")
        return
    look = "" if asked else _look_of(_head(stream))
    found = records(stream)
    chosen = candidates[0]
    if not asked:
        chosen, found = _detect_importer(found, candidates, look)
    if chosen.items is not None:
        yield from chosen.items(found, name)


def _of_text(stream: Any, candidates: list[Importer], asked: bool, file_name: str) -> Importer | None:
    """Return the importer of a text: the requested one, one that recognises the first line, or one with the ending."""
    if asked:
        return candidates[0] if candidates[0].lines is not None else None
    head = _head(stream).decode("utf-8", "ignore").removeprefix("\ufeff").lstrip()
    if not head:
        return None
    line = head.partition("\n")[0]
    known = next((one for one in candidates if one.recognises_line is not None and one.recognises_line(line)), None)
    if known is not None or head.startswith("{"):
        return known
    fitting = [] if head.startswith("[") else _by_ending(candidates, file_name)
    fitting += [one for one in candidates if one.recognises_text is not None and one.recognises_text(head)]
    return next(iter(fitting), None)


def _head(stream: Any) -> bytes:
    """Return the beginning of a file, nothing if it cannot be read: reading it reports its defect."""
    peek = getattr(stream, "peek", None)
    try:
        return b"" if peek is None else bytes(peek(_HEAD_BYTES)[:_HEAD_BYTES])
    except (OSError, EOFError, zlib.error):
        return b""


def _look_of(head: bytes) -> str:
    """Return what a file that is of no known form looks like, and what is missing in it; "" for JSON."""
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start[:1] in (b"{", b"[", b"") or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return ""
    for begun, what in _BEGUN.items():
        if start[: len(begun)].upper() == begun.upper():
            return what
    if b"\0" in head or sum(one < 32 and one not in b"\t\n\r\f" for one in head) > len(head) // 16:
        return "no text: a program's own file"
    if b"-->" in head:
        return _SUBTITLES
    if _MAIL_HEAD.match(start):
        return "an e-mail: import its words as Markdown (.md)"
    return "a plain text: a transcript has a name before each message (Name: text), notes are Markdown (.md)"


_SAVED_AS_TEXT = "save its words as Markdown (.md)"
_SUBTITLES = "subtitles: write them as a transcript (Name: text)"
_BEGUN: Mapping[bytes, str] = MappingProxyType(
    {
        b"%PDF-": f"a PDF: {_SAVED_AS_TEXT}",
        b"PK\x03\x04": "a zip that is damaged or cut short: fetch it again",
        b"\x1f\x8b": "a gzip file inside another one: unpack it",
        b"\x89PNG": "a picture",
        b"\xff\xd8\xff": "a picture",
        b"GIF8": "a picture",
        b"SQLite format 3": "a database (SQLite): export what is in it",
        b"WEBVTT": _SUBTITLES,
        b"BEGIN:V": "calendar or address cards",
        b"<!DOCTYPE html": f"a web page: {_SAVED_AS_TEXT}",
        b"<html": f"a web page: {_SAVED_AS_TEXT}",
        b"<?xml": "XML",
    }
)
_MAIL_HEAD = re.compile(rb"(?:[A-Za-z-]{2,40}:[^\n]{0,400}\n){1,20}?(?i:subject):")


def _packed_items(files: Packed, candidates: list[Importer], asked: bool, conversation: str | None) -> Iterator[Item]:
    """Yield the items of a folder or a zip: all files at once, the one file of another export, or each text."""
    for name in files.outside:
        problem = InvalidInput("file:link", hint=f"{name} leads out of the folder, and is not read")
        yield Item(place=name, conversation="export", problem=problem)
    for one in candidates:
        whole = one.folder(files, asked) if one.folder is not None else None
        if whole is not None:
            yield from whole
            return
    names = [name for one in candidates for name in one.main_files] or _MAIN_FILES
    main = next(files.names_ending(*names), None)
    if main is not None:
        with files.open(main) as stream:
            yield from _read(stream, candidates, asked, conversation or "export")
        return
    texts = list(files.names_ending(".md", ".txt", ".csv"))
    if not texts:
        inside = ", ".join(files.names[:6])
        raise InvalidInput(
            "file:directory",
            hint="the folder or zip contains no export that is known"
            + (
                f", but {inside}; expected one of {', '.join(_MAIN_FILES)}, or .md, .txt, .csv"
                if inside
                else ": it is empty"
            ),
        )
    for name in texts:
        fitting = _by_ending(candidates, name)
        chosen = (fitting, True) if fitting and not asked else (candidates, asked)
        own = name.rpartition(".")[0] if fitting else _name_of_text(files, name)
        try:
            with files.open(name) as stream:
                yield from _read(stream, *chosen, own)
        except InvalidInput as problem:
            if len(texts) == 1:
                raise
            if problem.reason == InvalidInput("file:empty").reason:  # a page that was begun and left
                yield Item(place=name, conversation=own, skipped="empty")
                continue
            yield Item(place=name, conversation=own, problem=problem)


def _by_ending(candidates: list[Importer], name: str) -> list[Importer]:
    return [one for one in candidates if one.ending is not None and name.casefold().endswith(one.ending)]


def _name_of_text(files: Packed, name: str) -> str:
    """Return the name of a chat in a folder or a zip: that of its file, as if it were alone, or of the whole if every
    chat has the same file name.
    """
    inner = name.rpartition("/")[2]
    return conversation_name(files.path.name if inner.casefold() == _NAMELESS else inner)


_NAMELESS = "_chat.txt"
"""Name of the one text in the zip that WhatsApp exports on an iPhone; the zip is named after the chat."""
_MAIN_FILES = ("conversations.json", "myactivity.json", "result.json")
"""Names of the one file of an export, if the requested format names none."""


def _not_there(seen: set[str]) -> str:
    if not seen:
        return "the file names no such conversation"
    names = sorted(seen)
    return f"the file has {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}"


def _detect_importer(
    found: Iterator[Record], candidates: list[Importer], look: str
) -> tuple[Importer, Iterator[Record]]:
    """Return the importer of the first record that is recognised, and the records again from the first."""
    head = list(islice(found, _DETECTION_RECORDS))
    if not head:
        raise InvalidInput("file:empty", hint="the file contains no conversation")
    for record in head:
        if isinstance(record.value, Mapping):
            for known in candidates:
                if known.recognises is not None and known.recognises(record.value):
                    return known, chain(head, found)
    broken = next((record for record in head if record.problem is not None), None)
    if broken is not None and broken.problem is not None:
        raise _unread(broken.problem, look)
    raise InvalidInput("file:format", hint=f"{head[0].place}: {_looks(head[0].value)}; expected {_EXPECTED}")


def _looks(value: Any) -> str:
    """Return what an entry looks like, and what is missing in it: names of its members, never what they contain."""
    if not isinstance(value, Mapping):
        return f"neither a message nor a memory, but {_KINDS.get(type(value), 'nothing')}"
    names = [str(one)[:40] for one in list(value)[:8]]
    lists = [name for name in names if isinstance(value[name], list) and value[name]]
    missing = [one for one in ("role", "content") if one not in value]
    return (
        f"an object with {', '.join(names) or 'no members'}"
        + (f" ({lists[0]} is a list: the entries may be in it)" if lists else "")
        + f"; a chat message lacks {' and '.join(missing) or 'nothing'}"
    )


_KINDS: Mapping[type, str] = MappingProxyType(
    {str: "a text", int: "a number", float: "a number", list: "a list", bool: "true or false"}
)


def _unread(problem: InvalidInput, look: str) -> InvalidInput:
    """Return the problem of the first line, and in its hint what the file looks like."""
    known = problem.reason != "invalid_input:file:json"
    told = "" if known else ", and the file is no text of a format that is known"
    told += f"; it looks like {look}" if look else ""
    return InvalidInput(problem.reason.removeprefix("invalid_input:"), hint=f"{problem.hint}{told}")


_EXPECTED = (
    "chat lines with role and content, mnemic's export, an export of ChatGPT, Claude, Gemini, Open WebUI, "
    "LibreChat, SillyTavern, Slack, Discord, Telegram or WhatsApp, sessions of Claude Code or Codex, ShareGPT, a "
    "transcript (Name: text), a table with a header (CSV), Markdown, memories of mem0, OpenMemory, Letta, Graphiti, "
    "LangMem or the MCP memory server"
)
