"""Forms without a product of their own, and small ones: a plain transcript ("Name: text"), a table with a header (CSV),
a chat of SillyTavern, and memories of OpenMemory.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from mnemic.errors import InvalidInput
from mnemic.extract.messages import text_parts
from mnemic.importers.entries import entry, left_out, mapping, wrong
from mnemic.importers.file_readers.fields import first, text
from mnemic.importers.file_readers.item import Item
from mnemic.importers.file_readers.records import Record
from mnemic.importers.file_readers.timestamps import moment
from mnemic.importers.importer_interface import Importer
from mnemic.types import Candidate, Message, Origin, Source

_ROLES: Mapping[str, str] = MappingProxyType(
    {
        **dict.fromkeys(("user", "human", "me", "you"), "user"),
        **dict.fromkeys(("assistant", "ai", "bot", "model", "chatgpt", "claude", "gemini", "copilot"), "assistant"),
        **dict.fromkeys(("tool", "system"), "tool"),
    }
)
_SAID = re.compile(r"(?:\[(?P<at>[^\]\n]{4,32})\] ?)?(?P<who>[^\W\d_][\w .'-]{0,39}): (?P<said>\S.*)", re.DOTALL)
"""One message of a transcript, with its time in brackets if it has one."""
_HOUR = re.compile(r"\d{1,2}:\d\d(?::\d\d)?(?: ?[apAP]\.?[mM]\.?)?")
"""A time of day, which is of no day."""
_COLUMNS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "said": ("content", "text", "message", "memory", "body", "note", "fact"),
        "who": ("role", "speaker", "author", "sender", "from", "name"),
        "at": ("timestamp", "sent_at", "created_at", "time", "date", "datetime"),
        "id": ("id", "message_id", "uuid"),
        "session": ("session", "conversation", "conversation_id", "session_id", "channel", "thread"),
    }
)
"""What a column of a table is, by its heading in small letters; of several the first that the table has."""
_SPELLED = re.compile(r"(?P<month>[A-Za-z]{3,9}) (?P<day>\d{1,2}), (?P<year>\d{4}) (?P<hour>\d{1,2}):(?P<minute>\d\d) ?"
                      r"(?P<half>[ap])m", re.IGNORECASE)  # fmt: skip
"""A time as SillyTavern writes it: June 23, 2024 3:04pm."""


# -- transcripts ------------------------------------------------------------------------------------------------------


def is_transcript(head: str) -> bool:
    """Return True if a text begins with words of a user and a model, or of two people of whom one speaks again."""
    who = [found["who"].casefold() for line in head.splitlines() if (found := _SAID.match(line))]
    if not who or not _SAID.match(head):
        return False
    return who[0] in _ROLES or (len({*who}) > 1 and len({*who}) < len(who))


def transcript(lines: Iterator[tuple[int, str]], name: str) -> Iterator[Item]:
    """Yield the messages; a line without a name goes on with the message above it."""
    times: Counter[str] = Counter()
    begun: tuple[int, re.Match[str]] | None = None
    more: list[str] = []
    for number, line in lines:
        found = _SAID.match(line)
        if found is None and begun is not None:
            more.append(line)
        elif found is not None:
            if begun is not None:
                yield _spoken(*begun, more, name, times)
            begun, more = (number, found), []
        elif line.strip():
            yield left_out(f"line {number}", name, "no_speaker")
    if begun is not None:
        yield _spoken(*begun, more, name, times)


def _spoken(number: int, found: re.Match[str], more: list[str], name: str, times: Counter[str]) -> Item:
    words = "".join([found["said"], *more]).strip()
    return entry(f"line {number}", name, partial(_message, found["who"], words, name, times, at=found["at"]))


def _message(
    who: str | None, words: str, session: str, times: Counter[str], *, at: object = None, given: str | None = None
) -> Message:
    """Return a message. Without a time or an identifier, the same words said again are known by how often they were."""
    role = _ROLES.get((who or "user").strip().casefold())
    sent_at = None if at is None or _HOUR.fullmatch(str(at)) else moment(at, "message:time")
    times[f"{session}\0{who}\0{words}"] += 1
    count = times[f"{session}\0{who}\0{words}"]
    return Message(
        role=role or "participant",
        content=words,
        message_id=given or (None if sent_at is not None else f"{session}#{count}"),
        session=session,
        speaker=None if role else who,
        sent_at=sent_at,
        origin=Origin.TOOL_OUTPUT if role == "tool" else Origin.IMPORT,
    )


# -- tables -----------------------------------------------------------------------------------------------------------


def is_table(head: str) -> bool:
    """Return True if the first line of a text is a header with a column of texts, and no JSON."""
    line = head.partition("\n")[0]
    names = _headings(line, _separator(line))
    return not head.startswith(("{", "[")) and len(names) > 1 and any(one in names for one in _COLUMNS["said"])


def table(lines: Iterator[tuple[int, str]], name: str) -> Iterator[Item]:
    """Yield a message for each row, or a memory where no column says who speaks. Raises InvalidInput (`file:format`)
    without a column of texts.
    """
    number, header = next((one for one in lines if one[1].strip()), (0, ""))
    separator = _separator(header)
    names = _headings(header, separator)
    column = {what: next((names.index(one) for one in known if one in names), None) for what, known in _COLUMNS.items()}
    if column["said"] is None:
        raise InvalidInput("file:format", hint=f"line 1: no column named {', '.join(_COLUMNS['said'])}")
    times: Counter[str] = Counter()
    last, of_row = list[str](), list[str]()
    rows = csv.reader(_noted((line for _, line in lines), of_row), delimiter=separator)
    while (row := _next_row(rows, number)) is not None:
        last, of_row[:] = [*of_row], []
        place = f"line {number + rows.line_num}"
        cells = {what: row[at].strip() if at is not None and at < len(row) else "" for what, at in column.items()}
        session = cells["session"] or name
        if not cells["said"]:
            yield left_out(place, session, "empty")
        elif column["who"] is None:
            yield from _memories(place, cells["said"], name, cells["id"])
        else:
            about = {"at": cells["at"] or None, "given": cells["id"] or None}
            yield entry(place, session, partial(_message, cells["who"], cells["said"], session, times, **about))

    if _is_cut_off(last, separator):
        hint = "a quotation mark is not closed: the file may be cut short"
        yield wrong(f"line {number + rows.line_num}", name, "file:format", hint)


def _noted(lines: Iterator[str], noted: list[str]) -> Iterator[str]:
    for line in lines:
        noted.append(line)
        yield line


def _next_row(rows: Any, before: int) -> list[str] | None:
    """Return the next row of a table; None after the last. Raises InvalidInput for what is no cell of one."""
    try:
        return next(rows, None)
    except csv.Error as error:
        raise InvalidInput("file:format", hint=f"line {before + rows.line_num}: {error}") from None


def _is_cut_off(lines: list[str], separator: str) -> bool:
    """Return True if the lines of a row end within a quoted cell."""
    try:
        list(csv.reader(lines, delimiter=separator, strict=True))
    except csv.Error as error:
        return "unexpected end of data" in str(error)
    return False


def _separator(header: str) -> str:
    return max(",;\t|", key=header.count)


def _headings(header: str, separator: str) -> list[str]:
    return [one.strip().strip('"').casefold().replace(" ", "_") for one in header.strip().split(separator)]


def _memories(place: str, words: str, conversation: str, given: str | None) -> Iterator[Item]:
    source = Source(origin=Origin.IMPORT, ref=f"{conversation}:{given or place}")
    for part in text_parts(words):
        yield Item(place=place, conversation=conversation, content=Candidate(content=part, source=source))


# -- SillyTavern and OpenMemory ---------------------------------------------------------------------------------------


def is_tavern(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is the head or a message of a chat of SillyTavern."""
    return ("mes" in value and "is_user" in value) or ("chat_metadata" in value and "character_name" in value)


