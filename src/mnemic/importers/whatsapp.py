"""Chats that WhatsApp exported as text: `12/03/2024, 21:15 - Ana: Hello`, in the spellings of its locales.

The order of day and month is inferred from the whole file. In a chat with one person, named by the file (`WhatsApp Chat
with Ben.txt`), the other one is the user; in a group all are participants. Times have no zone and are taken as UTC.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import pairwise

from mnemic.errors import InvalidInput
from mnemic.importers.entries import entry, left_out
from mnemic.importers.file_readers.item import Item
from mnemic.importers.importer_interface import Importer
from mnemic.types import Message, Origin

_HEAD = re.compile(
    r"\[?(\d{1,4})(?:([./-]) ?|[年년] ?)(\d{1,2})(?:[./-] ?|[月월] ?)(\d{1,4})[.日일]?,?"
    r"(?: (?:klo|kl\.|à|às|um|om|at))? (?:([^\W\d_]{2}) ?)?(\d{1,2})(?:[:.]| ?h ?)(\d{2})(?:[:.](\d{2}))?"
    r"(?: ?(?:([AaPp])\.? ?[Mm]\.?|([مص])))?(?:\] ?| - )"
)
_BEFORE_NOON = frozenset({"上午", "凌晨", "早上", "清晨", "午前", "오전", "a", "A", "ص"})
_AFTER_NOON = frozenset({"下午", "中午", "傍晚", "晚上", "午後", "오후", "p", "P", "م"})
_MARKS = str.maketrans("", "", "\u200e\u200f\u202a\u202c\ufeff")
_SPACES = str.maketrans("\u202f\u00a0،", "  ,")
_MEDIA = re.compile(
    r"<[^<>\n]{0,60}(?:medi|médi|mídi|медиа|メディア|媒体|媒體|미디어|وسائط)[^<>\n]{0,60}>"
    r"|(?:image|video|audio|sticker|GIF|document|Contact card) omitted"
    r"|<[^<>:\n]{2,20} ?: [^<>\n]{1,200}\.\w{2,5}>"
    r"|.{1,200}\.\w{2,5} \((?:file attached|Datei angehängt|archivo adjunto|fichier joint|arquivo anexado"
    r"|file allegato|bestand bijgevoegd|файл добавлен|dosya ekli|添付ファイル|文件附件)\)",
    re.IGNORECASE,
)
"""Lines that WhatsApp writes instead of a picture, a recording or a file."""
_NOTED = re.compile(
    r"(?:Messages and calls are|Messages you send to this (?:chat|group) .{0,20}) ?(?:now )?"
    r"(?:end-to-end encrypted|secured with end-to-end encryption)"
    r"|(?:This message was|You) deleted(?: this message)?\.?$"
    r"|(?:Diese Nachricht wurde|Du hast diese Nachricht) gelöscht\.?$|(?:Se eliminó|Eliminaste) este mensaje\.?$"
    r"|Ce message a été supprimé\.?$|Vous avez supprimé ce message\.?$|Mensagem apagada\.?$"
    r"|Você apagou esta mensagem\.?$"
    r"|Questo messaggio è stato eliminato\.?$|Hai eliminato questo messaggio\.?$|Dit bericht is verwijderd\.?$"
    r"|(?:Данное сообщение удалено|Вы удалили данное сообщение)\.?$|Bu mesaj silindi\.?$",
    re.IGNORECASE,
)
"""Words that WhatsApp writes instead of a message: nobody said them."""
_EDITED = re.compile(
    r"\s?<(?:This message was edited|Diese Nachricht wurde bearbeitet|Se editó este mensaje|Ce message a été modifié"
    r"|Mensagem editada|Questo messaggio è stato modificato|Dit bericht is bewerkt)\.?>\Z"
)
_QUOTES = (('"', '"'), ("“", "”"), ("„", "“"), ("«", "»"))
_OWN_MARK = "\u200e"
"""Mark before every line of WhatsApp's own on an iPhone, in every language."""
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
    return _head(line.translate(_MARKS)) is not None


def items(lines: Iterator[tuple[int, str]], name: str) -> Iterator[Item]:
    """Yield the messages; WhatsApp's own notes, and media that were not exported, are left out."""
    said = list(_messages(lines))
    day_first = _is_day_first(said)
    user = _user(said, name)
    times: Counter[str] = Counter()
    for one in said:
        place = f"line {one.line}"
        kept = [line for line in one.words if not _MEDIA.fullmatch(line.strip())]
        words = _EDITED.sub("", "\n".join(kept)).strip()
        if not words and len(kept) < len(one.words):
            yield left_out(place, name, "media")
        elif one.speaker is None or one.noted or _NOTED.match(words):
            yield left_out(place, name, "system_message")
        else:
            yield entry(place, name, partial(_message, one, words, day_first, user, name, times))


