"""Chats that WhatsApp exported as text: `12/03/2024, 21:15 - Ana: Hello`, in the spellings of its locales.

The order of day and month is inferred from the whole file. In a chat with one person, whose name the file has
(`WhatsApp Chat with Ben.txt`), the other one is the user; in a group all are participants. A time names no zone and is
taken as UTC.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial

from mnemic.errors import InvalidInput
from mnemic.types import Message, Origin
from mnemic_importers.conversations.importer_interface import Importer
from mnemic_importers.conversations.item import Item
from mnemic_importers.entries import entry, left_out

_HEAD = re.compile(
    r"\[?(\d{1,4})([./-])(\d{1,2})[./-](\d{1,4}),?[ \u202f\u00a0](\d{1,2})[:.](\d{2})(?:[:.](\d{2}))?"
    r"(?:[ \u202f\u00a0]?([AaPp])\.?[ \u00a0]?[Mm]\.?)?(?:\] | - )"
)
_MARKS = str.maketrans("", "", "\u200e\u200f\u202a\u202c\ufeff")
_MEDIA = ("<media omitted>", "<medien ausgeschlossen>", "<médias omis>", "<multimedia omitido>", "<mídia oculta>")
_OMITTED = re.compile(
    r"(?:image|video|audio|sticker|GIF|document|Contact card) omitted"
    r"|<attached: [^<>\n]{1,200}>|.{1,200} \(file attached\)",
    re.IGNORECASE,
)
_NOTED = re.compile(
    r"(?:Messages and calls are|Messages you send to this (?:chat|group) .{0,20}) ?(?:now )?"
    r"(?:end-to-end encrypted|secured with end-to-end encryption)"
    r"|(?:This message was|You) deleted(?: this message)?\.?$",
    re.IGNORECASE,
)
"""Words that WhatsApp writes in the place of a message: no one said them."""
_EDITED = "<This message was edited>"
_OWN_MARK = "\u200e"
"""Mark before everything that WhatsApp itself writes on an iPhone, in every language."""
_LONGEST_NAME = 80


@dataclass(slots=True)
class _Said:
    """One message: its line, the figures of its time, its words."""

    line: int
    figures: Sequence[str | None]
    speaker: str | None
    words: list[str] = field(default_factory=list)
    noted: bool = False


def recognises(line: str) -> bool:
    """Return True if a file that begins with this line is such a chat."""
    return _HEAD.match(line.translate(_MARKS)) is not None


def items(lines: Iterator[tuple[int, str]], name: str) -> Iterator[Item]:
    """Yield the messages; what WhatsApp itself notes, and media that were not exported, are left out."""
    said = list(_messages(lines))
    day_first = _is_day_first(said)
    user = _user(said, name)
    for one in said:
        place, words = f"line {one.line}", "\n".join(one.words).removesuffix(_EDITED).strip()
        if words.casefold() in _MEDIA or _OMITTED.fullmatch(words):
            yield left_out(place, name, "media")
        elif one.speaker is None or one.noted or _NOTED.match(words):
            yield left_out(place, name, "system_message")
        else:
            yield entry(place, name, partial(_message, one, words, day_first, user, name))


def _messages(lines: Iterator[tuple[int, str]]) -> Iterator[_Said]:
    """Yield each message with the lines that go on with it."""
    last: _Said | None = None
    for number, raw in lines:
        line = raw.translate(_MARKS).rstrip("\r\n")
        head = _HEAD.match(line)
        if head is None:
            if last is not None:
                last.words.append(line)
            continue
        if last is not None:
            yield last
        speaker, colon, words = line[head.end() :].partition(": ")
        if not colon or len(speaker) > _LONGEST_NAME:
            speaker, words = "", line[head.end() :]
        noted = bool(speaker) and f": {_OWN_MARK}" in raw and raw.partition(": ")[2].startswith(_OWN_MARK)
        last = _Said(number, head.groups(), speaker.removeprefix("~").strip() or None, [words], noted)
    if last is not None:
        yield last


def _is_day_first(said: Sequence[_Said]) -> bool:
    """Return True if the day comes before the month: a figure above 12 tells it, else the way the rest is written."""
    for one in said:
        first, _, second = one.figures[:3]
        if first is not None and second is not None and len(first) < 3:
            if int(first) > 12:
                return True
            if int(second) > 12:
                return False
    return not any(one.figures[7] and one.figures[1] == "/" for one in said)


def _user(said: Sequence[_Said], name: str) -> str | None:
    """Return the user of a chat with one person: who is not the one that the file is named after."""
    speakers = list(dict.fromkeys(one.speaker for one in said if one.speaker is not None))
    plain = re.sub(r"[^A-Za-z0-9_.:@+-]+", "-", name)
    named = [one for one in speakers if plain.endswith(re.sub(r"[^A-Za-z0-9_.:@+-]+", "-", one).strip("-"))]
    return next((one for one in speakers if one not in named), None) if len(speakers) == 2 and len(named) == 1 else None


def _message(said: _Said, words: str, day_first: bool, user: str | None, name: str) -> Message:
    return Message(
        role="user" if said.speaker == user else "participant",
        content=words,
        message_id=f"{name}:{said.line}",
        session=name,
        speaker=said.speaker,
        sent_at=_moment(said.figures, day_first),
        origin=Origin.IMPORT,
    )


def _moment(figures: Sequence[str | None], day_first: bool) -> datetime:
    first, _, second, third, hour, minute, seconds, half = figures
    numbers = [int(one or 0) for one in (first, second, third, hour, minute, seconds)]
    if len(first or "") > 2:
        year, month, day = numbers[:3]
    else:
        day, month = (numbers[0], numbers[1]) if day_first else (numbers[1], numbers[0])
        year = numbers[2] + (2000 if numbers[2] < 100 else 0)
    at = numbers[3] if half is None else numbers[3] % 12 + (12 if half in "pP" else 0)
    try:
        return datetime(year, month, day, at, numbers[4], numbers[5], tzinfo=UTC)
    except ValueError:
        raise InvalidInput("message:date", hint="not a date of the calendar") from None


IMPORTER = Importer(lines=items, recognises_line=recognises, rank=150)