def tavern(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the messages. What a character says is the model's."""
    times: Counter[str] = Counter()
    for record in found:
        value = record.value
        if record.problem is not None:
            yield Item(place=record.place, conversation=name, problem=record.problem)
        elif isinstance(value, Mapping) and "mes" not in value:
            yield left_out(record.place, name, "system_message")
        else:
            yield entry(record.place, name, partial(_told, value, name, times))


def _told(value: Any, name: str, times: Counter[str]) -> Message:
    said = mapping(value, "message")
    at = first(said, "send_date")
    return _message(
        "user" if said["is_user"] is True else "assistant", text(said, "mes") or "", name, times, at=_plain_time(at)
    )


def _plain_time(at: Any) -> Any:
    spelled = _SPELLED.fullmatch(at.strip()) if isinstance(at, str) else None
    if spelled is None:
        return at
    return "{hour}:{minute} {half}m on {day} {month} {year}".format(**spelled.groupdict())


def is_open_memory(value: Mapping[str, Any]) -> bool:
    """Return True if `value` is an export of OpenMemory, or one memory of it."""
    inner = value.get("memories")
    return (isinstance(inner, list) and "apps" in value) or ("content" in value and "state" in value)


def open_memory(found: Iterator[Record], name: str) -> Iterator[Item]:
    """Yield the memories that are in force."""
    for record in found:
        value = record.value
        known = value.get("memories", [value]) if isinstance(value, Mapping) else []
        if record.problem is not None:
            yield Item(place=record.place, conversation=name, problem=record.problem)
        for number, one in enumerate(known if isinstance(known, list) else [], start=1):
            place = record.place if len(known) == 1 else f"{record.place}, memory {number}"
            words = first(one, "content", "text") if isinstance(one, Mapping) else None
            if not isinstance(words, str) or not words.strip():
                yield Item(place=place, conversation=name, problem=InvalidInput("memory:content", hint="expected text"))
            elif one.get("state", "active") != "active":
                yield left_out(place, name, f"state:{one['state']}")
            else:
                yield from _memories(place, words, name, str(one.get("id") or "") or None)


IMPORTERS: Mapping[str, Importer] = MappingProxyType(
    {
        "sillytavern": Importer(items=tavern, recognises=is_tavern, rank=46),
        "openmemory": Importer(items=open_memory, recognises=is_open_memory, rank=47),
        "csv": Importer(lines=table, recognises_text=is_table, rank=170),
        "transcript": Importer(lines=transcript, recognises_text=is_transcript, rank=180),
    }
)