def _messages(lines: Iterator[tuple[int, str]]) -> Iterator[_Said]:
    """Yield each message with its continuation lines."""
    last: _Said | None = None
    for number, raw in lines:
        line = raw.translate(_MARKS).rstrip("\r\n")
        head = _head(line)
        if head is None:
            if last is not None:
                last.words.append(line)
            continue
        if last is not None:
            yield last
        speaker, colon, words = line[head.end() :].partition(": ")
        if not colon or len(speaker) > _LONGEST_NAME or _is_cut_quotation(speaker):
            speaker, words = "", line[head.end() :]
        noted = bool(speaker) and f": {_OWN_MARK}" in raw and raw.partition(": ")[2].startswith(_OWN_MARK)
        last = _Said(number, head.groups(), speaker.removeprefix("~").strip() or None, [words], noted)
    if last is not None:
        yield last


def _head(line: str) -> re.Match[str] | None:
    """Return the time before a message; None for a continuation line."""
    head = _HEAD.match(line.translate(_SPACES))
    return None if head is None or (head[5] and not {head[5]} & (_BEFORE_NOON | _AFTER_NOON)) else head


def _is_cut_quotation(speaker: str) -> bool:
    """Return True if the colon was in a quotation, as in `Ana changed the subject to "Trip: Oslo"`."""
    marks = [(speaker.count(begin), speaker.count(end), begin == end) for begin, end in _QUOTES]
    return any(begins % 2 == 1 if same else begins > ends for begins, ends, same in marks)


def _is_day_first(said: Sequence[_Said]) -> bool:
    """Return True if the day comes before the month.

    A figure above 12 decides it, else the chronological order of the messages. If both readings are in order, only the
    style of the United States has the month first: slashes and capital AM or PM.
    """
    short = [one for one in said if len(one.figures[0] or "") < 3]
    for one in short:
        if int(one.figures[0] or 0) > 12:
            return True
        if int(one.figures[2] or 0) > 12:
            return False
    back = {first: _steps_back(short, first) for first in (True, False)}
    if back[True] != back[False]:
        return back[True] < back[False]
    return not any(one.figures[8] in ("A", "P") and one.figures[1] == "/" for one in short)


def _steps_back(said: Sequence[_Said], day_first: bool) -> int:
    """Return the number of messages dated before the message above them."""
    days = [_date(one.figures, day_first) for one in said]
    return sum(later < earlier for earlier, later in pairwise(days))


def _user(said: Sequence[_Said], name: str) -> str | None:
    """Return the user of a chat with one person: the speaker after whom the file is not named."""
    speakers = list(dict.fromkeys(one.speaker for one in said if one.speaker is not None))
    plain = re.sub(r"[^A-Za-z0-9_.:@+-]+", "-", name)
    named = [one for one in speakers if plain.endswith(re.sub(r"[^A-Za-z0-9_.:@+-]+", "-", one).strip("-"))]
    return next((one for one in speakers if one not in named), None) if len(speakers) == 2 and len(named) == 1 else None


def _message(said: _Said, words: str, day_first: bool, user: str | None, name: str, times: Counter[str]) -> Message:
    """Return the message. Its identifier is derived from text, author, time, and the number of earlier messages with
    the same three: a later export of the chat has other lines, after a long message was deleted.
    """
    sent_at = _moment(said.figures, day_first)
    own = hashlib.sha256(f"{sent_at:%Y%m%d%H%M%S}\0{said.speaker}\0{words}".encode()).hexdigest()[:16]
    times[own] += 1
    return Message(
        role="user" if said.speaker == user else "participant",
        content=words,
        message_id=f"{name}:{own}" + (f"-{times[own]}" if times[own] > 1 else ""),
        session=name,
        speaker=said.speaker,
        sent_at=sent_at,
        origin=Origin.IMPORT,
    )


def _date(figures: Sequence[str | None], day_first: bool) -> tuple[int, int, int]:
    """Return year, month and day as written, even if no such date exists."""
    first, second, third = (int(figures[at] or 0) for at in (0, 2, 3))
    if len(figures[0] or "") > 2:
        return first, second, third
    year = third + (2000 if third < 100 else 0)
    return (year, second, first) if day_first else (year, first, second)


def _moment(figures: Sequence[str | None], day_first: bool) -> datetime:
    hour, minute, seconds = (int(one or 0) for one in figures[5:8])
    half = next(filter(None, (figures[4], *figures[8:])), None)
    at = hour if half is None else hour % 12 + (12 if half in _AFTER_NOON else 0)
    try:
        return datetime(*_date(figures, day_first), at, minute, seconds, tzinfo=UTC)
    except ValueError:
        raise InvalidInput("message:date", hint="not a date of the calendar") from None


IMPORTER = Importer(lines=items, recognises_line=recognises, rank=150)
